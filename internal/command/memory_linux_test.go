//go:build !race

package command

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
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

	field := func(tag byte, body []byte) []byte {
		return append(binary.AppendUvarint([]byte{tag}, uint64(len(body))), body...)
	}
	const large = 96
	// The inputs by the names that the arguments have for them. Making them takes as long as reading.
	inputs := map[string]func() string{
		"SAME": func() string {
			return made(t, dir, "same.tfrecord", repeated(example(func(b *tfrecord.Builder) { b.String("k", "same") }), 500_000))
		},
		"EMPTY": func() string {
			return made(t, dir, "empty.tfrecord.gz", repeated(tfrecord.AppendFrame(nil, nil), 2_000_000))
		},
		"VALUES": func() string {
			return made(t, dir, "values.tfrecord", once(example(func(b *tfrecord.Builder) { b.Bytes("k", make([][]byte, 4_000_000)...) })))
		},
		"STEPS": func() string { // a SequenceExample of one list of eight million steps
			return made(t, dir, "steps.tfrecord", once(tfrecord.AppendFrame(nil,
				field(0x12, field(0x0a, append(field(0x0a, []byte("k")), field(0x12, []byte(strings.Repeat("\x0a\x00", 8_000_000)))...))))))
		},
		"LARGE": func() string {
			return made(t, dir, "large.tfrecord.gz", once(example(func(b *tfrecord.Builder) { b.Bytes("k", make([]byte, large<<20)) })))
		},
		"BOXES": func() string { // a million in a thousand images: 100 MB of JSON
			return made(t, dir, "boxes.tfrecord", repeated(example(func(b *tfrecord.Builder) {
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
		},
		"ZEROS": func() string {
			zeros := filepath.Dir(sparse(t, filepath.Join(dir, "zeros", "manifest.json"), 500<<20))
			made(t, zeros, "x.tfrecord", once(nil))
			return zeros
		},
		"SHARDS": func() string {
			shards := filepath.Join(dir, "shards")
			if err := os.Mkdir(shards, 0o755); err != nil {
				t.Fatal(err)
			}
			made(t, shards, "x.tfrecord", once(nil))
			made(t, shards, "manifest.json", once([]byte(`{"format":"tfrec.manifest","version":1,"splits":[{"shards":[`+strings.Repeat(`{"file":"a"},`, 5_000_000)+`{}]}]}`)))
			return shards
		},
		"INDEX": func() string {
			sparse(t, filepath.Join(dir, "index", "x.tfrecord.idx"), 1<<30)
			return made(t, dir, "x.tfrecord", once(tfrecord.AppendFrame(nil, nil)))
		},
		"BLANK": func() string {
			return made(t, dir, "blank.csv", once([]byte(strings.Repeat("\n", 600_000)+"a,b\n1,2\n")))
		},
		"ROW":    func() string { return made(t, dir, "row.csv.gz", once([]byte("a,b\n"+strings.Repeat("x", 300<<20)))) },
		"LABELS": func() string { return sparse(t, filepath.Join(dir, "labels.csv"), 900<<20) },
		"PHOTOS": func() string { return filepath.Join(demo(), "photos") },
	}
	for name, input := range inputs {
		inputs[name] = sync.OnceValue(input)
	}

	base, _, _ := peak(t, "version")
	type run struct {
		most, code int
		args       string
	}
	for _, test := range torture.Sample(t, 6, []run{
		{50, 0, "dedupe SAME OUT --memory 8MB"},
		{50, 0, "dedupe SAME OUT --memory 8MB --by k"},
		{80, 0, "dedupe EMPTY OUT --memory 8MB"},
		{80, 0, "reshard EMPTY OUT --memory 8MB --shuffle"},
		{50, 0, "verify --deep --memory 8MB SAME"},
		{80, 0, "verify --deep --memory 8MB EMPTY"},
		{50, 3, "diff --unordered --memory 8MB SAME EMPTY"},
		{50, 0, "inspect VALUES"},
		{50, 0, "stats VALUES"},
		{50, 0, "cat VALUES"},
		{50, 0, "cat --format json VALUES"},
		{50, 0, "cat --format proto VALUES"},
		{80, 0, "verify --deep VALUES"},
		{50, 0, "dedupe VALUES OUT --by k"},
		{250, 0, "inspect STEPS"},
		{250, 0, "verify --deep STEPS"},
		{large * 3 / 2, 0, "verify LARGE"},
		{large * 3 / 2, 0, "verify --deep LARGE"},
		{large * 3 / 2, 0, "inspect LARGE"},
		{large * 3 / 2, 0, "stats LARGE"},
		{large*5/2 + 40, 0, "cat LARGE"},
		{large*5/2 + 40, 0, "cat --format hex LARGE"},
		{large*5/2 + 40, 0, "reshard LARGE OUT"},
		{large*5/2 + 40, 0, "dedupe LARGE OUT"},
		{large*5/2 + 40, 0, "export LARGE OUT --format jsonl"},
		{50, 0, "export BOXES OUT --format coco"},
		{20, 3, "verify ZEROS"},
		{20, 1, "inspect ZEROS"},
		{300, 3, "verify SHARDS"},
		{20, 3, "verify INDEX"},
		{20, 0, "cat --shuffle global INDEX"},
		{20, 0, "convert csv BLANK OUT"},
		{400, 1, "convert csv ROW OUT"},
		{40, 1, "convert images PHOTOS OUT --labels LABELS"},
	}) {
		args := strings.Fields(test.args)
		for i, a := range args {
			if input := inputs[a]; input != nil {
				args[i] = input()
			} else if a == "OUT" {
				args[i] = filepath.Join(t.TempDir(), "out")
			}
		}
		mb, code, said := peak(t, append(args, "--quiet")...)
		if code != test.code {
			t.Errorf("%s: exit %d, want %d: %s", test.args, code, test.code, said)
		} else if mb-base > test.most {
			t.Errorf("%s: %d MB; want %d at most", test.args, mb-base, test.most)
		} else {
			t.Logf("%s: %d MB of %d", test.args, mb-base, test.most)
		}
	}
}
