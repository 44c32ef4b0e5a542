package reader

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

func TestParseColumnsFlow(t *testing.T) {
	set := writeRecords(t, Options{}, 2, func(file int) (records [][]byte) {
		for i := range 50 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				b.Int64("id", int64(100*file+i))
				b.Float("v", float32(i), float32(file))
				b.String("words", strings.Fields(strings.Repeat("w ", i%3))...)
			}))
		}
		return records
	})
	p := set.Interleave(2, 1)
	var want []int64
	for r, err := range p.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, 100*int64(r.File)+r.Number)
	}
	for _, workers := range []int{1, 3} {
		var got []int64
		var rows []int
		for b, err := range ParseColumns(p, ColumnSpec{Batch: 16, Workers: workers}).All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Get("id").Int64s...)
			rows = append(rows, b.Rows)
			if v := b.Get("v"); !cmp.Equal(v.Shape, []int{b.Rows, 2}) || len(v.Floats) != 2*b.Rows || b.Get("words").Splits == nil {
				t.Errorf("inferred otherwise: %v, %v", v.Shape, b.Get("words").Splits)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
		if diff := cmp.Diff([]int{16, 16, 16, 16, 16, 16, 4}, rows); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
	}
	f := ParseColumns(p, ColumnSpec{Batch: 16, DropRemainder: true})
	if n := len(drain(t, f)); n != 6 {
		t.Errorf("%d batches without the remainder; want 6", n)
	}
	checkResume(t, f, func(b *ColumnBatch) string { return fmt.Sprint(b.Get("id").Int64s) })
	checkResume(t, f.Prefetch(2), func(b *ColumnBatch) string { return fmt.Sprint(b.Get("id").Int64s) })
}

func TestParseColumnsFlowErrors(t *testing.T) {
	set := writeRecords(t, Options{}, 1, func(int) (records [][]byte) {
		for i := range 30 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) {
				if i == 23 {
					b.Float("id", 1)
				} else {
					b.Int64("id", 1)
				}
			}))
		}
		return append(records, []byte("no Example"))
	})
	schema := columns.Schema{{Key: "id", Kind: tfrecord.KindInt64}}
	says := func(f Flow[*ColumnBatch]) (err error) {
		for _, err = range f.All(context.Background()) {
		}
		return err
	}
	err := says(ParseColumns(set.Records(), ColumnSpec{Schema: schema, Batch: 10}))
	var located *tfrecord.Error
	if !errors.As(err, &located) || located.Record != 23 || located.Name != set.Sources()[0].Path || !strings.Contains(err.Error(), `parse: feature "id": its values are float`) {
		t.Error(err)
	}
	err = says(ParseColumns(set.Records().Skip(30), ColumnSpec{Schema: schema, Batch: 10}))
	if !errors.As(err, &located) || located.Record != 30 || !strings.Contains(err.Error(), "of the record: malformed") {
		t.Error(err)
	}
	if err := says(ParseColumns(set.Records(), ColumnSpec{Batch: 10})); err == nil || !strings.Contains(err.Error(), `feature "id": some records have int64 values, others float`) {
		t.Error(err)
	}
	if err := says(ParseColumns(set.Records(), ColumnSpec{Schema: columns.Schema{}, Batch: -1})); err == nil {
		t.Error("a batch of -1")
	}
	if err := says(ParseColumns(set.Records(), ColumnSpec{Schema: columns.Schema{}})); err == nil {
		t.Error("a schema without fields")
	}
}

// leastAllocs returns how many allocations a call makes: the least of several measurements, as all
// goroutines count, and a garbage collection in between empties pools.
func leastAllocs(f func()) float64 {
	least := math.Inf(1)
	for range 6 {
		least = min(least, testing.AllocsPerRun(10, f))
	}
	return least
}

func TestColumnBatchesAllocateLittle(t *testing.T) {
	records := settest.Table(2000)
	set := writeRecords(t, Options{}, 1, func(int) [][]byte { return records })
	r, err := ParseColumns(set.Records().Repeat(-1), ColumnSpec{Batch: 500}).Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		next()
	}
	if n := leastAllocs(next); n > 30 {
		t.Errorf("%v allocations for 500 records", n)
	}
}

