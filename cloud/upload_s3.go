package cloud

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// s3Bucket is a bucket of S3, which keeps the parts of unfinished uploads.
type s3Bucket struct {
	*bucket
	client *s3.Client
	name   string
}

// s3Sender carries an object into S3: by PutObject, or by the requests of a multipart
// upload. Amazon's own transfer manager is not used: it takes neither retries of ours nor
// a bound on the memory of several uploads.
type s3Sender struct {
	target
	store *s3Bucket

	id   string
	size int64 // of all parts
	mu   sync.Mutex
	// parts have been sent, in any order.
	parts []types.CompletedPart
}

// condition is the value of If-None-Match.
func (s *s3Sender) condition() *string {
	if s.replace {
		return nil
	}
	return aws.String("*")
}

// checksums returns the algorithm for checksums of bodies in addition to the signature's, or "".
func (s *s3Sender) checksums() types.ChecksumAlgorithm {
	if s.store.client.Options().RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired {
		return ""
	}
	return types.ChecksumAlgorithmCrc32
}

func (s *s3Sender) Put(ctx context.Context, data *storage.Payload) (storage.Object, error) {
	out, err := s.store.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.store.name, Key: aws.String(s3Name(s.name)), Body: data, ContentLength: aws.Int64(data.Len()), ContentType: aws.String(contentType),
		Metadata: map[string]string{markName: s.mark}, IfNoneMatch: s.condition(), ChecksumAlgorithm: s.checksums(),
	})
	if err != nil {
		return storage.Object{}, s.store.refused(err, s.target)
	}
	return s.described(ctx, out.ETag, data.Len()), nil
}

// described returns the properties of the object that was made. Its time takes a request of its
// own; if that fails, the time is missing.
func (s *s3Sender) described(ctx context.Context, tag *string, size int64) storage.Object {
	if is, err := s.FindOwn(ctx); err == nil {
		return is
	}
	return storage.Object{Name: s.name, Size: size, Version: aws.ToString(tag)}
}

func (s *s3Sender) Begin(ctx context.Context) error {
	out, err := s.store.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &s.store.name, Key: aws.String(s3Name(s.name)), ContentType: aws.String(contentType), Metadata: map[string]string{markName: s.mark}, ChecksumAlgorithm: s.checksums(),
	})
	if err != nil {
		return s.store.refused(err, s.target)
	}
	if s.id = aws.ToString(out.UploadId); s.id == "" {
		return errors.New("the server began an upload in parts without a name")
	}
	return nil
}

func (s *s3Sender) Part(ctx context.Context, n int, _ int64, data *storage.Payload, _ bool) error {
	number := aws.Int32(int32(n + 1))
	out, err := s.store.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &s.store.name, Key: aws.String(s3Name(s.name)), UploadId: &s.id, PartNumber: number, Body: data, ContentLength: aws.Int64(data.Len()), ChecksumAlgorithm: s.checksums(),
	})
	if err != nil {
		return s.store.refused(err, s.target)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size += data.Len()
	s.parts = append(s.parts, types.CompletedPart{PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
	return nil
}

func (s *s3Sender) Finish(ctx context.Context) (storage.Object, error) {
	slices.SortFunc(s.parts, func(a, b types.CompletedPart) int { return cmp.Compare(*a.PartNumber, *b.PartNumber) })
	out, err := s.store.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.store.name, Key: aws.String(s3Name(s.name)), UploadId: &s.id, IfNoneMatch: s.condition(), MultipartUpload: &types.CompletedMultipartUpload{Parts: s.parts},
	})
	if err != nil {
		return storage.Object{}, s.store.refused(err, s.target)
	}
	return s.described(ctx, out.ETag, s.size), nil
}

func (s *s3Sender) Discard(ctx context.Context) error {
	return s.store.discard(ctx, s.name, s.id)
}

func (s *s3Sender) FindOwn(ctx context.Context) (storage.Object, error) {
	return s.store.made(ctx, s.target)
}

// discard aborts a multipart upload.
func (b *s3Bucket) discard(ctx context.Context, name, id string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: aws.String(s3Name(name)), UploadId: &id})
	if err != nil {
		if err = b.refused(err, target{name: name}); !errors.Is(err, storage.ErrGone) {
			return err
		}
	}
	return nil
}

// Unfinished implements storage.Unfinished.
func (b *s3Bucket) Unfinished(ctx context.Context, prefix string) iter.Seq2[storage.Leftover, error] {
	return func(yield func(storage.Leftover, error) bool) {
		in := &s3.ListMultipartUploadsInput{Bucket: &b.name, Prefix: aws.String(s3Name(prefix))}
		for {
			page, err := storage.Retry(ctx, func(ctx context.Context) (*s3.ListMultipartUploadsOutput, error) {
				page, err := b.client.ListMultipartUploads(ctx, in)
				if err != nil {
					return nil, b.refused(err, target{})
				}
				return page, nil
			})
			if err != nil {
				yield(storage.Leftover{}, &fs.PathError{Op: "list uploads of", Path: b.url + "/" + prefix, Err: err})
				return
			}
			for _, u := range page.Uploads {
				if !yield(storage.Leftover{Name: unescaped(aws.ToString(u.Key)), ID: aws.ToString(u.UploadId), Begun: aws.ToTime(u.Initiated)}, nil) {
					return
				}
			}
			if !aws.ToBool(page.IsTruncated) || aws.ToString(page.NextKeyMarker) == "" {
				return
			}
			in.KeyMarker, in.UploadIdMarker = page.NextKeyMarker, page.NextUploadIdMarker
		}
	}
}

// Discard implements storage.Unfinished.
func (b *s3Bucket) Discard(ctx context.Context, l storage.Leftover) error {
	_, err := storage.Retry(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.discard(ctx, l.Name, l.ID) })
	if err != nil {
		return &fs.PathError{Op: "discard the upload of", Path: b.url + "/" + l.Name, Err: err}
	}
	return nil
}
