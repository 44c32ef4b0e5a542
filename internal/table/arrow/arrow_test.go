package arrow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/tabletest"
)

var open = tabletest.As(Open)

// record returns rows that are given as JSON.
func record(t testing.TB, schema *arrow.Schema, rows string) arrow.RecordBatch {
	t.Helper()
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// file and stream return record batches in either form.
func file(t testing.TB, o []ipc.Option, batches ...arrow.RecordBatch) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, append(o, ipc.WithSchema(batches[0].Schema()))...)
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, batches)
	return b.Bytes()
}

func stream(t testing.TB, o []ipc.Option, batches ...arrow.RecordBatch) []byte {
	t.Helper()
	var b bytes.Buffer
	writeAll(t, ipc.NewWriter(&b, append(o, ipc.WithSchema(batches[0].Schema()))...), batches)
	return b.Bytes()
}

func writeAll(t testing.TB, w interface {
	Write(arrow.RecordBatch) error
	Close() error
}, batches []arrow.RecordBatch) {
	t.Helper()
	for _, r := range batches {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

var (
	colors = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	point  = arrow.StructOf(field("x", arrow.PrimitiveTypes.Int32), field("y", arrow.PrimitiveTypes.Float64))
	schema = arrow.NewSchema([]arrow.Field{
		field("id", arrow.PrimitiveTypes.Int64), field("ok", arrow.FixedWidthTypes.Boolean), field("u", arrow.PrimitiveTypes.Uint64),
		field("day", arrow.FixedWidthTypes.Date32), field("price", &arrow.Decimal128Type{Precision: 9, Scale: 2}), field("color", colors),
		field("xs", arrow.ListOf(arrow.PrimitiveTypes.Float32)), field("pair", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16)),
		field("at", point), field("boxes", arrow.LargeListOf(point)), field("view", arrow.BinaryTypes.StringView), field("none", arrow.Null),
	}, nil)
)

const first = `[
	{"id": 1, "ok": true, "u": 7, "day": "2026-03-01", "price": "-12.75", "color": "red", "xs": [1.5, 2], "pair": [3, 4], "at": {"x": 5, "y": 0.5}, "boxes": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "view": "a view of more than 12 bytes"},
	{"id": 2, "xs": [], "at": {"x": 6}, "boxes": []},
	{"id": 3, "color": "blue", "xs": [1, null], "view": ""}]`

const second = `[{"id": 4, "color": "green", "u": 9223372036854775807, "pair": [5, 6]}]`

var wantRows = []string{
	`id=1 ok=1 u=7 day=20513 price=-12.75 color="red" xs=[1.5 2] pair=[3 4] at/x=5 at/y=0.5 boxes/x=[1 3] boxes/y=[2 4] view="a view of more than 12 bytes"`,
	`id=2 xs=[] at/x=6 boxes/x=[] boxes/y=[]`,
	`id=3 color="blue" view="" bad: column "xs": a null inside a list, which a feature cannot hold`,
	`id=4 u=9223372036854775807 color="green" pair=[5 6]`,
}

// forms are the same rows in every form of a file.
func forms(t testing.TB) map[string][]byte {
	a, b := record(t, schema, first), record(t, schema, second)
	all := record(t, schema, strings.TrimSuffix(first, "]")+","+strings.TrimPrefix(second, "["))
	return map[string][]byte{
		"file":   file(t, nil, all.NewSlice(0, 3), all.NewSlice(3, 4)), // which has one dictionary for a column
		"stream": stream(t, nil, a, b),
		"lz4":    stream(t, []ipc.Option{ipc.WithLZ4()}, a, b),
		"zstd":   stream(t, []ipc.Option{ipc.WithZstd(), ipc.WithDictionaryDeltas(true)}, a, b),
	}
}

func TestForms(t *testing.T) {
	for name, data := range forms(t) {
		t.Run(name, func(t *testing.T) {
			tab, rows := tabletest.Rows(t, open, tabletest.Write(t, "t.arrow", data), table.ScanOptions{Distinct: "color"})
			if diff := cmp.Diff(wantRows, rows); diff != "" {
				t.Error(diff)
			}
			if !cmp.Equal(tab.Distinct, []string{"blue", "green", "red"}) {
				t.Errorf("colors are %q", tab.Distinct)
			}
		})
	}
}

// Numbers beyond the range of a float make their rows bad, and no others; those of nulls do not
// matter. Columns that are not wanted may be anything.
// old returns a stream as Arrow before 0.15 wrote it, without continuation marks: the metadata, which
// the length before it covers, is padded to end at a multiple of 8.
func old(stream []byte) (b []byte) {
	for at := 0; at < len(stream); {
		n := int(binary.LittleEndian.Uint32(stream[at+4:]))
		if n == 0 {
			return append(b, 0, 0, 0, 0)
		}
		meta := stream[at+8 : at+8+n]
		e, err := parseEnvelope(meta)
		if err != nil {
			panic(err)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(n+4))
		b = append(append(b, meta...), 0, 0, 0, 0)
		at += 8 + n
		b = append(b, stream[at:at+int(e.body)]...)
		at += int(e.body)
	}
	return b
}

func TestOldStreams(t *testing.T) {
	r := little(t)
	data := stream(t, nil, r, r, r)
	for _, data := range [][]byte{data, old(data), file(t, nil, r)} {
		for n := range 17 {
			if got, want := Is(data[:n]), n >= 8 || n >= 6 && data[0] == 'A' || n >= 4 && data[0] == 0xff; got != want {
				t.Errorf("%q: %v", data[:n], got)
			}
		}
	}
	_, want := tabletest.Rows(t, open, tabletest.Write(t, "a.arrows", data), table.ScanOptions{})
	_, got := tabletest.Rows(t, open, tabletest.Write(t, "a.arrows", old(data)), table.ScanOptions{})
	if d := cmp.Diff(want, got); d != "" || len(got) == 0 {
		t.Error(d)
	}
	for _, text := range []string{"a,b,c,d\n1,2,3,4\n", "\x0c\x00\x00\x00abcdefgh", "\x10\x00\x00\x00\x10\x00\x00\x00", "\x14\x00\x00\x00\x00\x00\x00\x00\xf0\x11\x22\x33"} {
		if Is([]byte(text)) {
			t.Errorf("%q passes for Arrow", text)
		}
	}
}

func TestLostFloats(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		field("x", arrow.PrimitiveTypes.Float64), field("xs", arrow.ListOf(arrow.PrimitiveTypes.Float64)),
		field("m", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)), field("u", arrow.PrimitiveTypes.Uint64),
	}, nil)
	data := stream(t, nil, record(t, s, `[{"x": 1, "xs": [1, 2]}, {"x": 1e39, "u": 9223372036854775808}, {}, {"x": 2, "xs": [3, -1e39, 4]}, {"x": 5, "xs": []}]`))
	src, err := Open(t.Context(), tabletest.Write(t, "t.arrow", data))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := src.Scan(t.Context(), table.ScanOptions{Wanted: func(name string) bool { return name[0] == 'x' }})
	if err != nil {
		t.Fatal(err)
	}
	if c := tab.Columns[2]; c.Name != "m" || c.Unfit != "a map does not fit a feature" {
		t.Errorf("%+v", c)
	}
	var b table.Batch
	if err := src.Read(t.Context(), tab.Chunks[0], tab.Columns[:2], &b); err != nil {
		t.Fatal(err)
	}
	want := []table.BadRow{
		{Row: 1, Reason: `column "x": 1e+39 is outside of the range of a 32-bit float`},
		{Row: 3, Reason: `column "xs": -1e+39 is outside of the range of a 32-bit float`},
	}
	if diff := cmp.Diff(want, b.Bad); diff != "" {
		t.Error(diff)
	}
	if err := src.Read(t.Context(), tab.Chunks[0], tab.Columns[2:3], &b); err == nil || !strings.Contains(err.Error(), `column "m": a map`) {
		t.Error(err)
	}
}