// A parser of Examples would return only the context of a SequenceExample.
func TestSequenceExamplesHaveNoColumns(t *testing.T) {
	var b tfrecord.SequenceBuilder
	b.Context.Int64("id", 1)
	b.Float("", 0.5)
	b.Float("", 0.25)
	sequence := b.Append(nil)
	set := writeRecords(t, Options{}, 1, func(int) [][]byte { return [][]byte{sequence, sequence} })
	fails := func(spec ColumnSpec) (err error) {
		for _, err = range ParseColumns(set.Records(), spec).All(t.Context()) {
		}
		return err
	}
	_, err := set.Schema(t.Context())
	for what, err := range map[string]error{
		"Schema":                   err,
		"ParseColumns":             fails(ColumnSpec{}),
		"ParseColumns by a schema": fails(ColumnSpec{Schema: columns.Schema{{Key: "id", Kind: tfrecord.KindInt64}}}),
		"a schema of a list":       fails(ColumnSpec{Schema: columns.Schema{{Key: "steps", Kind: tfrecord.KindFloat, Ragged: true}}}),
	} {
		if !errors.Is(err, columns.ErrSequence) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTypedColumns(t *testing.T) {
	parser, err := columns.NewParser(columns.Schema{{Key: "id", Kind: tfrecord.KindInt64}, {Key: "x", Kind: tfrecord.KindFloat}})
	if err != nil {
		t.Fatal(err)
	}
	var c columns.Columns
	record := settest.Example(func(b *tfrecord.Builder) { b.Int64("id", 7); b.Float("x", 0.5) })
	if err := parser.Parse(&c, [][]byte{record}); err != nil {
		t.Fatal(err)
	}
	if ids, err := c.Int64s("id"); err != nil || !cmp.Equal(ids, []int64{7}) {
		t.Errorf("%v, %v", ids, err)
	}
	if x, err := c.Floats("x"); err != nil || !cmp.Equal(x, []float32{0.5}) {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := c.Floats("y"); err == nil || !strings.Contains(err.Error(), `no column "y": the schema has "id", "x"`) {
		t.Error(err)
	}
	if _, err := c.Floats("id"); err == nil || !strings.Contains(err.Error(), `column "id" are int64, not float`) {
		t.Error(err)
	}
	if _, err := c.Column("x", tfrecord.KindBytes); err == nil {
		t.Error("a float column as one of bytes")
	}
}

// Without a Schema and a manifest, one is inferred from the intact records if damage may be skipped,
// which is counted once.
func TestSchemaIsInferredFromIntactRecords(t *testing.T) {
	for _, bad := range [][]int{{0}, {1}, {0, 1, 2}} {
		dir := t.TempDir()
		var records [][]byte
		for i := range 5 {
			records = append(records, settest.Example(func(b *tfrecord.Builder) { b.Int64("id", int64(i)) }))
		}
		readertest.WriteFile(t, readertest.ShardPath(dir, 0), tfrecord.CompressionNone, records...)
		at := readertest.Offsets(t, readertest.ShardPath(dir, 0))
		for _, i := range bad {
			readertest.Flip(t, readertest.ShardPath(dir, 0), at[i]+tfrecord.HeaderSize)
		}
		skipped := 0
		set := open(t, dir, Options{SkipBad: SkipBad{Count: int64(len(bad))}, OnSkip: func(Skipped) { skipped++ }})
		var ids []int64
		for b, err := range ParseColumns(set.Records(), ColumnSpec{Batch: 2}).All(t.Context()) {
			if err != nil {
				t.Fatalf("damaged %v: %v", bad, err)
			}
			ids = append(ids, b.Get("id").Int64s...)
		}
		if len(ids) != 5-len(bad) || skipped != len(bad) {
			t.Errorf("damaged %v: records %v, %d skipped", bad, ids, skipped)
		}
		if _, err := readAll(open(t, dir, Options{}).Records()); err == nil {
			t.Error("the file is not damaged")
		}
	}
}
