package cloud

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	gcs "cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	azblobblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// The libraries verify checksums of bodies that are read to their end without a range, which
// package storage never does. It verifies the checksums returned by these functions instead.

// s3Sums has S3 state the checksums that it has.
func s3Sums(stack *middleware.Stack) error {
	if stack.ID() != "GetObject" && stack.ID() != "HeadObject" {
		return nil
	}
	return smithyhttp.SetHeaderValue("X-Amz-Checksum-Mode", "ENABLED")(stack)
}

// s3Sum returns a checksum of an object that was requested as a whole. It is one that the object
// was stored with, CRCs first, and is a guess unless the server states that it covers the whole
// object; or else the MD5 in the ETag, which objects in one part have unless they are encrypted
// with a customer's key. Other servers use arbitrary ETags.
func s3Sum(r *blob.Reader, all bool) storage.Sum {
	var out s3.GetObjectOutput
	if !all || !r.As(&out) {
		return storage.Sum{}
	}
	sum := s3Checksum(out.ChecksumType, out.ChecksumCRC32C, out.ChecksumCRC32, out.ChecksumCRC64NVME, out.ChecksumSHA256)
	if sum.Kind != "" {
		return sum
	}
	switch out.ServerSideEncryption {
	case "", types.ServerSideEncryptionAes256:
		if b, err := hex.DecodeString(strings.Trim(aws.ToString(out.ETag), `"`)); err == nil && len(b) == 16 && out.SSECustomerAlgorithm == nil {
			return storage.Sum{Kind: storage.MD5, Value: string(b), Guessed: true}
		}
	}
	return storage.Sum{}
}

// s3Checksum returns the first of the checksums that an object was stored with.
func s3Checksum(of types.ChecksumType, crc32c, crc32, crc64nvme, sha256 *string) storage.Sum {
	if of == types.ChecksumTypeComposite {
		return storage.Sum{}
	}
	for _, stated := range []struct {
		kind  storage.SumKind
		value *string
		size  int
	}{{storage.CRC32C, crc32c, 4}, {storage.CRC32, crc32, 4}, {storage.CRC64NVME, crc64nvme, 8}, {storage.SHA256, sha256, 32}} {
		if b, err := base64.StdEncoding.DecodeString(aws.ToString(stated.value)); err == nil && len(b) == stated.size {
			return storage.Sum{Kind: stated.kind, Value: string(b), Guessed: of != types.ChecksumTypeFullObject}
		}
	}
	return storage.Sum{}
}

// s3Stated returns the checksum that an object was stored with.
func s3Stated(a *blob.Attributes) storage.Sum {
	var out s3.HeadObjectOutput
	if !a.As(&out) {
		return storage.Sum{}
	}
	return s3Checksum(out.ChecksumType, out.ChecksumCRC32C, out.ChecksumCRC32, out.ChecksumCRC64NVME, out.ChecksumSHA256)
}

// gsStated is s3Stated for Google.
func gsStated(a *blob.Attributes) storage.Sum {
	var of gcs.ObjectAttrs
	if !a.As(&of) || of.CRC32C == 0 || of.ContentEncoding == "gzip" {
		return storage.Sum{}
	}
	return storage.Sum{Kind: storage.CRC32C, Value: string(binary.BigEndian.AppendUint32(nil, of.CRC32C))}
}

// gsSum is s3Sum for Google, whose objects all have a CRC-32C. If an object was decompressed on the
// way, its CRC does not match the bytes received.
func gsSum(r *blob.Reader, all bool) storage.Sum {
	var in *gcs.Reader
	if !all || !r.As(&in) || in.Attrs.CRC32C == 0 || in.Attrs.Decompressed {
		return storage.Sum{}
	}
	return storage.Sum{Kind: storage.CRC32C, Value: string(binary.BigEndian.AppendUint32(nil, in.Attrs.CRC32C))}
}

// azureSum is s3Sum for Azure, which computes a CRC of its response if azureSums requests one.
// Otherwise it uses the MD5 stated by the object's writer, right or wrong.
func azureSum(r *blob.Reader, all bool) storage.Sum {
	var out azblobblob.DownloadStreamResponse
	if !r.As(&out) {
		return storage.Sum{}
	}
	if len(out.ContentCRC64) == 8 {
		value := slices.Clone(out.ContentCRC64)
		slices.Reverse(value) // Azure's has the last byte first
		return storage.Sum{Kind: storage.CRC64NVME, Value: string(value)}
	}
	if !all {
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

// azureSums has Azure compute a CRC-64 of each range that it sends, which it does for up to 4 MiB.
// Azure's client has no option for this. Once a server rejects the header, as Azurite does, it is
// omitted.
type azureSums struct{ refused atomic.Bool }

// mostSummed is the longest range in bytes of which Azure computes a checksum; longer ones it
// refuses.
const mostSummed = 4 << 20

// sumHeader requests a checksum. The client uses, and signs, header names in lower case.
const sumHeader = "x-ms-range-get-content-crc64"

func (s *azureSums) Do(r *policy.Request) (*http.Response, error) {
	h := r.Raw().Header
	if n := rangeLength(azureRange(h)); s.refused.Load() || r.Raw().Method != http.MethodGet || n == 0 || n > mostSummed {
		return r.Next()
	}
	h[sumHeader] = []string{"true"}
	answer, err := r.Next()
	if err != nil || answer.StatusCode < http.StatusBadRequest {
		return answer, err
	}
	switch answer.Header.Get("X-Ms-Error-Code") {
	case "FeatureNotSupported", "UnsupportedHeader":
		s.refused.Store(true)
		answer.Body.Close()
		delete(h, sumHeader)
		return r.Next()
	}
	return answer, nil
}

// azureRange returns the range that a request of Azure's client is for; "" if it is for none.
func azureRange(h http.Header) string {
	for name, values := range h {
		if strings.EqualFold(name, "x-ms-range") && len(values) == 1 {
			return values[0]
		}
	}
	return ""
}

// rangeLength returns the length of a range such as bytes=0-9; 0 if it is none, or has no end.
func rangeLength(s string) int64 {
	s, _ = strings.CutPrefix(s, "bytes=")
	first, last, _ := strings.Cut(s, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	if err != nil || err2 != nil || to < from {
		return 0
	}
	return to - from + 1
}
