//go:build unix

package beam

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkOverhead times tfrec-beam on prism against tfrec, each as a separate process, on the
// same images in turn: 64 shards of TFREC_PHOTOS (default: the demo's photographs), repeated to
// make 640 images or more. It reports the medians, and the medians of prism's time and processor
// time relative to tfrec's, which say more on a busy machine. With -benchtime 5x it takes 5 pairs.
func BenchmarkOverhead(b *testing.B) {
	photos := copyImages(b, cmp.Or(os.Getenv("TFREC_PHOTOS"), filepath.Join(demo(b), "photos")), 640)
	dir := b.TempDir()
	programs := [2]string{filepath.Join(dir, "tfrec"), filepath.Join(dir, "tfrec-beam")}
	for i, from := range []string{"../cmd/tfrec", "./cmd/tfrec-beam"} {
		build := exec.Command("go", "build", "-o", programs[i], ".")
		build.Dir = from // in the module of the program
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	convert := func(program string) (seconds, ofProcessor float64) {
		out := filepath.Join(dir, "out")
		if err := os.RemoveAll(out); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		c := exec.Command(program, "convert", "images", photos, out, "--shards", "64", "--resize", "224")
		if text, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		return time.Since(began).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	convert(programs[0]) // brings the images into memory
	var took [2][]float64
	var ratios, cpu []float64
	for b.Loop() {
		var seconds, busy [2]float64
		for i, program := range programs {
			seconds[i], busy[i] = convert(program)
			took[i] = append(took[i], seconds[i])
		}
		ratios, cpu = append(ratios, seconds[1]/seconds[0]), append(cpu, busy[1]/busy[0])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took[0]), "s-plain")
	b.ReportMetric(median(took[1]), "s-prism")
	b.ReportMetric(median(ratios), "times")
	b.ReportMetric(median(cpu), "times-cpu")
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// copyImages copies the JPEGs below a directory repeatedly, n in all.
func copyImages(b *testing.B, from string, least int) string {
	b.Helper()
	var images [][]byte
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".jpg") {
			return err
		}
		data, err := os.ReadFile(path)
		images = append(images, data)
		return err
	})
	if err != nil || len(images) == 0 {
		b.Fatalf("%s: %d images, %v", from, len(images), err)
	}
	to := filepath.Join(b.TempDir(), "photos", "a")
	if err := os.MkdirAll(to, 0o755); err != nil {
		b.Fatal(err)
	}
	for i := 0; i < least || i%len(images) != 0; i++ {
		// Bytes after the end of an image are not damage.
		data := append(bytes.Clone(images[i%len(images)]), fmt.Sprint(i)...)
		if err := os.WriteFile(filepath.Join(to, fmt.Sprintf("%05d.jpg", i)), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return filepath.Dir(to)
}
