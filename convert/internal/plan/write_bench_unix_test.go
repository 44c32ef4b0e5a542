//go:build unix

package plan

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/tfrec/tfrec/tfrecord"
)

// loop writes the same bytes as plainly as possible: each worker makes, hashes and writes one file
// after another.
func (c *copies) loop(b testing.TB, workers int) {
	dir := b.TempDir()
	var next atomic.Int64
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			var frames []byte
			for i := next.Add(1); i <= int64(c.shards); i = next.Add(1) {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
				if err != nil {
					b.Error(err)
					return
				}
				sum := sha256.New()
				for range c.pieces {
					frames = frames[:0]
					for range c.each {
						frames = tfrecord.AppendFrame(frames, c.record)
					}
					sum.Write(frames)
					if _, err := f.Write(frames); err != nil {
						b.Error(err)
					}
				}
				sum.Sum(nil)
				if err := f.Sync(); err != nil {
					b.Error(err)
				}
				f.Close()
			}
		})
	}
	work.Wait()
}

// BenchmarkWritePath writes shards of records that cost nothing, with as many workers as processors,
// in turns with a plain loop of copying, CRC-32C, SHA-256, write and fsync. It reports the rate of a
// run, how many times that of the loop it is, and its processor time likewise, also per gigabyte. Run
// it with TMPDIR in memory to leave out the disk, and with -cpu 1,2,8,32,64. On a machine that does
// something else, only processor time means anything. GOMAXPROCS does not count goroutines in system
// calls: what one core does is what taskset -c 0 says.
func BenchmarkWritePath(b *testing.B) {
	c := &copies{shards: 32, pieces: 8, each: 10, record: slices.Repeat([]byte("0123456789abcdef"), 100<<10/16)}
	size := float64(c.shards*c.pieces*c.each) * float64(len(c.record)+tfrecord.Overhead)
	var wall, cpu [2][]float64
	for b.Loop() {
		for side, write := range []func(testing.TB, int){c.convert, c.loop} {
			began, before := time.Now(), cpuload.Used()
			write(b, runtime.GOMAXPROCS(0))
			wall[side] = append(wall[side], time.Since(began).Seconds())
			cpu[side] = append(cpu[side], (cpuload.Used() - before).Seconds())
		}
	}
	for side := range wall {
		slices.Sort(wall[side])
		slices.Sort(cpu[side])
	}
	n := len(wall[0]) / 2
	b.ReportMetric(size/wall[0][n]/1e6, "MB/s")
	b.ReportMetric(wall[1][n]/wall[0][n], "x-loop")
	b.ReportMetric(cpu[0][n]/cpu[1][n], "x-loop-cpu")
	b.ReportMetric(cpu[0][n]/size*1e9, "cpu-s/GB")
}

// BenchmarkOneShard writes a single shard of records that cost nothing, from pieces of several
// sizes, in turns with SHA-256 of as many bytes in one goroutine, which bounds it. It reports the
// best rates, of the hash and of the shard: a busy machine delays each of them differently.
func BenchmarkOneShard(b *testing.B) {
	for _, size := range []int{1 << 20, 100 << 10, 20 << 10} {
		b.Run(fmt.Sprintf("piece=%dK", size>>10), func(b *testing.B) {
			c := &copies{shards: 1, pieces: 64 << 20 / size, each: max(size/(100<<10), 1), record: make([]byte, min(size, 100<<10))}
			total := float64(c.pieces * c.each * len(c.record))
			hashed := make([]byte, size)
			least := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				began := time.Now()
				sum := sha256.New()
				for range int(total) / size {
					sum.Write(hashed)
				}
				least[0] = min(least[0], time.Since(began))
				began = time.Now()
				c.convert(b, 2)
				least[1] = min(least[1], time.Since(began))
			}
			b.ReportMetric(total/least[0].Seconds()/1e9, "SHA-GB/s")
			b.ReportMetric(total/least[1].Seconds()/1e9, "GB/s")
			b.ReportMetric(least[0].Seconds()/least[1].Seconds(), "x-SHA")
		})
	}
}
