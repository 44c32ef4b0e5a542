//go:build unix

package reshape

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

var (
	benchDir  = flag.String("bench-dir", "", "directory in which BenchmarkReshard reads and writes; default: one in memory, if there is one")
	benchSize = flag.Int("bench-mib", 256, "how many MiB BenchmarkReshard reshapes")
)

// benchRecords makes four record files of *benchSize MiB in all, of records of about the given size.
func benchRecords(b *testing.B, size int) (dir string, paths []string, records, total int64) {
	b.Helper()
	parent := *benchDir
	if st, err := os.Stat("/dev/shm"); parent == "" && err == nil && st.IsDir() {
		parent = "/dev/shm"
	}
	dir, err := os.MkdirTemp(parent, "reshape")
	settest.Check(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	n := *benchSize << 20 / size
	image := make([]byte, max(size-90, 1))
	random := rand.NewChaCha8([32]byte{})
	random.Read(image)
	height := rand.New(random)
	for i := range 4 {
		path := settest.ExampleFile(b, filepath.Join(dir, fmt.Sprintf("part-%d.tfrecord", i)), n/4, func(i int, builder *tfrecord.Builder) {
			builder.Int64("height", height.Int64N(1<<40))
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

// used is what some work took.
type used struct {
	wall, processor time.Duration
	written         int64 // bytes, to files; 0 if the system does not count them
}

// usage measures work, including the sync of what it wrote earlier.
func usage(b *testing.B, work func() error) used {
	b.Helper()
	from := usedSoFar(b)
	settest.Check(b, work())
	to := usedSoFar(b)
	return used{to.wall - from.wall, to.processor - from.processor, to.written - from.written}
}

var benchBegan = time.Now()

func usedSoFar(b *testing.B) used {
	var r syscall.Rusage
	settest.Check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	u := used{wall: time.Since(benchBegan), processor: time.Duration(r.Utime.Nano() + r.Stime.Nano())}
	if counters, err := os.ReadFile("/proc/self/io"); err == nil {
		_, after, _ := strings.Cut(string(counters), "wchar:")
		_, err := fmt.Sscan(after, &u.written)
		settest.Check(b, err)
	}
	return u
}

// BenchmarkReshard compares verbs with a plain copy, which is synced, of the same records in the
// same directory, in turns. It reports medians:
//
//	copies      how long a copy takes, relative to the verb: 0.5 if the verb takes twice as long
//	cpu-copies  the processor time of the verb, relative to that of a copy
//	cpu-s/GB    the same in seconds
//	written     bytes that the verb writes, temporary files included, relative to the input
//
// The second says more on a busy machine. Without contention, two processors leave a verb at more
// than 2/cpu-copies of the speed of a copy, which uses one, only by waiting for a disk.
func BenchmarkReshard(b *testing.B) {
	for _, size := range []int{184, 100_000} {
		dir, paths, records, total := benchRecords(b, size)
		out := filepath.Join(dir, "out")
		run := func(name string, work func() error) {
			b.Run(fmt.Sprintf("%s-%d", name, size), func(b *testing.B) {
				var copies, processor, cost, speed []float64
				var written int64
				measure := func(work func() error) used {
					u := usage(b, work)
					settest.Check(b, os.RemoveAll(out))
					return u
				}
				for b.Loop() {
					copying := measure(func() error { return copyFiles(paths, out) })
					u := measure(work)
					copies = append(copies, copying.wall.Seconds()/u.wall.Seconds())
					processor = append(processor, u.processor.Seconds()/copying.processor.Seconds())
					cost = append(cost, u.processor.Seconds()/float64(total)*1e9)
					speed = append(speed, float64(records)/u.wall.Seconds())
					written = u.written
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(copies), "copies")
				b.ReportMetric(median(processor), "cpu-copies")
				b.ReportMetric(median(cost), "cpu-s/GB")
				b.ReportMetric(median(speed), "records/s")
				b.ReportMetric(float64(written)/float64(total), "written")
			})
		}
		reshard := func(o ReshardOptions) func() error {
			return func() error {
				_, err := Reshard(context.Background(), paths, out, o)
				return err
			}
		}
		set := filepath.Join(dir, "set")
		_, err := Reshard(context.Background(), paths, set, ReshardOptions{Options: Options{Shards: 3}})
		settest.Check(b, err)
		less := Options{Memory: int64(*benchSize) << 20 / 4}
		run("copy", func() error { return copyFiles(paths, out) })
		run("reshard", reshard(ReshardOptions{}))
		run("reshard-set", func() error {
			_, err := Reshard(context.Background(), []string{set}, out, ReshardOptions{})
			return err
		})
		run("merge", func() error {
			_, err := Merge(context.Background(), paths, out, Options{})
			return err
		})
		run("shuffle", reshard(ReshardOptions{Shuffle: true}))
		run("external-shuffle", reshard(ReshardOptions{Shuffle: true, Options: less}))
		run("sort", reshard(ReshardOptions{SortBy: "height"}))
		run("sort-by-few", reshard(ReshardOptions{SortBy: "label"}))
		run("external-sort", reshard(ReshardOptions{SortBy: "height", Options: less}))
		dedupe := func(o Options) func() error {
			return func() error {
				_, err := Dedupe(context.Background(), paths, out, DedupeOptions{Options: o})
				return err
			}
		}
		run("dedupe", dedupe(Options{}))
		run("external-dedupe", dedupe(less))
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
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
