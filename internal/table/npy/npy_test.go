package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/tabletest"
)

// npyOf returns an array of NumPy with elements as they are given, little-endian.
func npyOf(descr, shape string, elements any) []byte {
	return withHeader(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape), elements)
}

func withHeader(header string, elements any) []byte {
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)+1))
	b = append(append(b, header...), '\n')
	if elements != nil {
		b, _ = binary.Append(b, binary.LittleEndian, elements)
	}
	return b
}

// npzOf returns a zip of arrays: name, array, name, array ...
func npzOf(t testing.TB, method uint16, comment string, arrays ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.SetComment(comment)
	for i := 0; i < len(arrays); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: arrays[i].(string) + suffix, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(arrays[i+1].([]byte))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var open = tabletest.As(Open)

// exported are the arrays that export makes of features that differ between records.
func exported(t testing.TB, method uint16, comment string) []byte {
	return npzOf(t, method, comment,
		"id", npyOf("<i8", "(3,)", []int64{1, 2, 3}),
		"v", npyOf("<f4", "(3, 2)", []float32{1, 2, 3, 4, 5, 6}),
		"same", npyOf("|u1", "(3, 2)", []byte("aabbcc")),
		"some.values", npyOf("<i8", "(3,)", []int64{7, 8, 9}),
		"some.row_splits", npyOf("<i8", "(4,)", []int64{0, 1, 1, 3}),
		"some.present", npyOf("|b1", "(3,)", []byte{1, 0, 1}),
		"blob.values", npyOf("|u1", "(3,)", []byte("xyz")),
		"blob.row_splits", npyOf("<i8", "(4,)", []int64{0, 1, 1, 3}),
		"blobs.values", npyOf("|u1", "(4,)", []byte("pqrs")),
		"blobs.value_splits", npyOf("<i8", "(4,)", []int64{0, 1, 1, 4}),
		"blobs.row_splits", npyOf("<i8", "(4,)", []int64{0, 2, 2, 3}),
		"t.values", npyOf("<U2", "(2,)", []uint32{'h', 'i', 0xe9, 0}),
		"t.row_splits", npyOf("<i8", "(4,)", []int64{0, 1, 2, 2}))
}

func TestExportIsReadBack(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		_, rows := tabletest.Rows(t, open, tabletest.Write(t, "t.npz", exported(t, method, ExportComment)), table.ScanOptions{})
		want := []string{
			`blob="x" blobs=["p" ""] id=1 same="aa" some=[7] t=["hi"] v=[1 2]`,
			`blob="" blobs=[] id=2 same="bb" t=["é"] v=[3 4]`,
			`blob="yz" blobs=["qrs"] id=3 same="cc" some=[8 9] t=[] v=[5 6]`,
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Error(diff)
		}
	}
}

// Without the comment of export, bytes with two axes are numbers, unless the caller knows better.
func TestBytesOfOthersAreNumbers(t *testing.T) {
	at := tabletest.Write(t, "t.npz", npzOf(t, zip.Store, "", "a", npyOf("|u1", "(2, 2)", []byte("abcd"))))
	for _, c := range []struct {
		kinds map[string]table.Kind
		want  string
	}{
		{nil, "a=[97 98]"},
		{map[string]table.Kind{"a": table.Bytes}, `a="ab"`},
		{map[string]table.Kind{"a": table.Float}, "a=[97 98]"},
	} {
		if _, rows := tabletest.Rows(t, open, at, table.ScanOptions{Kinds: c.kinds}); rows[0] != c.want {
			t.Errorf("%v: %s, want %s", c.kinds, rows[0], c.want)
		}
	}
}

