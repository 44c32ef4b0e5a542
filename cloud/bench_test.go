package cloud

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/shard"
)

// beside times the same work on the disk and on an S3 server on this machine, in
// turn, and reports the server's share of the disk's speed.
func beside(b *testing.B, root, local, remote string, work func(path string)) {
	s3Server(b, root)
	storage.Forget()
	work(local)  // so that the page cache holds it
	work(remote) // and the cache of objects, where there is one
	var took [2]time.Duration
	for b.Loop() {
		for i, path := range []string{local, remote} {
			began := time.Now()
			work(path)
			took[i] += time.Since(began)
		}
	}
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "of-disk")
}

// BenchmarkReader streams 256 MiB of 100 KB records, CRCs checked.
func BenchmarkReader(b *testing.B) {
	root := b.TempDir()
	local := filepath.Join(root, "bucket", "set")
	out, err := shard.OpenDir(context.Background(), local, shard.DirOptions{})
	if err != nil {
		b.Fatal(err)
	}
	record := make([]byte, 100_000)
	for i := range 4 {
		w, err := out.Create(fmt.Sprintf("set-train.tfrecord-%05d-of-00004", i), shard.WriterOptions{})
		for n := 0; err == nil && n < 671; n++ {
			err = w.WriteRecord(record)
		}
		if err == nil {
			_, err = w.Commit()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	out.Close()
	settle(b, local)
	b.SetBytes(2 * 4 * 671 * 100_000) // from each
	beside(b, root, local, "s3://bucket/set", func(path string) {
		set, err := reader.Open(path, reader.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range set.Interleave(4, 1).All(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkConvert makes a set of photographs, 40 of them ten times.
func BenchmarkConvert(b *testing.B) {
	root := b.TempDir()
	local := filepath.Join(root, "bucket", "photos")
	for i := range 10 {
		if err := os.CopyFS(filepath.Join(local, fmt.Sprint("class", i)), os.DirFS("../testdata/demo/photos")); err != nil {
			b.Fatal(err)
		}
	}
	beside(b, root, local, "s3://bucket/photos", func(path string) {
		_, err := convert.Images(b.Context(), path, b.TempDir(), convert.ImageOptions{
			Options: convert.Options{Name: "photos", Shards: 4}, Resize: augment.ResizeSpec{Width: 224, Height: 224},
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkReaderCached is BenchmarkReader with a cache of objects that has them all.
func BenchmarkReaderCached(b *testing.B) {
	stop, err := UseCache(CacheOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	BenchmarkReader(b)
}
