package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// BenchmarkProcesses makes 64 shards of some 3,200 photographs, resized to 224x224, as one
// run and as an array job of 1, 2 and 4 processes that run at the same time, with
// finalize. All take the same number of workers together: one for each core, and
// one for each process at least.
func BenchmarkProcesses(b *testing.B) {
	const times = 80 // each photograph
	src := b.TempDir()
	photos, err := filepath.Glob(filepath.Join(demo(), "photos/*/*.jpg"))
	if err != nil || len(photos) == 0 {
		b.Fatal(err, len(photos))
	}
	for _, path := range photos {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		dir := filepath.Join(src, filepath.Base(filepath.Dir(path)))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for i := range times {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(path))), data, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	command := func(args ...string) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		c := exec.Command(self, args...)
		c.Env = append(os.Environ(), actAsTfrec+"=1")
		c.Stderr = os.Stderr
		return c
	}
	convert := func(out string, workers int) []string {
		return []string{"convert", "images", src, out, "--resize", "224", "--shards", "64", "--quiet", "--workers", strconv.Itoa(workers)}
	}
	images := func(b *testing.B) {
		b.ReportMetric(float64(b.N*times*len(photos))/b.Elapsed().Seconds(), "pictures/s")
	}
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			if err := command(convert(filepath.Join(b.TempDir(), "out"), runtime.NumCPU())...).Run(); err != nil {
				b.Fatal(err)
			}
		}
		images(b)
	})
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			for b.Loop() {
				out := filepath.Join(b.TempDir(), "out")
				var tasks []*exec.Cmd
				for i := range n {
					task := command(append(convert(out, max(1, runtime.NumCPU()/n)), "--task", strconv.Itoa(i), "--tasks", strconv.Itoa(n))...)
					if err := task.Start(); err != nil {
						b.Fatal(err)
					}
					tasks = append(tasks, task)
				}
				for _, task := range tasks {
					if err := task.Wait(); err != nil {
						b.Fatal(err)
					}
				}
				if err := command("finalize", out, "--quiet").Run(); err != nil {
					b.Fatal(err)
				}
			}
			images(b)
		})
	}
}
