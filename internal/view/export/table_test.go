package export

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/tfrec/tfrec/internal/dev/exporttest"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// mixed are three records with each kind of column.
func mixed(t *testing.T) string {
	t.Helper()
	return exporttest.WriteRecords(t, "mixed.tfrecord",
		func(b *tfrecord.Builder) {
			b.Int64("id", 1)
			b.Float("x", 0.1)
			b.String("text", "a,\"b\"\n")
			b.String("blob", "\xff\x00")
			b.Int64("list", 1, 2)
			b.String("maybe", "")
		},
		func(b *tfrecord.Builder) {
			b.Int64("id", math.MinInt64)
			b.Float("x", float32(math.NaN()))
			b.String("text", "<é>")
			b.String("blob", "\xfe")
			b.Int64("list")
		},
		func(b *tfrecord.Builder) {
			b.Int64("id", 3)
			b.Float("x", float32(math.Inf(-1)))
			b.String("text", "c")
			b.String("blob", "")
			b.Int64("list", 7)
			b.String("maybe", "m")
		})
}

func exported(t *testing.T, format spec.Format, in string) string {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	report, err := exportTo(t, out, spec.Options{Format: format}, in)
	if err != nil {
		t.Fatal(err)
	}
	exporttest.WantOnly(t, dir, "out")
	data, err := os.ReadFile(out)
	if err != nil || report.Files != 1 || report.Bytes != int64(len(data)) {
		t.Fatalf("%+v, %v", report, err)
	}
	return string(data)
}

func TestCSV(t *testing.T) {
	want := "blob.base64,id,list,maybe,text,x\n" +
		"/wA=,1,\"[1,2]\",\"[\"\"\"\"]\",\"a,\"\"b\"\"\n\",0.1\n" +
		"/g==,-9223372036854775808,[],,<é>,NaN\n" +
		",3,[7],\"[\"\"m\"\"]\",c,-Infinity\n"
	got := exported(t, spec.CSV, mixed(t))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if rows, err := csv.NewReader(strings.NewReader(got)).ReadAll(); err != nil || len(rows) != 4 {
		t.Errorf("%q, %v", rows, err)
	}
}

// TestSafeCSV exports random text: no cell of text begins as a formula does, and what is changed is
// only an apostrophe before it.
func TestSafeCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	var texts []string
	var builds []exporttest.Build
	for i := range 200 {
		text := []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "'", "a", ""}[rng.IntN(11)] + []string{"1+1", "x", "=2", ""}[rng.IntN(4)]
		if rng.IntN(5) == 0 {
			text = ""
		}
		texts = append(texts, text)
		builds = append(builds, func(b *tfrecord.Builder) {
			b.Int64("-id", int64(i)-100)
			b.String("=text", text)
			b.Bytes("raw", []byte{0xfb, byte(i), 0xff}) // "+..." in base64
		})
	}
	for _, safe := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := exportTo(t, out, spec.Options{Format: spec.CSV, Safe: safe}, exporttest.WriteRecords(t, "x", builds...)); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil || len(rows) != len(texts)+1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		mark := ""
		if safe {
			mark = "'"
		}
		if want := []string{mark + "-id", mark + "=text", "raw.base64"}; !slices.Equal(rows[0], want) {
			t.Errorf("%q, want %q", rows[0], want)
		}
		for i, text := range texts {
			if r, _ := utf8.DecodeRuneInString(text); safe && text != "" && strings.ContainsRune("=+-@\t\r\n＝", r) {
				text = "'" + text
			}
			if row := rows[i+1]; row[0] != strconv.Itoa(i-100) || row[1] != strings.ReplaceAll(text, "\r\n", "\n") || !strings.HasPrefix(row[2], mark+"+") {
				t.Errorf("row %d: %q, want %q", i, row, text)
			}
		}
	}
}

