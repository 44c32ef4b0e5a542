package columns

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// parse parses records with a new parser into new columns.
func parse(t testing.TB, s Schema, records ...[]byte) (*Columns, error) {
	t.Helper()
	p, err := NewParser(s)
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	return &c, p.Parse(&c, records)
}

func TestParseColumns(t *testing.T) {
	schema := Schema{
		{Key: "id", Kind: tfrecord.KindInt64},
		{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{2, 2}, Default: float32(7)},
		{Key: "name", Kind: tfrecord.KindBytes, Default: "none"},
		{Key: "words", Kind: tfrecord.KindBytes, Ragged: true},
		{Key: "marks", Kind: tfrecord.KindInt64, Ragged: true},
	}
	got, err := parse(t, schema,
		settest.Example(func(b *tfrecord.Builder) {
			b.Int64("id", -1)
			b.Float("v", 1, 2, 3, 4)
			b.String("name", "x")
			b.String("words", "a", "", "bc")
			b.Int64("marks", 1, math.MaxInt64, math.MinInt64)
			b.Int64("other", 5)
		}),
		settest.Example(func(b *tfrecord.Builder) { b.Int64("id", 300) }),
		settest.Example(func(b *tfrecord.Builder) {
			b.Int64("id", 0)
			b.Float("v", 5, 6, 7, 8)
			b.String("words")
			b.Int64("marks", 9)
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := &Columns{Rows: 3, Columns: []Column{
		{Key: "id", Kind: tfrecord.KindInt64, Shape: []int{3}, Int64s: []int64{-1, 300, 0}},
		{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{3, 2, 2}, Floats: []float32{1, 2, 3, 4, 7, 7, 7, 7, 5, 6, 7, 8}},
		{Key: "name", Kind: tfrecord.KindBytes, Shape: []int{3}, Bytes: []byte("xnonenone"), Offsets: []int64{0, 1, 5, 9}},
		{Key: "words", Kind: tfrecord.KindBytes, Shape: []int{3, -1}, Bytes: []byte("abc"), Offsets: []int64{0, 1, 1, 3}, Splits: []int64{0, 3, 3, 3}},
		{Key: "marks", Kind: tfrecord.KindInt64, Shape: []int{3, -1}, Int64s: []int64{1, math.MaxInt64, math.MinInt64, 9}, Splits: []int64{0, 3, 3, 4}},
	}}
	if diff := diffColumns(want, got); diff != "" {
		t.Error(diff)
	}
	words := got.Get("words")
	if from, to := words.Row(0); from != 0 || to != 3 || string(words.Value(2)) != "bc" || words.Len() != 3 {
		t.Errorf("row 0 of words is %d to %d of %d, value 2 %q", from, to, words.Len(), words.Value(2))
	}
	if from, to := got.Get("v").Row(2); from != 8 || to != 12 {
		t.Errorf("row 2 of v is %d to %d", from, to)
	}
	if got.Get("other") != nil {
		t.Error("a column that the schema does not name")
	}
}

// diffColumns compares the visible content of columns.
func diffColumns(want, got *Columns) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Column{}),
		cmp.Transformer("empty", func(v []int64) []int64 { return append([]int64{}, v...) }),
		cmp.Comparer(func(a, b []float32) bool {
			if len(a) != len(b) {
				return false
			}
			for i := range a {
				if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
					return false
				}
			}
			return true
		}),
		cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) }))
}

// message is protobuf wire format, for forms that no Builder writes.
type message []byte

func (m message) field(number protowire.Number, content []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), content)
}

func entry(key string, feature message) message {
	return message(nil).field(1, message(nil).field(1, []byte(key)).field(2, feature))
}

func ints(packed ...byte) message { return message(nil).field(3, message(nil).field(1, packed)) }

