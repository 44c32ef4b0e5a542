package cloud

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"

	gcs "cloud.google.com/go/storage"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"

	"github.com/tfrec/tfrec/internal/storage"
)

// The libraries hold bodies to checksums when they are read to their end without a range, which
// package storage never does. It compares itself, with what is found here.

// s3Sums has S3 state the checksums that it has.
func s3Sums(stack *middleware.Stack) error {
	if stack.ID() != "GetObject" {
		return nil
	}
	return smithyhttp.SetHeaderValue("X-Amz-Checksum-Mode", "ENABLED")(stack)
}

// s3Sum returns a checksum of an object that was asked for as a whole: one that the object was
// stored with, CRCs first, which is a guess if the server does not say that it is of all of it; or
// else the MD5 that the ETag is of an object in one part, unless it is encrypted with a key of the
// customer's. Other servers make ETags as they like.
func s3Sum(r *blob.Reader) storage.Sum {
	var out s3.GetObjectOutput
	if !r.As(&out) {
		return storage.Sum{}
	}
	if out.ChecksumType != types.ChecksumTypeComposite {
		for _, stated := range []struct {
			kind  storage.SumKind
			value *string
			size  int
		}{
			{storage.CRC32C, out.ChecksumCRC32C, 4}, {storage.CRC32, out.ChecksumCRC32, 4},
			{storage.CRC64NVME, out.ChecksumCRC64NVME, 8}, {storage.SHA256, out.ChecksumSHA256, 32},
		} {
			if b, err := base64.StdEncoding.DecodeString(aws.ToString(stated.value)); err == nil && len(b) == stated.size {
				return storage.Sum{Kind: stated.kind, Value: string(b), Guessed: out.ChecksumType != types.ChecksumTypeFullObject}
			}
		}
	}
	switch out.ServerSideEncryption {
	case "", types.ServerSideEncryptionAes256:
		if b, err := hex.DecodeString(strings.Trim(aws.ToString(out.ETag), `"`)); err == nil && len(b) == 16 && out.SSECustomerAlgorithm == nil {
			return storage.Sum{Kind: storage.MD5, Value: string(b), Guessed: true}
		}
	}
	return storage.Sum{}
}

// gsSum is s3Sum for Google, whose objects all have a CRC-32C. One that is decompressed on the way
// has that of other bytes.
func gsSum(r *blob.Reader) storage.Sum {
	var in *gcs.Reader
	if !r.As(&in) || in.Attrs.CRC32C == 0 || in.Attrs.Decompressed {
		return storage.Sum{}
	}
	return storage.Sum{Kind: storage.CRC32C, Value: string(binary.BigEndian.AppendUint32(nil, in.Attrs.CRC32C))}
}

// azureSum is s3Sum for Azure, which states the MD5 that the writer of an object gave, right or
// wrong.
func azureSum(r *blob.Reader) storage.Sum {
	var out azblobblob.DownloadStreamResponse
	if !r.As(&out) {
		return storage.Sum{}
	}
	value := out.BlobContentMD5
	if out.ContentRange == nil {
		value = out.ContentMD5
	}
	if len(value) != 16 {
		return storage.Sum{}
	}
	return storage.Sum{Kind: storage.MD5, Value: string(value), Guessed: true}
}