func TestJSONL(t *testing.T) {
	want := `{"blob.base64":"/wA=","id":1,"list":[1,2],"maybe":"","text":"a,\"b\"\n","x":0.1}
{"blob.base64":"/g==","id":-9223372036854775808,"list":[],"text":"<é>","x":"NaN"}
{"blob.base64":"","id":3,"list":[7],"maybe":"m","text":"c","x":"-Infinity"}
`
	if got := exported(t, spec.JSONL, mixed(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParquetIsReadBack(t *testing.T) {
	data := exported(t, spec.Parquet, mixed(t))
	type mixedRow struct {
		Blob  []byte  `parquet:"blob"`
		ID    int64   `parquet:"id"`
		List  []int64 `parquet:"list,list"`
		Maybe *string `parquet:"maybe,optional"`
		Text  string  `parquet:"text"`
		X     float32 `parquet:"x"`
	}
	rows, err := parquet.Read[mixedRow](strings.NewReader(data), int64(len(data)))
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	a, b, c := rows[0], rows[1], rows[2]
	if string(a.Blob) != "\xff\x00" || a.ID != 1 || len(a.List) != 2 || a.List[1] != 2 || a.Maybe == nil || *a.Maybe != "" || a.X != 0.1 {
		t.Errorf("%+v", a)
	}
	if b.ID != math.MinInt64 || len(b.List) != 0 || b.Maybe != nil || b.Text != "<é>" || b.X == b.X {
		t.Errorf("%+v", b)
	}
	if len(c.Blob) != 0 || len(c.List) != 1 || c.Maybe == nil || *c.Maybe != "m" || !math.IsInf(float64(c.X), -1) {
		t.Errorf("%+v", c)
	}
}

// TestParquetHoldsBlobsOnce: bounds of pages would hold them several times over.
func TestParquetHoldsBlobsOnce(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	var records []exporttest.Build
	size := 0
	for range 100 {
		blob := make([]byte, 20_000)
		random.Read(blob)
		size += 3 * len(blob)
		records = append(records, func(b *tfrecord.Builder) {
			b.Bytes("one", blob)
			b.Bytes("two", blob[:10_000], blob[10_000:])
			b.String("text", hex.EncodeToString(blob[:10_000])) // Snappy does not make it shorter
		})
	}
	if got := len(exported(t, spec.Parquet, exporttest.WriteRecords(t, "x", records...))); got > size*102/100 {
		t.Errorf("%d bytes of values became a file of %d", size, got)
	}
}

func TestNPZ(t *testing.T) {
	data := exported(t, spec.NPZ, mixed(t))
	z, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ header, elements string }{
		"blob.values.npy":      {"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\xff\x00\xfe"},
		"blob.row_splits.npy":  {"{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", string(appendInts(0, 2, 3, 3))},
		"id.npy":               {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", string(appendInts(1, math.MinInt64, 3))},
		"list.values.npy":      {"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", string(appendInts(1, 2, 7))},
		"list.row_splits.npy":  {"{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", string(appendInts(0, 2, 2, 3))},
		"maybe.values.npy":     {"{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", "\x00\x00\x00\x00m\x00\x00\x00"},
		"maybe.row_splits.npy": {"{'descr': '<i8', 'fortran_order': False, 'shape': (4,), }", string(appendInts(0, 1, 1, 2))},
		"maybe.present.npy":    {"{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\x01\x00\x01"},
		"text.npy":             {"{'descr': '<U6', 'fortran_order': False, 'shape': (3,), }", ""},
		"x.npy":                {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", ""},
	}
	if len(z.File) != len(want) {
		t.Errorf("%d arrays, want %d", len(z.File), len(want))
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := want[f.Name]
		if !ok || len(b) < 128 || string(b[:8]) != "\x93NUMPY\x01\x00" || strings.TrimRight(string(b[10:128]), " \n") != w.header {
			t.Errorf("%s begins with %q", f.Name, b[:min(len(b), 128)])
		} else if w.elements != "" && string(b[128:]) != w.elements {
			t.Errorf("%s holds %q, want %q", f.Name, b[128:], w.elements)
		}
	}
}

func appendInts(list ...int64) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// TestNPZKeysAreNoWayOut: unpacking the zip writes nothing outside its directory.
func TestNPZKeysAreNoWayOut(t *testing.T) {
	in := exporttest.WriteRecords(t, "x", func(b *tfrecord.Builder) {
		b.Int64("../../up", 1)
		b.Int64("/etc/x", 1)
		b.Int64(`..\back`, 1)
	})
	data := exported(t, spec.NPZ, in)
	z, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err) // also an insecure path
	}
	for _, f := range z.File {
		if !filepath.IsLocal(f.Name) || strings.Contains(f.Name, `\`) || strings.Contains(f.Name, "../") {
			t.Errorf("an array named %q", f.Name)
		}
	}
}

func TestTablesRefuse(t *testing.T) {
	many := func(b *tfrecord.Builder) {
		for i := range 4097 {
			b.Int64(strings.Repeat("k", i+1), 1)
		}
	}
	for _, c := range []struct {
		name, says string
		format     spec.Format
		records    []exporttest.Build
	}{
		{"two kinds", "record 1: its feature x is of kind float", spec.CSV, []exporttest.Build{
			func(b *tfrecord.Builder) { b.Int64("x", 1) }, func(b *tfrecord.Builder) { b.Float("x", 1) }}},
		{"numbers under a name for bytes", "x.base64 has numbers", spec.JSONL, []exporttest.Build{func(b *tfrecord.Builder) { b.Float("x.base64", 1) }}},
		{"two columns of a name", "x.base64", spec.JSONL, []exporttest.Build{func(b *tfrecord.Builder) { b.String("x", "\xff"); b.Int64("x.base64", 1) }}},
		{"two arrays of a name", "x.values", spec.NPZ, []exporttest.Build{
			func(b *tfrecord.Builder) { b.Int64("x.values", 1) }, func(b *tfrecord.Builder) { b.Int64("x.values", 1); b.Int64("x", 1, 2) }}},
		{"no features", "nothing to export", spec.Parquet, []exporttest.Build{func(b *tfrecord.Builder) {}}},
		{"too many features", "features select", spec.NPZ, []exporttest.Build{many}},
		{"no records", "no TFRecord files", spec.CSV, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := exportTo(t, filepath.Join(dir, "out"), spec.Options{Format: c.format}, exporttest.WriteRecords(t, "x", c.records...))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
			exporttest.WantOnly(t, dir)
		})
	}
}

// TestJSONLOfLongValues exports values that are written piece by piece: text of many
// alphabets that is cut anywhere, bytes, and long lists.
func TestJSONLOfLongValues(t *testing.T) {
	race.Skip(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		var text strings.Builder
		for size := rng.IntN(600_000); text.Len() < size; {
			text.WriteString([]string{"a", "é", "虫", "🐞", "\"", "\x00", "\u2028", "<"}[rng.IntN(8)])
		}
		blob := make([]byte, rng.IntN(600_000))
		for i := range blob {
			blob[i] = byte(rng.Uint32()) | 0x80
		}
		blob = append(blob, 0xff)
		ints := make([]int64, 2+rng.IntN(200_000))
		for i := range ints {
			ints[i] = rng.Int64()
		}
		in := exporttest.WriteRecords(t, "long.tfrecord", func(b *tfrecord.Builder) {
			b.String("text", text.String())
			b.Bytes("blob", blob)
			b.Int64("ints", ints...)
		})
		want, err := json.Marshal(map[string]any{"blob.base64": blob, "ints": ints, "text": text.String()})
		if err != nil {
			t.Fatal(err)
		}
		var got, same any
		if err := json.Unmarshal([]byte(exported(t, spec.JSONL, in)), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(want, &same); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, same) {
			t.Errorf("%d bytes of text, %d bytes and %d numbers came out as others", text.Len(), len(blob), len(ints))
		}
	}
}
