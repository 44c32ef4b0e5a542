//go:build unix

package convert

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// BenchmarkUpToDate is an up-to-date run over 100,000 images in 100 directories. It reports how many
// times the time and the processor time it takes of a find that prints the size and time of each
// file, in the same run.
func BenchmarkUpToDate(b *testing.B) {
	const directories, each = 100, 1000
	src, out := filepath.Join(b.TempDir(), "src"), b.TempDir()
	for f := range directories {
		dir := filepath.Join(src, fmt.Sprintf("c%03d", f))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for i := range each {
			path := filepath.Join(dir, fmt.Sprintf("%04d.png", i))
			if err := os.WriteFile(path, pngOf(f*each+i), 0o644); err != nil {
				b.Fatal(err)
			}
			if err := os.Chtimes(path, old, old); err != nil {
				b.Fatal(err)
			}
		}
	}
	convert := func() *Summary {
		s, err := Images(context.Background(), src, out, ImageOptions{Options: Options{Shards: 16}})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	convert()
	var wall, cpu, findWall, findCPU time.Duration
	for b.Loop() {
		began, before := time.Now(), cpuload.Used()
		if s := convert(); s.Status != UpToDate {
			b.Fatal(s.Status)
		}
		wall += time.Since(began)
		cpu += cpuload.Used() - before
		began = time.Now()
		find := exec.Command("find", src, "-type", "f", "-printf", "%s %T@ %p\n")
		if out, err := find.Output(); err != nil || len(out) == 0 {
			b.Fatalf("find: %v", err)
		}
		findWall += time.Since(began)
		findCPU += find.ProcessState.UserTime() + find.ProcessState.SystemTime()
	}
	b.ReportMetric(wall.Seconds()/float64(b.N), "s/run")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/run")
	b.ReportMetric(wall.Seconds()/findWall.Seconds(), "x-find")
	b.ReportMetric(cpu.Seconds()/findCPU.Seconds(), "x-find-cpu")
}

// BenchmarkManyShards converts 20,000 images into 1,000 shards, and into ten times as many, on disk
// and in a store in memory, and runs again. It reports the processor time of the former in
// milliseconds, and how many times as much the latter take.
func BenchmarkManyShards(b *testing.B) {
	const images = 20_000
	for _, where := range []string{"disk", "store"} {
		b.Run(where, func(b *testing.B) {
			e, url := endlessStore(b, images)
			e.body = pngOf(1)
			sets := storagetest.New()
			storage.Register("mem", func(_ context.Context, host string) (storage.Store, error) {
				if host == "sets" {
					return sets, nil
				}
				return e, nil
			})
			convert := func(out string, shards int, want Status) time.Duration {
				before := cpuload.Used()
				s, err := Images(b.Context(), url, out, ImageOptions{Options: Options{Name: "photos", Shards: shards}})
				if err != nil || s.Status != want {
					b.Fatalf("%+v, %v", s, err)
				}
				return cpuload.Used() - before
			}
			var first, again [2]time.Duration
			for n := 0; b.Loop(); n++ {
				for i, shards := range []int{1000, 10_000} {
					out := b.TempDir()
					if where == "store" {
						out = fmt.Sprintf("mem://sets/%d-%d", n, shards)
					}
					first[i] += convert(out, shards, Written)
					again[i] += convert(out, shards, UpToDate)
				}
			}
			b.ReportMetric(first[1].Seconds()/first[0].Seconds(), "x-first")
			b.ReportMetric(again[1].Seconds()/again[0].Seconds(), "x-again")
			b.ReportMetric(1e3*first[0].Seconds()/float64(b.N), "first-ms")
			b.ReportMetric(1e3*again[0].Seconds()/float64(b.N), "again-ms")
		})
	}
}

// BenchmarkShardFiles makes the files of 10,000 shards without converting anything, with the promises
// that a shard has: each is written under another name, synced and renamed, 16 shards at a time, and
// the directories are synced once at the end. It reports the processor time of a shard of two files,
// itself and its index, and of three, with its state: BenchmarkManyShards cannot go below.
//
// Deleted files distort both on ext4 without a journal: a new file is searched for among those that
// were deleted in the last minutes.
func BenchmarkShardFiles(b *testing.B) {
	const shards, atOnce = 10_000, 16
	data := make([]byte, 400)
	for _, files := range []int{2, 3} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			var used time.Duration
			for b.Loop() {
				out := b.TempDir()
				temp := filepath.Join(out, "tmp")
				dirs := []string{out, filepath.Join(out, "index"), filepath.Join(out, "state")}[:files]
				for _, dir := range slices.Concat(dirs[1:], []string{temp}) {
					if err := os.Mkdir(dir, 0o755); err != nil {
						b.Fatal(err)
					}
				}
				before := cpuload.Used()
				par.ForEach(b.Context(), shards, atOnce, func(next func() (int, bool)) {
					for i, ok := next(); ok; i, ok = next() {
						for _, dir := range dirs {
							f, err := os.CreateTemp(temp, "f.*")
							if err == nil {
								err = atomicfile.Fill(f, filepath.Join(dir, strconv.Itoa(i)), data)
							}
							if err != nil {
								b.Error(err)
							}
						}
					}
				})
				for _, dir := range dirs {
					if err := atomicfile.SyncDir(dir); err != nil {
						b.Fatal(err)
					}
				}
				used += cpuload.Used() - before
			}
			b.ReportMetric(float64(used.Microseconds())/float64(b.N)/shards, "cpu-us/shard")
		})
	}
}
