//go:build interop

package interop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// oddTable writes records with features of every kind and shape that the formats distinguish.
func oddTable(t *testing.T, path string, n int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(5, 6))
	words := []string{"", "a", `say "hi"`, "two\nlines", "cr\rlf\r\n", ", ;", "ä€𝄞", " lead", "[1]", "null", "NaN", "\ufeffbom", "<&>\u2028"}
	odd := []float32{0, float32(math.Copysign(0, -1)), 1e-45, math.MaxFloat32, 0.1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}
	var data []byte
	for i := range n {
		var b tfrecord.Builder
		b.Int64("id", int64(i)-3)
		b.Int64("big", math.MinInt64+int64(i))
		b.Float("float", odd[i%len(odd)])
		b.Float("vector", 1.5, float32(i), odd[i%len(odd)])
		b.String("text", words[i%len(words)])
		b.String("long", strings.Repeat("ü", i%300))
		b.String("zero", fmt.Sprintf("%d\x00", i))
		b.String("texts", words[:i%4]...)
		b.Bytes("same", []byte{0xff, byte(i), 0})
		b.Bytes("blob", append([]byte{0xff}, make([]byte, i%5)...))
		var blobs [][]byte
		ragged := make([]int64, rnd.IntN(4))
		for j := range ragged {
			ragged[j] = rnd.Int64()
			blobs = append(blobs, []byte{0xfe, byte(j)}[:j%3])
		}
		b.Int64("ragged", ragged...)
		b.Bytes("blobs", blobs...)
		b.Int64("never")
		if i%3 == 0 {
			b.Int64("some/int", int64(i))
			b.Float("some/vector", 1, 2)
			b.String("some/text", words[i%len(words)])
			b.Bytes("some/blob", []byte{0x80, byte(i)})
			b.Bytes("some/blobs", blobs...)
		}
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExportedTablesAreRead(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "odd.tfrecord")
	oddTable(t, odd, 600)
	images := filepath.Join(dir, "pictures")
	if out, err := exec.Command(*binary, "convert", "images", "../../../testdata/demo/photos", images, "--quiet", "--shards", "1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shards, err := filepath.Glob(filepath.Join(images, "*.tfrecord*"))
	if err != nil || len(shards) != 1 {
		t.Fatal(shards, err)
	}
	lone := filepath.Join(dir, "lone.tfrecord") // rows of one cell, which may be empty
	var data []byte
	for i := range 5 {
		var b tfrecord.Builder
		if i%2 == 0 {
			b.Int64("x", int64(i))
		}
		data = tfrecord.AppendFrame(data, b.Append(nil))
	}
	if err := os.WriteFile(lone, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct{ name, path, want string }{
		{"odd", odd, "600 records, 18 features"},
		{"pictures", shards[0], "40 records, 10 features"},
		{"lone", lone, "5 records, 1 features"},
	} {
		t.Run(in.name, func(t *testing.T) {
			judge, want := exec.Command(*python, "export.py", in.path), ""
			for _, format := range []string{"csv", "jsonl", "parquet", "npz"} {
				table := filepath.Join(dir, in.name+"."+format)
				if out, err := exec.Command(*binary, "export", in.path, table, "--format", format, "--quiet").CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				judge.Args = append(judge.Args, table)
				want += format + ": " + in.want + "\n"
			}
			judge.Stderr = os.Stderr
			got, err := judge.Output()
			if err != nil {
				t.Fatalf("export.py: %v", err)
			}
			if string(got) != want {
				t.Errorf("it says\n%.2000s", got)
			}
		})
	}
}
