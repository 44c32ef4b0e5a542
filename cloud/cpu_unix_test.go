//go:build unix

package cloud

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader"
)

// ownTime is what this process has had of the processors.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCPUOfReader reads a set from an S3 server in another process, CRCs checked, in turn with
// plain GETs of the same shards by Amazon's client into a buffer of 1 MiB. Per GB of the set it
// reports the processor time of this process in seconds, that of the reader as a multiple of that of
// the GETs, and the requests for bytes and the bytes that the reader requested.
func BenchmarkCPUOfReader(b *testing.B) {
	root, _ := largeSet(b)
	s3Server(b, root)
	store := new(counted)
	storage.Register("s3", func(ctx context.Context, host string) (s storage.Store, err error) {
		store.Store, err = openS3(ctx, host)
		return store, err
	})
	defer storage.Register("s3", openS3)
	defer storage.Forget()
	cfg, err := config.LoadDefaultConfig(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	cfg.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	for name, order := range map[string]func(*reader.Set) reader.Pipe{
		"sequential": func(s *reader.Set) reader.Pipe { return s.Interleave(4, 1) },
		"global":     func(s *reader.Set) reader.Pipe { return s.ShuffleAll(reader.ShuffleAllOptions{}) },
	} {
		b.Run(name, func(b *testing.B) {
			get := func() (n int64) {
				for i := range 4 {
					n += plainGet(b, client, fmt.Sprintf("set/set-train.tfrecord-%05d-of-00004", i))
				}
				return n
			}
			read := func() {
				set, err := reader.Open(b.Context(), "s3://bucket/set", reader.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range order(set).All(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			read()
			size := get()
			store.opens.Store(0)
			store.bytes.Store(0)
			var took [2]time.Duration
			rounds := 0
			for b.Loop() {
				rounds++
				for i, work := range []func(){func() { get() }, read} {
					began := ownTime(b)
					work()
					took[i] += ownTime(b) - began
				}
			}
			gb := float64(size) * float64(rounds) / 1e9
			b.ReportMetric(took[0].Seconds()/gb, "get-s/GB")
			b.ReportMetric(took[1].Seconds()/gb, "reader-s/GB")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "of-get")
			b.ReportMetric(float64(store.opens.Load())/gb, "requests/GB")
			b.ReportMetric(float64(store.bytes.Load())/1e9/gb, "bytes/byte")
		})
	}
}

// counted is a store that counts requests for bytes.
type counted struct {
	storage.Store
	opens, bytes atomic.Int64
}

func (c *counted) Open(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, storage.Object, error) {
	body, is, err := c.Store.Open(ctx, name, version, offset, length)
	c.opens.Add(1)
	c.bytes.Add(min(length, max(0, is.Size-offset)))
	return body, is, err
}

// plainGet reads an object with one request and returns its size.
func plainGet(b *testing.B, client *s3.Client, name string) int64 {
	b.Helper()
	bucket := "bucket"
	out, err := client.GetObject(context.Background(), &s3.GetObjectInput{Bucket: &bucket, Key: &name})
	if err != nil {
		b.Fatal(err)
	}
	defer out.Body.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out.Body}, make([]byte, 1<<20))
	if err != nil {
		b.Fatal(err)
	}
	return n
}
