package reshape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// benchRecords makes record files of about the given size, in memory if the system has a file
// system for that.
func benchRecords(b *testing.B, size int) (dir string, paths []string, records, total int64) {
	b.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "reshape")
	if err != nil {
		dir = b.TempDir()
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	n := 256 << 20 / size
	image := make([]byte, max(size-90, 1))
	for i := range 4 {
		path := settest.ExampleFile(b, filepath.Join(dir, fmt.Sprintf("part-%d.tfrecord", i)), n/4, func(i int, builder *tfrecord.Builder) {
			builder.Int64("height", int64(i))
			builder.Int64("label", int64(i%10))
			builder.Bytes("picture", image)
			builder.String("text", "some text")
		})
		st, err := os.Stat(path)
		settest.Check(b, err)
		total += st.Size()
		paths = append(paths, path)
	}
	return dir, paths, int64(n / 4 * 4), total
}

// BenchmarkReshard reshapes 256 MiB, after a plain copy each time: x-copy is the ratio of the two
// durations.
func BenchmarkReshard(b *testing.B) {
	for _, size := range []int{184, 100_000} {
		dir, paths, records, total := benchRecords(b, size)
		out := filepath.Join(dir, "out")
		run := func(name string, work func() error) {
			b.Run(fmt.Sprintf("%s-%d", name, size), func(b *testing.B) {
				b.SetBytes(total)
				b.ReportAllocs()
				var copying time.Duration
				for b.Loop() {
					b.StopTimer()
					began := time.Now()
					settest.Check(b, copyFiles(paths, out))
					copying += time.Since(began)
					settest.Check(b, os.RemoveAll(out))
					b.StartTimer()
					settest.Check(b, work())
					b.StopTimer()
					settest.Check(b, os.RemoveAll(out))
					b.StartTimer()
				}
				b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
				b.ReportMetric(b.Elapsed().Seconds()/copying.Seconds(), "x-copy")
			})
		}
		reshard := func(o ReshardOptions) func() error {
			return func() error {
				_, err := Reshard(context.Background(), paths, out, o)
				return err
			}
		}
		run("copy", func() error { return copyFiles(paths, out) })
		run("reshard", reshard(ReshardOptions{}))
		run("merge", func() error {
			_, err := Merge(context.Background(), paths, out, Options{})
			return err
		})
		run("shuffle", reshard(ReshardOptions{Shuffle: true}))
		run("external-shuffle", reshard(ReshardOptions{Shuffle: true, Options: Options{Memory: 64 << 20}}))
		run("sort", reshard(ReshardOptions{SortBy: "height"}))
	}
}

// copyFiles copies and syncs the files.
func copyFiles(paths []string, out string) error {
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	for _, path := range paths {
		from, err := os.Open(path)
		if err != nil {
			return err
		}
		to, err := os.Create(filepath.Join(out, filepath.Base(path)))
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 256<<10))
			err = errors.Join(err, to.Sync(), to.Close())
		}
		from.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