// Large record batches are cut into chunks.
// Integers may be asked for as bytes, which are their digits, and then be beyond int64.
func TestIntegersAsText(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{field("u", arrow.PrimitiveTypes.Uint64), field("i", arrow.PrimitiveTypes.Int16),
		field("b", arrow.FixedWidthTypes.Boolean), field("l", arrow.ListOf(arrow.PrimitiveTypes.Uint64)), field("f", arrow.PrimitiveTypes.Float64)}, nil)
	data := stream(t, nil, record(t, schema, `[{"u": 18446744073709551615, "i": -3, "b": true, "l": [1, 9223372036854775808]}, {"u": 7, "l": [], "f": 0.5}]`))
	at := tabletest.Write(t, "a.arrow", data)
	kinds := map[string]table.Kind{"u": table.Bytes, "i": table.Bytes, "b": table.Bytes, "l": table.Bytes}
	tab, got := tabletest.Rows(t, open, at, table.ScanOptions{Kinds: kinds})
	if diff := cmp.Diff([]string{`u="18446744073709551615" i="-3" b="1" l=["1" "9223372036854775808"]`, `u="7" l=[] f=0.5`}, got); diff != "" || !tab.Columns[0].Text {
		t.Error(diff)
	}
	for want, kinds := range map[string]map[string]table.Kind{
		`column "u": row 0: 18446744073709551615 is above the largest int64; as bytes it is stored as text`: nil,
		"float values cannot be read as bytes": {"f": table.Bytes},
	} {
		src, err := Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := src.Scan(t.Context(), table.ScanOptions{Kinds: kinds}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestChunksAreBounded(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{field("b", arrow.BinaryTypes.Binary)}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 30 {
		b.Field(0).(*array.BinaryBuilder).Append(bytes.Repeat([]byte{byte(i)}, 1<<20))
	}
	tab, _ := tabletest.Rows(t, open, tabletest.Write(t, "t.arrow", stream(t, nil, b.NewRecordBatch())), table.ScanOptions{})
	if len(tab.Chunks) != 4 {
		t.Errorf("%d chunks of 30 MiB", len(tab.Chunks))
	}
}

func TestRefused(t *testing.T) {
	one := func(typ arrow.DataType, row string) []byte {
		s := arrow.NewSchema([]arrow.Field{field("huge", typ)}, nil)
		return stream(t, nil, record(t, s, `[{}, {"huge": `+row+`}]`))
	}
	whole := file(t, nil, record(t, schema, second))
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"unsigned", `column "huge": row 1: 9223372036854775813 is above`, one(arrow.PrimitiveTypes.Uint64, "9223372036854775813")},
		{"unsigned in a list", `column "huge": row 1: 9223372036854775813 is above`, one(arrow.ListOf(arrow.PrimitiveTypes.Uint64), "[1, 9223372036854775813]")},
		{"map", `column "huge": a map`, one(arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), "null")},
		{"list of lists", `column "huge": a list of lists`, one(arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int8)), "null")},
		{"Feather 1", "version 2", []byte("FEA1\x00\x00\x00\x00\x00\x00\x00\x00FEA1")},
		{"empty", "too few bytes", nil},
		{"truncated", "truncated", whole[:len(whole)-1]},
		{"metadata of 2 GiB", "at most", []byte("\xff\xff\xff\xff\xff\xff\xff\x7f")},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := tabletest.ReadAll(t.Context(), open, tabletest.Write(t, "t.arrow", c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// little is a small file with buffers of every kind.
func little(t testing.TB) arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{field("a", arrow.PrimitiveTypes.Int64), field("c", colors), field("l", arrow.ListOf(arrow.BinaryTypes.String))}, nil)
	return record(t, s, `[{"a": 1, "c": "x", "l": ["p", ""]}, {"c": "y"}, {"a": 3, "l": []}]`)
}

