//go:build interop

package interop

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/tfrecord"
)

// compressions that TensorFlow knows.
var compressions = []tfrecord.Compression{tfrecord.CompressionNone, tfrecord.CompressionGzip, tfrecord.CompressionZlib}

// writeFile writes records to a new file and returns its path.
func writeFile(t *testing.T, c tfrecord.Compression, records [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := tfrecord.NewWriter(f, tfrecord.WriterOptions{Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.WriteRecord(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// readFile hands each record of a file to visit and wants the compression
// recognised as c.
func readFile(t *testing.T, path string, c tfrecord.Compression, visit func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: path})
	defer r.Close()
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(record)
	}
	if r.Compression() != c {
		t.Errorf("%s: recognised as %v, is %v", path, r.Compression(), c)
	}
}

// adder is what Example and SequenceExample builders share.
type adder interface {
	Int64(key string, v ...int64)
	Float(key string, v ...float32)
	Bytes(key string, v ...[]byte)
}

// randomKey draws from letters of one to four bytes; keys repeat at times.
func randomKey(rnd *rand.Rand) string {
	letters := []rune("abz/_0 éж图🐦")
	key := make([]rune, []int{0, 1, 3, 12}[rnd.IntN(4)])
	for i := range key {
		key[i] = letters[rnd.IntN(len(letters))]
	}
	return string(key)
}

// addRandom adds one feature and returns its written form.
func addRandom(rnd *rand.Rand, b adder, key string) feature {
	n := []int{0, 1, 1, 2, 7, 300}[rnd.IntN(6)]
	switch rnd.IntN(3) {
	case 0:
		limits := []int64{0, 1, -1, 127, 128, math.MaxInt64, math.MinInt64}
		v := make([]int64, n)
		for i := range v {
			v[i] = limits[rnd.IntN(len(limits))]
			if rnd.IntN(2) == 0 {
				v[i] = rnd.Int64() >> rnd.IntN(64)
			}
		}
		b.Int64(key, v...)
		return written(v)
	case 1:
		patterns := []uint32{0, 0x80000000, 1, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3dcccccd}
		v := make([]float32, n)
		for i := range v {
			v[i] = math.Float32frombits(patterns[rnd.IntN(len(patterns))])
			if rnd.IntN(2) == 0 {
				v[i] = float32(rnd.NormFloat64())
			}
		}
		b.Float(key, v...)
		return written(v)
	default:
		v := make([][]byte, min(n, 20))
		for i := range v {
			v[i] = make([]byte, []int{0, 1, 10, 127, 128, 5000}[rnd.IntN(6)])
			for k := range v[i] {
				v[i][k] = byte(rnd.Uint32())
			}
		}
		b.Bytes(key, v...)
		return written(v)
	}
}

func TestTensorFlowReadsOurExamples(t *testing.T) {
	for _, c := range compressions {
		t.Run(c.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, uint64(c)))
			var records [][]byte
			var want []map[string]feature
			var b tfrecord.Builder
			for range 200 {
				b.Reset()
				example := map[string]feature{}
				for range rnd.IntN(9) {
					key := randomKey(rnd)
					example[key] = addRandom(rnd, &b, key)
				}
				records = append(records, b.Append(nil))
				want = append(want, example)
			}
			var got []map[string]feature
			ask(t, &got, "read", map[string]any{"path": writeFile(t, c, records), "compression": tensorFlowName(c.String())})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("TensorFlow reads otherwise (-wrote +read):\n%.2000s", diff)
			}
		})
	}
}

func TestWeReadTensorFlowsExamples(t *testing.T) {
	for i, c := range compressions {
		t.Run(c.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.tfrecord")
			var want []map[string]feature
			ask(t, &want, "write", map[string]any{"path": path, "compression": tensorFlowName(c.String()), "seed": 10 + i, "count": 200, "sequences": false})
			var got []map[string]feature
			var example tfrecord.Example
			readFile(t, path, c, func(record []byte) {
				if err := example.Parse(record); err != nil {
					t.Fatal(err)
				}
				got = append(got, writtenMap(example.Map()))
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("read otherwise than TensorFlow wrote (-wrote +read):\n%.2000s", diff)
			}
		})
	}
}