func TestBadArrays(t *testing.T) {
	one := npyOf("<i8", "(1,)", []int64{1})
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"objects", npyOf("|O", "(1,)", []byte{1}), "pickle"},
		{"structured", withHeader("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", nil), "structured"},
		{"scalar", npyOf("<i8", "()", []int64{1}), "without axes"},
		{"complex", npyOf("<c8", "(1,)", []int64{1}), `type "<c8"`},
		{"petabytes", npyOf("<i8", "(1125899906842624,)", []int64{1}), "bytes after the header"},
		{"overflow", npyOf("<i8", "(4294967296, 4294967296)", nil), "does not fit 64 bits"},
		{"negative", npyOf("<i8", "(-1,)", nil), "not as NumPy writes it"},
		{"expression", withHeader("__import__('os').system('ls')", nil), "not as NumPy writes it"},
		{"surrogate", npyOf("<U1", "(1,)", []uint32{0xd800}), "not a character"},
		{"unsigned", npyOf("<u8", "(3,)", []uint64{1, 2, 1<<63 + 5}), `row 2: 9223372036854775813 is above`},
		{"rows", npzOf(t, zip.Store, "", "a", one, "b", npyOf("<i8", "(2,)", []int64{1, 2})), `"b" has 2 rows, but "a" has 1`},
		{"twice", npzOf(t, zip.Store, "", "a", one, "a", one), "two arrays"},
		{"readme", npzOf(t, zip.Store, "", "a", []byte("text, not numbers")), "not an array"},
		{"splits", npzOf(t, zip.Store, "", "a.values", one, "a.row_splits", npyOf("<i8", "(3,)", []int64{0, 2, 1})), "split 1 is 2"},
		{"rows of nothing", npyOf("<i8", "(1125899906842624, 0)", nil), "chunks"},
		{"bomb", npzOf(t, zip.Deflate, "", "a", npyOf("<i8", "(1000000000000,)", make([]int64, 1000))), "has 8000000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := tabletest.ReadAll(t.Context(), open, tabletest.Write(t, "a.npy", c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// Values that do not fit make their rows bad, and no others.
func TestLostValues(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want []string
	}{
		"float": {npyOf("<f8", "(4,)", []float64{1, 1e300, math.Inf(1), -3.5e38}), []string{"", "1e+300 is outside of the range", "", "-3.5e+38 is outside"}},
		"lists": {npyOf("<f8", "(3, 2)", []float64{1, 2, 3, 1e39, 5, 6}), []string{"", "1e+39 is outside", ""}},
		"time":  {npyOf("<M8[s]", "(3,)", []int64{0, math.MinInt64, 7}), []string{"", "NaT", ""}},
		"int":   {npyOf("<i8", "(2,)", []int64{0, math.MinInt64}), []string{"", ""}},
	} {
		_, rows := tabletest.Rows(t, open, tabletest.Write(t, "a.npy", c.data), table.ScanOptions{})
		for i, want := range c.want {
			if bad := strings.Contains(rows[i], " bad: "); bad != (want != "") || !strings.Contains(rows[i], want) {
				t.Errorf("%s: row %d: %s, want %q", name, i, rows[i], want)
			}
		}
	}
}

func TestDamagedArrays(t *testing.T) {
	race.Skip(t)
	tabletest.Damaged(t, open, npyOf("<u8", "(2, 2)", []int64{1, 2, 3, 4}))
	tabletest.Damaged(t, open, exported(t, zip.Deflate, ""))
}

func TestChanged(t *testing.T) {
	at := tabletest.Write(t, "a.npy", npyOf("<i8", "(1,)", []int64{1}))
	src, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := src.Scan(t.Context(), table.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at.Path(), npyOf("<i8", "(2,)", []int64{1, 2}), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := src.Read(t.Context(), tab.Chunks[0], tab.Columns, new(table.Batch)); !errors.Is(err, table.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
}

func FuzzArrays(f *testing.F) {
	tabletest.Fuzz(f, open, npyOf("<u8", "(2, 2)", []int64{1, 2, 3, 4}), exported(f, zip.Deflate, ""), exported(f, zip.Store, ExportComment),
		withHeader("{'descr': '>f2', 'fortran_order': True, 'shape': (2, 2), }", []uint16{1, 2, 3, 4}))
}

func BenchmarkRead(b *testing.B) {
	const n = 100_000
	tabletest.Benchmark(b, open, npzOf(b, zip.Store, "",
		"id", npyOf("<i8", "(100000,)", make([]int64, n)), "v", npyOf("<f4", "(100000, 8)", make([]float32, 8*n)), "t", npyOf("<U8", "(100000,)", make([]uint32, 8*n))))
}

// TestShapes gives arrays of random shapes: rows of more than one dimension have theirs.
func TestShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	for range 50 {
		shape, product := []int{1 + rng.IntN(3)}, 1
		for range rng.IntN(4) {
			n := rng.IntN(4)
			shape, product = append(shape, n), product*n
		}
		text := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ") + ","
		tab, _ := tabletest.Rows(t, open, tabletest.Write(t, "a.npy", npyOf("<i8", "("+text+")", make([]int64, shape[0]*product))), table.ScanOptions{})
		want := table.Column{Name: "a", Kind: table.Int64, List: len(shape) > 1, Length: product, Wide: true}
		if len(shape) > 2 && product > 0 {
			want.Shape = shape[1:]
		}
		if !cmp.Equal(tab.Columns, []table.Column{want}) {
			t.Errorf("%v: %+v, want %+v", shape, tab.Columns, want)
		}
	}
}