func TestDamaged(t *testing.T) {
	damaged := map[string][]byte{"file": file(t, nil, little(t)), "lz4": file(t, []ipc.Option{ipc.WithLZ4()}, little(t))}
	for name, data := range damaged {
		t.Run(name, func(t *testing.T) { tabletest.Damaged(t, open, data) })
	}
}

// What compressed buffers claim is not allocated: they are damaged, not large.
func TestClaimsCostNothing(t *testing.T) {
	data := stream(t, []ipc.Option{ipc.WithLZ4()}, little(t))
	at := tabletest.Write(t, "t.arrow", data)
	frame := bytes.Index(data, []byte("\x04\x22\x4d\x18")) // which the size is before
	binary.LittleEndian.PutUint64(data[frame-8:], 3<<30)
	claims := tabletest.Write(t, "t.arrow", data)
	if err := tabletest.ReadAll(t.Context(), open, at); err != nil {
		t.Error(err)
	}
	if err := tabletest.ReadAll(t.Context(), open, claims); err == nil || !strings.Contains(err.Error(), "cannot be 3221225472 uncompressed") {
		t.Error(err)
	}
}

// A stream has no footer: where it is cut between messages, it is a shorter one.
func TestTruncatedStream(t *testing.T) {
	data := stream(t, nil, little(t))
	whole := map[int]bool{}
	for at := 0; at < len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		if at += 8 + size; size == 0 {
			break
		}
		e, err := parseEnvelope(data[at-size : at])
		if err != nil {
			t.Fatal(err)
		}
		at += int(e.body)
		whole[at] = true
	}
	for n := range data {
		err := tabletest.ReadAll(t.Context(), open, tabletest.Write(t, "t.arrow", data[:n]))
		if (err == nil) != whole[n] && n < len(data)-8 {
			t.Errorf("%d bytes of %d: %v", n, len(data), err)
		}
	}
}

func FuzzArrow(f *testing.F) {
	tabletest.Fuzz(f, open, file(f, nil, little(f)), stream(f, []ipc.Option{ipc.WithZstd()}, little(f)), stream(f, nil, record(f, schema, first)))
}

func BenchmarkRead(b *testing.B) {
	s := arrow.NewSchema([]arrow.Field{
		field("id", arrow.PrimitiveTypes.Int64), field("x", arrow.PrimitiveTypes.Float64), field("label", colors),
		field("text", arrow.BinaryTypes.String), field("v", arrow.ListOf(arrow.PrimitiveTypes.Float32)),
	}, nil)
	var rows strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&rows, `{"id": %d, "x": %v, "label": "%s", "text": "row %d of the table", "v": [1, 2, 3, %d]}`, i, float64(i)/3, []string{"cat", "dog", "fish"}[i%3], i, i)
	}
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(rows.String()), array.WithMultipleDocs())
	if err != nil {
		b.Fatal(err)
	}
	tabletest.Benchmark(b, open, stream(b, nil, r, r, r, r, r, r, r, r, r, r))
}