func TestTensorFlowReadsOurSequenceExamples(t *testing.T) {
	for _, c := range compressions {
		t.Run(c.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(4, uint64(c)))
			var records [][]byte
			var want []sequence
			var b tfrecord.SequenceBuilder
			for range 100 {
				b.Reset()
				s := sequence{map[string]feature{}, map[string][]feature{}}
				for range rnd.IntN(5) {
					key := randomKey(rnd)
					s.Context[key] = addRandom(rnd, &b.Context, key)
				}
				for range rnd.IntN(12) {
					key := randomKey(rnd)
					if rnd.IntN(6) == 0 {
						b.List(key)
						s.Lists[key] = append([]feature{}, s.Lists[key]...)
						continue
					}
					s.Lists[key] = append(s.Lists[key], addRandom(rnd, &b, key))
				}
				records = append(records, b.Append(nil))
				want = append(want, s)
			}
			var got []sequence
			ask(t, &got, "read_sequences", map[string]any{"path": writeFile(t, c, records), "compression": tensorFlowName(c.String())})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("TensorFlow reads otherwise (-wrote +read):\n%.2000s", diff)
			}
		})
	}
}

func TestWeReadTensorFlowsSequenceExamples(t *testing.T) {
	for i, c := range compressions {
		t.Run(c.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.tfrecord")
			var want []sequence
			ask(t, &want, "write", map[string]any{"path": path, "compression": tensorFlowName(c.String()), "seed": 20 + i, "count": 100, "sequences": true})
			var got []sequence
			var example tfrecord.SequenceExample
			readFile(t, path, c, func(record []byte) {
				if err := example.Parse(record); err != nil {
					t.Fatal(err)
				}
				s := sequence{writtenMap(example.Context.Map()), map[string][]feature{}}
				for key, steps := range example.Lists.Map() {
					s.Lists[key] = []feature{}
					for _, v := range steps {
						s.Lists[key] = append(s.Lists[key], written(v))
					}
				}
				got = append(got, s)
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("read otherwise than TensorFlow wrote (-wrote +read):\n%.2000s", diff)
			}
		})
	}
}

func writtenMap(m map[string]any) map[string]feature {
	out := make(map[string]feature, len(m))
	for k, v := range m {
		out[k] = written(v)
	}
	return out
}

// index writes path's index next to it and returns its path.
func index(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, err := tfrecord.BuildIndex(tfrecord.NewReader(f, tfrecord.ReaderOptions{Name: path}))
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for _, e := range entries {
		lines = tfrecord.AppendIndex(lines, e)
	}
	if err := os.WriteFile(path+".idx", lines, 0o644); err != nil {
		t.Fatal(err)
	}
	return path + ".idx"
}

// pypi runs the tfrecord package's side and returns its output.
func pypi(t *testing.T, args ...string) []byte {
	t.Helper()
	c := exec.Command(*python, append([]string{"pypi.py"}, args...)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("pypi.py %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

func TestTheTFRecordPackageReadsThroughOurIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 0))
	var records [][]byte
	for range 101 {
		r := make([]byte, rnd.IntN(3000))
		for i := range r {
			r[i] = byte(rnd.Uint32())
		}
		records = append(records, r)
	}
	path := writeFile(t, tfrecord.CompressionNone, records)
	idx := index(t, path)
	for _, workers := range []int{1, 2, 7} {
		lines := bufio.NewScanner(bytes.NewReader(pypi(t, "read", path, idx, strconv.Itoa(workers))))
		var got []string
		for lines.Scan() {
			got = append(got, lines.Text())
		}
		var want []string
		for _, r := range records {
			want = append(want, hex.EncodeToString(r))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers of the tfrecord package (-wrote +read):\n%.1000s", workers, diff)
		}
	}
}

func TestTheTFRecordPackagesIndexIsOurs(t *testing.T) {
	records := [][]byte{{}, []byte("x"), bytes.Repeat([]byte("tfrec"), 5000), {}}
	path := writeFile(t, tfrecord.CompressionNone, records)
	theirs := path + ".theirs"
	pypi(t, "index", path, theirs)
	a, err := os.ReadFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(index(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("the package's index is %q, ours %q", a, b)
	}
	entries, err := tfrecord.ReadIndex(bytes.NewReader(a), theirs)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(records) {
		t.Errorf("%d entries of %d", len(entries), len(records))
	}
}
