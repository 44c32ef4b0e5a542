package cloud

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
)

// beside times the same work in turn on files in the page cache and on an S3 server on this
// machine, and reports the latter's speed as a share of the former's, and the cores that this
// process and the server used.
func beside(b *testing.B, root, local, remote string, work func(path string)) {
	s3Server(b, root)
	storage.Forget()
	work(local)
	work(remote) // so that the cache of objects holds it, too, where there is one
	var took, own, servers [2]time.Duration
	for b.Loop() {
		for i, path := range []string{local, remote} {
			began, mine, its := time.Now(), processorTime(b, os.Getpid()), processorTime(b, lastServer)
			work(path)
			took[i] += time.Since(began)
			own[i] += processorTime(b, os.Getpid()) - mine
			servers[i] += processorTime(b, lastServer) - its
		}
	}
	b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "of-page-cache")
	b.ReportMetric(own[0].Seconds()/took[0].Seconds(), "local-cores")
	b.ReportMetric(own[1].Seconds()/took[1].Seconds(), "client-cores")
	b.ReportMetric(servers[1].Seconds()/took[1].Seconds(), "server-cores")
}

// processorTime is what a process has had of the processors; see proc(5).
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("needs Linux: ", err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks time.Duration
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * time.Second / 100
}

// largeSet makes a set of 256 MiB in records of 100 KB, in the directory of a bucket.
func largeSet(b *testing.B) (root, local string) {
	b.Helper()
	root = b.TempDir()
	local = filepath.Join(root, "bucket", "set")
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
	b.SetBytes(2 * 4 * 671 * 100_000) // in both places
	return root, local
}

// BenchmarkReader streams a set, CRCs checked.
func BenchmarkReader(b *testing.B) {
	root, local := largeSet(b)
	beside(b, root, local, "s3://bucket/set", func(path string) {
		set, err := reader.Open(b.Context(), path, reader.Options{})
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

// BenchmarkReshard shuffles a set from a directory into another one, and from a store into
// itself.
func BenchmarkReshard(b *testing.B) {
	root, local := largeSet(b)
	times := 0
	beside(b, root, local, "s3://bucket/set", func(path string) {
		times++
		out := fmt.Sprint("new", times)
		o := reshape.ReshardOptions{Shuffle: true, Options: reshape.Options{Shards: 4}}
		if _, err := reshape.Reshard(b.Context(), []string{path}, storage.Join(storage.Dir(path), out), o); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(filepath.Dir(local), out)); err != nil {
			b.Fatal(err)
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
			Options: convert.Options{Name: "photos", Shards: 4}, Resize: augment.ResizeSpec{Width: 224, Height: 224, NoAntialias: true},
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

// BenchmarkSmallImages converts 3,000 small images from an S3 server behind a proxy that delays each
// request, and reports how many were in flight at the highest, and the speed as a share of what as
// many allow at that latency.
func BenchmarkSmallImages(b *testing.B) {
	const images = 3000
	root := b.TempDir()
	for i := range images {
		im := image.NewGray(image.Rect(0, 0, 32, 32))
		binary.LittleEndian.PutUint16(im.Pix, uint16(i))
		var data bytes.Buffer
		if err := png.Encode(&data, im); err != nil {
			b.Fatal(err)
		}
		dir := filepath.Join(root, "bucket", "images", fmt.Sprint("c", i%3))
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.png", i)), data.Bytes(), 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	server, err := url.Parse(s3Server(b, root))
	if err != nil {
		b.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(server); r.Out.Host = r.In.Host },
		Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true},
	}
	for _, latency := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond} {
		for _, most := range []string{"", "32"} {
			b.Run(fmt.Sprintf("%v/most=%s", latency, most), func(b *testing.B) {
				var inFlight, highest atomic.Int64
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					for now, before := inFlight.Add(1), highest.Load(); now > before && !highest.CompareAndSwap(before, now); {
						before = highest.Load()
					}
					defer inFlight.Add(-1)
					time.Sleep(latency)
					forward.ServeHTTP(w, r)
				}))
				defer proxy.Close()
				useS3(b, proxy.URL)
				b.Setenv(storage.MaxRequestsVariable, most)
				var took time.Duration
				for b.Loop() {
					storage.Forget()
					began := time.Now()
					if _, err := convert.Images(b.Context(), "s3://bucket/images", b.TempDir(), convert.ImageOptions{Options: convert.Options{Shards: 4}}); err != nil {
						b.Fatal(err)
					}
					took += time.Since(began)
				}
				b.ReportMetric(float64(highest.Load()), "in-flight")
				allowed := images * latency.Seconds() / float64(highest.Load())
				b.ReportMetric(allowed*float64(b.N)/took.Seconds(), "of-allowed")
			})
		}
	}
}
