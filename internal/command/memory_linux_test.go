//go:build !race

package command

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// The race detector has memory of its own, which is not measured here.

// made writes a file, compressed when its name says so.
func made(t *testing.T, dir, name string, write func(w io.Writer)) string {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		write(f)
		return path
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// sparse makes a file of zeros that takes no room.
func sparse(t *testing.T, path string, size int64) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	return path
}

// TestHostileDataStayWithinBounds holds the command to the limits of docs/security.md,
// in MB beyond what a command takes that reads nothing. They are measured ones with
// room for another machine, and far below what the data would want.
func TestHostileDataStayWithinBounds(t *testing.T) {
	dir := t.TempDir()
	example := func(build func(b *tfrecord.Builder)) []byte {
		var b tfrecord.Builder
		build(&b)
		return tfrecord.AppendFrame(nil, b.Append(nil))
	}
	repeated := func(frame []byte, n int) func(w io.Writer) {
		block := []byte(strings.Repeat(string(frame), 1000))
		return func(w io.Writer) {
			for range n / 1000 {
				w.Write(block)
			}
		}
	}
	once := func(data []byte) func(w io.Writer) { return func(w io.Writer) { w.Write(data) } }

	same := made(t, dir, "same.tfrecord", repeated(example(func(b *tfrecord.Builder) { b.String("k", "same") }), 500_000))
	empty := made(t, dir, "empty.tfrecord.gz", repeated(tfrecord.AppendFrame(nil, nil), 2_000_000))
	values := made(t, dir, "values.tfrecord", once(example(func(b *tfrecord.Builder) { b.Bytes("k", make([][]byte, 4_000_000)...) })))
	field := func(tag byte, body []byte) []byte {
		return append(binary.AppendUvarint([]byte{tag}, uint64(len(body))), body...)
	}
	// A SequenceExample of one list of eight million steps.
	steps := made(t, dir, "steps.tfrecord", once(tfrecord.AppendFrame(nil,
		field(0x12, field(0x0a, append(field(0x0a, []byte("k")), field(0x12, []byte(strings.Repeat("\x0a\x00", 8_000_000)))...))))))
	const large = 96
	one := made(t, dir, "large.tfrecord.gz", once(example(func(b *tfrecord.Builder) { b.Bytes("k", make([]byte, large<<20)) })))
	// A million boxes in a thousand images: 100 MB of JSON.
	boxes := made(t, dir, "boxes.tfrecord", repeated(example(func(b *tfrecord.Builder) {
		sides := make([]float32, 1000)
		for i := range sides {
			sides[i] = float32(i) / 1001
		}
		for _, key := range []string{"xmin", "ymin", "xmax", "ymax"} {
			b.Float("image/object/bbox/"+key, sides...)
		}
		b.Int64("image/object/class/label", make([]int64, len(sides))...)
		b.String("image/encoded", "\xff\xd8\xff")
		b.Int64("image/width", 640)
		b.Int64("image/height", 480)
	}), 1000))
	zeros := filepath.Dir(sparse(t, filepath.Join(dir, "zeros", "manifest.json"), 500<<20))
	made(t, zeros, "x.tfrecord", once(nil))
	shards := filepath.Join(dir, "shards")
	if err := os.Mkdir(shards, 0o755); err != nil {
		t.Fatal(err)
	}
	made(t, shards, "x.tfrecord", once(nil))
	made(t, shards, "manifest.json", once([]byte(`{"format":"tfrec.manifest","version":1,"splits":[{"shards":[`+strings.Repeat(`{"file":"a"},`, 5_000_000)+`{}]}]}`)))
	index := made(t, dir, "x.tfrecord", once(tfrecord.AppendFrame(nil, nil)))
	sparse(t, filepath.Join(dir, "index", "x.tfrecord.idx"), 1<<30)
	blank := made(t, dir, "blank.csv", once([]byte(strings.Repeat("\n", 600_000)+"a,b\n1,2\n")))
	row := made(t, dir, "row.csv.gz", once([]byte("a,b\n"+strings.Repeat("x", 300<<20))))
	labels := sparse(t, filepath.Join(dir, "labels.csv"), 900<<20)
	photos := filepath.Join(demo(), "photos")

	base, _, _ := peak(t, "version")
	for _, test := range []struct {
		most, code int
		args       []string
	}{
		{50, 0, []string{"dedupe", same, "OUT", "--memory", "8MB"}},
		{50, 0, []string{"dedupe", same, "OUT", "--memory", "8MB", "--by", "k"}},
		{80, 0, []string{"dedupe", empty, "OUT", "--memory", "8MB"}},
		{80, 0, []string{"reshard", empty, "OUT", "--memory", "8MB", "--shuffle"}},
		{50, 0, []string{"verify", "--deep", "--memory", "8MB", same}},
		{80, 0, []string{"verify", "--deep", "--memory", "8MB", empty}},
		{50, 3, []string{"diff", "--unordered", "--memory", "8MB", same, empty}},
		{50, 0, []string{"inspect", values}},
		{50, 0, []string{"stats", values}},
		{50, 0, []string{"cat", values}},
		{50, 0, []string{"cat", "--format", "json", values}},
		{50, 0, []string{"cat", "--format", "proto", values}},
		{80, 0, []string{"verify", "--deep", values}},
		{50, 0, []string{"dedupe", values, "OUT", "--by", "k"}},
		{250, 0, []string{"inspect", steps}},
		{250, 0, []string{"verify", "--deep", steps}},
		{large * 3 / 2, 0, []string{"verify", one}},
		{large * 3 / 2, 0, []string{"verify", "--deep", one}},
		{large * 3 / 2, 0, []string{"inspect", one}},
		{large * 3 / 2, 0, []string{"stats", one}},
		{large*5/2 + 40, 0, []string{"cat", one}},
		{large*5/2 + 40, 0, []string{"cat", "--format", "hex", one}},
		{large*5/2 + 40, 0, []string{"reshard", one, "OUT"}},
		{large*5/2 + 40, 0, []string{"dedupe", one, "OUT"}},
		{large*5/2 + 40, 0, []string{"export", one, "OUT", "--format", "jsonl"}},
		{50, 0, []string{"export", boxes, "OUT", "--format", "coco"}},
		{20, 3, []string{"verify", zeros}},
		{20, 1, []string{"inspect", zeros}},
		{300, 3, []string{"verify", shards}},
		{20, 3, []string{"verify", index}},
		{20, 0, []string{"cat", "--shuffle", "global", index}},
		{20, 0, []string{"convert", "csv", blank, "OUT"}},
		{400, 1, []string{"convert", "csv", row, "OUT"}},
		{40, 1, []string{"convert", "images", photos, "OUT", "--labels", labels}},
	} {
		for i, a := range test.args {
			if a == "OUT" {
				test.args[i] = filepath.Join(t.TempDir(), "out")
			}
		}
		mb, code, said := peak(t, append(test.args, "--quiet")...)
		name := strings.ReplaceAll(fmt.Sprint(test.args), dir+"/", "")
		if code != test.code {
			t.Errorf("%s: exit %d, want %d: %s", name, code, test.code, said)
		} else if mb-base > test.most {
			t.Errorf("%s: %d MB; want %d at most", name, mb-base, test.most)
		} else {
			t.Logf("%s: %d MB of %d", name, mb-base, test.most)
		}
	}
}