func TestParseColumnsOfUnusualForm(t *testing.T) {
	unpacked := message(nil).field(3, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 4))
	cases := map[string]struct {
		record message
		want   []int64 // of the ragged feature a
	}{
		"repeated key":           {message(nil).field(1, append(entry("a", ints(1, 2)), entry("a", ints(3))...)), []int64{3}},
		"repeated, last unset":   {message(nil).field(1, append(entry("a", ints(1, 2)), entry("a", nil)...)), nil},
		"repeated, first wrong":  {message(nil).field(1, append(entry("a", message(nil).field(2, nil)), entry("a", ints(3))...)), []int64{3}},
		"unpacked":               {message(nil).field(1, entry("a", unpacked)), []int64{4}},
		"two lists":              {message(nil).field(1, entry("a", append(ints(1), ints(2)...))), []int64{1, 2}},
		"two Features":           {message(nil).field(1, entry("b", ints(1))).field(1, entry("a", ints(2))), []int64{2}},
		"value before key":       {message(nil).field(1, message(nil).field(1, message(nil).field(2, ints(6)).field(1, []byte("a")))), []int64{6}},
		"no value":               {message(nil).field(1, message(nil).field(1, message(nil).field(1, []byte("a")))), nil},
		"unknown fields":         {message(nil).field(9, []byte("?")).field(1, entry("a", ints(1)).field(7, nil)), []int64{1}},
		"empty list":             {message(nil).field(1, entry("a", message(nil).field(3, nil))), nil},
		"empty packed":           {message(nil).field(1, entry("a", ints())), nil},
		"no Features":            {nil, nil},
		"empty Features":         {message(nil).field(1, nil), nil},
		"key of no bytes":        {message(nil).field(1, append(entry("", ints(9)), entry("a", ints(1))...)), []int64{1}},
		"long varints of length": {message(nil).field(1, entry("a", ints(make([]byte, 300)...))), make([]int64, 300)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(t, Schema{{Key: "a", Kind: tfrecord.KindInt64, Ragged: true}}, c.record)
			if err != nil {
				t.Fatal(err)
			}
			want := &Columns{Rows: 1, Columns: []Column{{Key: "a", Kind: tfrecord.KindInt64, Shape: []int{1, -1}, Int64s: c.want, Splits: []int64{0, int64(len(c.want))}}}}
			if diff := diffColumns(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseColumnsRefuses(t *testing.T) {
	good := settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1, 2); b.String("s", "x") })
	schema := Schema{{Key: "a", Kind: tfrecord.KindInt64, Shape: []int{2}}, {Key: "s", Kind: tfrecord.KindBytes}}
	cases := map[string]struct {
		record []byte
		says   string
	}{
		"missing":       {settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1, 2) }), `feature "s": missing`},
		"kind":          {settest.Example(func(b *tfrecord.Builder) { b.Float("a", 1, 2); b.String("s", "x") }), `feature "a": its values are float; the schema wants int64`},
		"too few":       {settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1); b.String("s", "x") }), `feature "a": 1 value; the schema wants 2`},
		"too many":      {settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1, 2); b.String("s", "x", "y") }), `feature "s": 2 values`},
		"none in list":  {settest.Example(func(b *tfrecord.Builder) { b.Int64("a"); b.String("s", "x") }), `feature "a": 0 values`},
		"cut off":       {good[:len(good)-1], "malformed"},
		"no Example":    {[]byte("hello"), "malformed"},
		"varint":        {message(nil).field(1, entry("a", ints(1, 0x80))), "malformed"},
		"surplus bytes": {append(good[:len(good):len(good)], 0xff), "malformed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(t, schema, good, c.record, good)
			var row *RowError
			var located *tfrecord.Error
			if !errors.As(err, &row) || row.Row != 1 || !errors.As(err, &located) || located.Part != tfrecord.PartParse || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v; want row 1 and %q", err, c.says)
			}
			want, err := parse(t, schema, good)
			if err != nil {
				t.Fatal(err)
			}
			if diff := diffColumns(want, got); diff != "" {
				t.Errorf("the row before it is not alone:\n%s", diff)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	cases := map[string]Schema{
		"no field":   nil,
		"twice":      {{Key: "a", Kind: tfrecord.KindInt64}, {Key: "a", Kind: tfrecord.KindInt64}},
		"kind":       {{Key: "a"}},
		"ragged":     {{Key: "a", Kind: tfrecord.KindInt64, Ragged: true, Shape: []int{1}}},
		"defaults":   {{Key: "a", Kind: tfrecord.KindInt64, Ragged: true, Default: 1}},
		"side":       {{Key: "a", Kind: tfrecord.KindInt64, Shape: []int{2, 0}}},
		"overflow":   {{Key: "a", Kind: tfrecord.KindInt64, Shape: []int{1 << 20, 1 << 20, 1 << 20, 1 << 20}}},
		"other kind": {{Key: "a", Kind: tfrecord.KindInt64, Default: "x"}},
		"length":     {{Key: "a", Kind: tfrecord.KindInt64, Shape: []int{3}, Default: []int64{1, 2}}},
		"odd type":   {{Key: "a", Kind: tfrecord.KindInt64, Default: struct{}{}}},
	}
	for name, s := range cases {
		if _, err := NewParser(s); err == nil || !strings.HasPrefix(err.Error(), "schema: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInferSchema(t *testing.T) {
	a := settest.Example(func(b *tfrecord.Builder) {
		b.Int64("label", 1)
		b.Float("v", 1, 2)
		b.String("words", "x", "y")
		b.Int64("some", 1)
	})
	b := settest.Example(func(b *tfrecord.Builder) {
		b.Int64("label", 2)
		b.Float("v", 3, 4)
		b.String("words")
		b.Int64("unused")
	})
	got, err := InferSchema([][]byte{a, b})
	if err != nil {
		t.Fatal(err)
	}
	want := Schema{
		{Key: "label", Kind: tfrecord.KindInt64},
		{Key: "some", Kind: tfrecord.KindInt64, Ragged: true},
		{Key: "unused", Kind: tfrecord.KindInt64, Ragged: true},
		{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{2}},
		{Key: "words", Kind: tfrecord.KindBytes, Ragged: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, records := range map[string][][]byte{
		"no record": nil,
		"two kinds": {a, settest.Example(func(b *tfrecord.Builder) { b.Float("label", 1) })},
		"no list":   {message(nil).field(1, entry("a", nil))},
		"damage":    {[]byte("hello")},
	} {
		if s, err := InferSchema(records); err == nil {
			t.Errorf("%s: %v", name, s)
		}
	}
}

func TestSchemaOfManifest(t *testing.T) {
	got, err := SchemaOf([]manifest.Feature{
		{Key: "image", Kind: "bytes", Class: manifest.ClassImage, Shape: []int{-1, -1, 3}},
		{Key: "label", Kind: "int64", Class: manifest.ClassLabel},
		{Key: "maybe", Kind: "float", Class: manifest.ClassScalar, Optional: true},
		{Key: "v", Kind: "float", Class: manifest.ClassVector, Shape: []int{4}},
		{Key: "w", Kind: "float", Class: manifest.ClassVector, Shape: []int{-1}},
		{Key: "x labels", Kind: "int64", Class: manifest.ClassLabel, Shape: []int{-1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Schema{
		{Key: "image", Kind: tfrecord.KindBytes},
		{Key: "label", Kind: tfrecord.KindInt64},
		{Key: "maybe", Kind: tfrecord.KindFloat, Ragged: true},
		{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{4}},
		{Key: "w", Kind: tfrecord.KindFloat, Ragged: true},
		{Key: "x labels", Kind: tfrecord.KindInt64, Ragged: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzColumnParser compares the fast path with the reference implementation.
func FuzzColumnParser(f *testing.F) {
	f.Add(settest.Example(func(b *tfrecord.Builder) {
		b.Int64("a", 1)
		b.Float("f", 1, 2)
		b.String("s", "x")
		b.String("t", "a", "b")
	}))
	f.Add(settest.Example(func(b *tfrecord.Builder) {
		b.Int64("a", -1)
		b.Float("f", 1, 2)
		b.String("s", strings.Repeat("x", 300))
	}))
	f.Add([]byte(message(nil).field(1, append(entry("a", ints(1)), entry("a", ints(0x80, 1))...))))
	f.Add([]byte{})
	schema := Schema{
		{Key: "a", Kind: tfrecord.KindInt64, Default: 3},
		{Key: "f", Kind: tfrecord.KindFloat, Shape: []int{2}, Default: []float32{1, 2}},
		{Key: "s", Kind: tfrecord.KindBytes, Default: "d"},
		{Key: "t", Kind: tfrecord.KindBytes, Ragged: true},
	}
	first := settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 7); b.String("t", "q", "r") })
	f.Fuzz(func(t *testing.T, record []byte) {
		fast, err := parse(t, schema, first, record, first)
		plain, plainErr := parsePlain(t, schema, first, record, first)
		if plainErr != nil {
			// Features outside the schema may be damaged without an error.
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := diffColumns(plain, fast); diff != "" {
			t.Error(diff)
		}
	})
}

func parsePlain(t testing.TB, s Schema, records ...[]byte) (*Columns, error) {
	p, err := NewParser(s)
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	p.Reset(&c)
	for _, r := range records {
		if err := p.appendPlain(&c, r); err != nil {
			return nil, err
		}
		c.closeRow()
	}
	return &c, nil
}

var tableSchema = Schema{
	{Key: "label", Kind: tfrecord.KindInt64},
	{Key: "amount", Kind: tfrecord.KindFloat},
	{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{28}},
	{Key: "merchant", Kind: tfrecord.KindBytes},
}

func TestParseColumnsAllocatesNothing(t *testing.T) {
	parsesWithoutAllocating(t, tableSchema, settest.Table(100))
}

func parsesWithoutAllocating(t *testing.T, schema Schema, records [][]byte) {
	t.Helper()
	p, err := NewParser(schema)
	if err != nil {
		t.Fatal(err)
	}
	var c Columns
	if n := testing.AllocsPerRun(20, func() {
		if err := p.Parse(&c, records); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d records", n, len(records))
	}
}

func BenchmarkParseColumns(b *testing.B) {
	records := settest.Table(1024)
	p, err := NewParser(tableSchema)
	if err != nil {
		b.Fatal(err)
	}
	var c Columns
	size := 0
	for _, r := range records {
		size += len(r)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Parse(&c, records); err != nil {
			b.Fatal(err)
		}
	}
}
