package cloud

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	gcs "cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/tfrec/tfrec/internal/store/storage"
)

func init() {
	storage.Register("s3", openS3)
	storage.Register("gs", openGS)
	storage.Register("azblob", openAzure)
	storage.Register("mem", openMem)
}

func anonymous() bool { return os.Getenv("TFREC_ANONYMOUS") == "1" }

// inErrors finds something in errors of a library.
func inErrors[E error, T any](of func(E) T) func(error) (found T) {
	return func(err error) (found T) {
		var e E
		if errors.As(err, &e) {
			return of(e)
		}
		return found
	}
}

// openS3 opens a bucket of S3, or of a server that speaks its protocol. The
// client does not repeat requests: package storage does, for all stores alike.
func openS3(ctx context.Context, host string) (storage.Store, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}), // stderr is the command's
		config.WithHTTPClient(s3Client()), config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }))
	if err != nil {
		return nil, fmt.Errorf("configuration of S3: %s", scrub(err.Error()))
	}
	cfg.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // see s3Sums
	if cfg.Region == "" {
		cfg.Region = "us-east-1" // the default region of buckets
	}
	if !anonymous() {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			if ctx.Err() != nil { // nothing is known of credentials
				return nil, context.Cause(ctx)
			}
			cfg.Credentials = aws.AnonymousCredentials{}
		}
	} else {
		cfg.Credentials = aws.AnonymousCredentials{}
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
		o.APIOptions = append(o.APIOptions, s3Lists, s3Answers, s3Sums, s3Around)
		if o.BaseEndpoint != nil && cfg.RequestChecksumCalculation == aws.RequestChecksumCalculationUnset {
			// Many servers that speak S3's protocol do not know its newer checksums. TLS has
			// its own, and without it the signature holds one of each body.
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		}
	})
	b, err := s3blob.OpenBucket(ctx, client, host, nil)
	if err != nil {
		return nil, err
	}
	store := &s3Bucket{client: client, name: host}
	store.bucket = &bucket{
		blob: b, url: "s3://" + host, server: aws.ToString(client.Options().BaseEndpoint), atOnce: storage.AtOnce,
		sender: func(t target) storage.Sender { return &s3Sender{target: t, store: store} },
		sum:    s3Sum, sumStated: s3Stated,
		versionRead: func(r *blob.Reader) string {
			var out s3.GetObjectOutput
			if r.As(&out) && out.ETag != nil {
				return *out.ETag
			}
			return ""
		},
		versionListed: func(o *blob.ListObject) string {
			var in types.Object
			if o.As(&in) && in.ETag != nil {
				return quoted(*in.ETag)
			}
			return ""
		},
		only: func(version string, as func(any) bool) error {
			var in *s3.GetObjectInput
			if !as(&in) {
				return errors.New("no request of S3's to set the version in")
			}
			in.IfMatch = &version
			return nil
		},
		status: inErrors(func(e interface {
			error
			HTTPStatusCode() int
		}) int {
			return e.HTTPStatusCode()
		}),
		code: inErrors(func(e smithy.APIError) string { return e.ErrorCode() }),
	}
	return store, nil
}

// openGS opens a bucket of Google Cloud Storage.
func openGS(ctx context.Context, host string) (storage.Store, error) {
	transport := gsAround{gsLists{gsAnswers{ownTransport()}}}
	client := gcp.NewAnonymousHTTPClient(transport)
	if !anonymous() && os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		if found, err := gcp.DefaultCredentials(ctx); err == nil {
			if client, err = gcp.NewHTTPClient(transport, gcp.CredentialsTokenSource(found)); err != nil {
				return nil, fmt.Errorf("credentials of Google Cloud Storage: %s", scrub(err.Error()))
			}
			client.Transport = endsPromptly{client.Transport}
		}
	}
	var o gcsblob.Options
	if os.Getenv("STORAGE_EMULATOR_HOST") != "" {
		o.ClientOptions = []option.ClientOption{option.WithHTTPClient(&client.Client)} // otherwise another one takes its place
	}
	b, err := gcsblob.OpenBucket(ctx, client, host, &o)
	if err != nil {
		return nil, err
	}
	var inner *gcs.Client
	if b.As(&inner) {
		inner.SetRetry(gcs.WithPolicy(gcs.RetryNever))
	}
	store := &bucket{
		blob: b, url: "gs://" + host, server: os.Getenv("STORAGE_EMULATOR_HOST"), atOnce: 1, // parts go in order
		sum: gsSum, sumStated: gsStated,
		version: func(a *blob.Attributes) string {
			var of gcs.ObjectAttrs
			if a.As(&of) {
				return fmt.Sprint(of.Generation)
			}
			return ""
		},
		versionRead: func(r *blob.Reader) string {
			var in *gcs.Reader
			if r.As(&in) {
				return fmt.Sprint(in.Attrs.Generation)
			}
			return ""
		},
		versionListed: func(o *blob.ListObject) string {
			var of gcs.ObjectAttrs
			if o.As(&of) && of.Generation != 0 {
				return fmt.Sprint(of.Generation)
			}
			return ""
		},
		only: func(version string, as func(any) bool) error {
			var object **gcs.ObjectHandle
			var generation int64
			if _, err := fmt.Sscan(version, &generation); err != nil || !as(&object) {
				return fmt.Errorf("no request to set generation %q in", version)
			}
			*object = (*object).Generation(generation)
			return nil
		},
		status: inErrors(func(e *googleapi.Error) int { return e.Code }),
		code: inErrors(func(e *googleapi.Error) string {
			if len(e.Errors) > 0 {
				return e.Errors[0].Reason
			}
			return ""
		}),
	}
	at := gsEndpoint()
	store.sender = func(t target) storage.Sender {
		return &gsSender{target: t, store: store, client: &client.Client, server: at, bucket: host}
	}
	return store, nil
}

// openAzure opens a container of Azure Blob Storage.
func openAzure(ctx context.Context, host string) (storage.Store, error) {
	service, err := azureblob.NewServiceURL(azureblob.NewDefaultServiceURLOptions())
	if err != nil {
		return nil, fmt.Errorf("AZURE_STORAGE_ACCOUNT names no account: %s", scrub(err.Error()))
	}
	client, err := azureClient(string(service), host)
	if err != nil {
		return nil, fmt.Errorf("credentials of Azure Blob Storage: %s", scrub(err.Error()))
	}
	b, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return nil, err
	}
	account, _, _ := strings.Cut(client.URL(), "?") // after it may be a token
	store := &bucket{
		blob: b, url: "azblob://" + host, server: account, atOnce: storage.AtOnce,
		sum: azureSum,
		once: func(ctx context.Context) context.Context {
			return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1})
		},
		versionRead: func(r *blob.Reader) string {
			var out azblobblob.DownloadStreamResponse
			if r.As(&out) && out.ETag != nil {
				return string(*out.ETag)
			}
			return ""
		},
		versionListed: func(o *blob.ListObject) string {
			var in container.BlobItem
			if o.As(&in) && in.Properties != nil && in.Properties.ETag != nil {
				return quoted(string(*in.Properties.ETag))
			}
			return ""
		},
		only: func(version string, as func(any) bool) error {
			var o *azblob.DownloadStreamOptions
			if !as(&o) {
				return errors.New("no request of Azure's to set the version in")
			}
			tag := azcore.ETag(version)
			o.AccessConditions = &azblobblob.AccessConditions{ModifiedAccessConditions: &azblobblob.ModifiedAccessConditions{IfMatch: &tag}}
			return nil
		},
		status: inErrors(func(e *azcore.ResponseError) int { return e.StatusCode }),
		code:   inErrors(func(e *azcore.ResponseError) string { return e.ErrorCode }),
	}
	store.sender = func(t target) storage.Sender {
		return &azureSender{target: t, store: store, client: client.NewBlockBlobClient(azureName(t.name))}
	}
	return store, nil
}

// openMem opens a store in this process's memory.
func openMem(_ context.Context, host string) (storage.Store, error) {
	store := &bucket{
		blob: memblob.OpenBucket(nil), url: "mem://" + host, atOnce: 1, // parts go in order
		version:       func(*blob.Attributes) string { return "" },
		versionRead:   func(*blob.Reader) string { return "" },
		versionListed: func(*blob.ListObject) string { return "" },
		status:        func(error) int { return 0 },
		code:          func(error) string { return "" },
	}
	store.sender = func(t target) storage.Sender { return &memSender{target: t, store: store} }
	return store, nil
}
