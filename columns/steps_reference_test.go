package columns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// reference makes the columns of records that are valid protocol buffers, feature by feature, with
// no memory shared. It returns nil if a record does not match the schema.
func reference(schema Schema, records [][]byte) *Columns {
	out := &Columns{Rows: len(records)}
	for _, f := range schema {
		rows := make([][][]any, len(records)) // steps, and their values
		for r, record := range records {
			var s tfrecord.SequenceExample
			if s.Parse(record) != nil {
				return nil
			}
			var ok bool
			if rows[r], ok = referenceSteps(f, &s); !ok {
				return nil
			}
		}
		out.Columns = append(out.Columns, referenceColumn(f, rows))
	}
	return out
}

func valuesOf(v any) (all []any) {
	switch v := v.(type) {
	case []int64:
		for _, x := range v {
			all = append(all, x)
		}
	case []float32:
		for _, x := range v {
			all = append(all, x)
		}
	case [][]byte:
		for _, x := range v {
			all = append(all, x)
		}
	}
	return all
}

// referenceSteps returns the steps of one record; a context feature is one step.
func referenceSteps(f Field, s *tfrecord.SequenceExample) ([][]any, bool) {
	size := 1
	for _, side := range f.Shape {
		size *= side
	}
	if f.Steps == ListSteps {
		list, ok := s.Lists.Get(f.Key)
		var steps [][]any
		for i := range list.Len() {
			values := valuesOf(list.At(i).Value())
			if k := list.At(i).Kind(); k != f.Kind && k != tfrecord.KindNone || !f.Ragged && len(values) != size {
				return nil, false
			}
			steps = append(steps, values)
		}
		return steps, ok || f.AllowMissing
	}
	feature, _ := s.Context.Get(f.Key)
	values := valuesOf(feature.Value())
	if k := feature.Kind(); k != f.Kind && k != tfrecord.KindNone {
		return nil, false
	}
	if f.Steps == NoSteps {
		if feature.Kind() == tfrecord.KindNone && f.Default != nil {
			v, _ := f.defaults()
			values = append(append(valuesOf(v.int64s), valuesOf(v.floats)...), valuesOf(v.bytes)...)
		}
		return [][]any{values}, f.Ragged || len(values) == size
	}
	var steps [][]any
	for at := 0; at+size <= len(values); at += size {
		steps = append(steps, values[at:at+size])
	}
	return steps, len(values)%size == 0 && (f.AllowMissing || feature.Kind() != tfrecord.KindNone)
}

func referenceColumn(f Field, rows [][][]any) Column {
	c := Column{Key: f.Key, Kind: f.Kind, Shape: []int{len(rows)}}
	splits, stepSplits := []int64{0}, []int64{0}
	values, steps, width := 0, 0, 1
	for r := range rows {
		if f.Length > 0 && len(rows[r]) > f.Length {
			rows[r] = rows[r][:f.Length]
		}
		width = max(width, len(rows[r]), f.Length)
	}
	if f.Kind == tfrecord.KindBytes {
		c.Offsets = []int64{0}
	}
	add := func(v any) {
		switch v := v.(type) {
		case int64:
			c.Int64s = append(c.Int64s, v)
		case float32:
			c.Floats = append(c.Floats, v)
		case []byte:
			c.Bytes = append(c.Bytes, v...)
			c.Offsets = append(c.Offsets, int64(len(c.Bytes)))
		}
	}
	for _, row := range rows {
		for _, step := range row {
			for _, v := range step {
				add(v)
				values++
			}
			steps++
			stepSplits = append(stepSplits, int64(values))
		}
		splits = append(splits, int64(steps))
		if f.Length == 0 {
			continue
		}
		for range width - len(row) {
			pad := f.padding()
			for _, v := range append(append(valuesOf(pad.int64s), valuesOf(pad.floats)...), valuesOf(pad.bytes)...) {
				add(v)
			}
		}
	}
	switch {
	case f.Steps == NoSteps && f.Ragged:
		c.Shape, c.Splits = append(c.Shape, -1), stepSplits
	case f.Steps != NoSteps && f.Ragged:
		c.Shape, c.Splits, c.StepSplits = append(c.Shape, -1, -1), splits, stepSplits
	case f.Steps != NoSteps && f.Length != 0:
		c.Shape, c.Splits = append(c.Shape, width), splits
	case f.Steps != NoSteps:
		c.Shape, c.Splits = append(c.Shape, -1), splits
	}
	c.Shape = append(c.Shape, f.Shape...)
	return c
}

// randomSteps draws a schema, and records that mostly match it.
func randomSteps(rnd *rand.Rand) (Schema, [][]byte) {
	kinds := []tfrecord.Kind{tfrecord.KindInt64, tfrecord.KindFloat, tfrecord.KindBytes}
	shapes := [][]int{nil, nil, {1}, {3}, {2, 2}}
	var s Schema
	for i := range 1 + rnd.IntN(6) {
		f := Field{Key: fmt.Sprintf("key %d", i), Kind: kinds[rnd.IntN(3)], Steps: Steps(rnd.IntN(3))}
		if f.Steps != FlatSteps && rnd.IntN(3) == 0 {
			f.Ragged = true
		} else {
			f.Shape = shapes[rnd.IntN(len(shapes))]
		}
		if f.Steps != NoSteps {
			f.AllowMissing = rnd.IntN(2) == 0
			if !f.Ragged {
				f.Length = []int{0, Longest, 1, 4, 30}[rnd.IntN(5)]
			}
		}
		if rnd.IntN(2) == 0 && !f.Ragged && (f.Steps == NoSteps || f.Length != 0) {
			f.Default = map[tfrecord.Kind]any{tfrecord.KindInt64: 300, tfrecord.KindFloat: 0.5, tfrecord.KindBytes: "pad"}[f.Kind]
		}
		s = append(s, f)
	}
	records := make([][]byte, rnd.IntN(12))
	for r := range records {
		records[r] = randomSequence(rnd, s)
	}
	return s, records
}

func randomSequence(rnd *rand.Rand, s Schema) []byte {
	var b tfrecord.SequenceBuilder
	steps := []int{0, 1, 2, 5, 40, 3000}[rnd.IntN(6)]
	if steps > 40 && rnd.IntN(15) > 0 {
		steps = 7
	}
	for _, f := range s {
		n := steps
		if rnd.IntN(6) == 0 {
			n = rnd.IntN(5) // lists of different lengths
		}
		size, kind := f.size(), f.Kind
		switch odd := rnd.IntN(100); {
		case odd == 0:
			size++
		case odd == 1:
			kind = 1 + kind%3
		case odd < 12 && (f.AllowMissing || f.Default != nil || f.Ragged && f.Steps == NoSteps):
			continue
		}
		switch f.Steps {
		case ListSteps:
			b.List(f.Key)
			for range n {
				if f.Ragged {
					size = rnd.IntN(4)
				}
				appendValues(rnd, &b, f.Key, kind, size)
			}
		case FlatSteps:
			appendValues(rnd, &b.Context, f.Key, kind, n*size)
		default:
			if f.Ragged {
				size = rnd.IntN(4)
			}
			appendValues(rnd, &b.Context, f.Key, kind, size)
		}
	}
	if rnd.IntN(3) == 0 {
		b.Context.Int64("other", 1)
		b.Float("other", 1)
	}
	return b.Append(nil)
}

func drawValues(rnd *rand.Rand, n int) (ints []int64, floats []float32, texts []string) {
	for range n {
		ints = append(ints, int64(rnd.Uint64())>>rnd.IntN(64))
		floats = append(floats, float32(rnd.NormFloat64()))
		texts = append(texts, strings.Repeat("t", rnd.IntN(3)))
	}
	return ints, floats, texts
}

// valueBuilder is a tfrecord.Builder, or for values of the next step a tfrecord.SequenceBuilder.
type valueBuilder interface {
	Int64(key string, v ...int64)
	Float(key string, v ...float32)
	String(key string, v ...string)
}

func appendValues(rnd *rand.Rand, b valueBuilder, key string, kind tfrecord.Kind, n int) {
	ints, floats, texts := drawValues(rnd, n)
	switch kind {
	case tfrecord.KindInt64:
		b.Int64(key, ints...)
	case tfrecord.KindFloat:
		b.Float(key, floats...)
	default:
		b.String(key, texts...)
	}
}

// hasLists tells whether the records are parsed as SequenceExamples.
func hasLists(s Schema) bool {
	return slices.ContainsFunc(s, func(f Field) bool { return f.Steps == ListSteps })
}

func TestParseRandomSequences(t *testing.T) {
	parsed, refused := 0, 0
	var c Columns // reused
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		schema, records := randomSteps(rnd)
		if !hasLists(schema) {
			schema = append(schema, Field{Key: "list", Kind: tfrecord.KindFloat, Steps: ListSteps, AllowMissing: true})
		}
		p, err := NewParser(schema)
		if err != nil {
			t.Fatal(err)
		}
		want := reference(schema, records)
		err = p.Parse(&c, records)
		if (err == nil) != (want != nil) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err != nil {
			refused++
			continue
		}
		parsed++
		if diff := diffColumns(want, &c); diff != "" {
			t.Fatalf("seed %d:\n%.3000s", seed, diff)
		}
		fast := true
		for _, r := range records {
			fast = fast && p.scan(r)
		}
		if !fast {
			t.Errorf("seed %d: a builder's record is not of the usual form", seed)
		}
		if slow := parseSlowly(t, p, records); slow == nil || diffColumns(want, slow) != "" {
			t.Errorf("seed %d: the slow path differs", seed)
		}
	}
	if parsed < 100 || refused < 30 {
		t.Errorf("%d batches parsed, %d refused", parsed, refused)
	}
}

// parseSlowly parses records by the slow path alone; nil if it refuses one.
func parseSlowly(t *testing.T, p *Parser, records [][]byte) *Columns {
	t.Helper()
	var c Columns
	p.Reset(&c)
	for _, r := range records {
		if p.appendPlain(&c, r) != nil || p.endRow(&c) != nil {
			return nil
		}
	}
	p.Finish(&c)
	return &c
}

// FuzzSequenceParser compares the parser with the reference implementation.
func FuzzSequenceParser(f *testing.F) {
	schema := Schema{
		{Key: "c", Kind: tfrecord.KindInt64, Default: 3},
		{Key: "flat", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: FlatSteps, Length: 3, Default: 0.5, AllowMissing: true},
		{Key: "fixed", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: ListSteps, AllowMissing: true},
		{Key: "padded", Kind: tfrecord.KindInt64, Steps: ListSteps, Length: Longest, Default: -1, AllowMissing: true},
		{Key: "words", Kind: tfrecord.KindBytes, Ragged: true, Steps: ListSteps, AllowMissing: true},
		{Key: "names", Kind: tfrecord.KindBytes, Steps: ListSteps, Length: 2, Default: "d", AllowMissing: true},
	}
	first := sequence(func(b *tfrecord.SequenceBuilder) {
		b.Context.Int64("c", 7)
		b.Context.Float("flat", 1, 2, 3, 4)
		b.Float("fixed", 1, 2)
		b.Int64("padded", 1)
		b.Int64("padded", 2)
		b.String("words", "a", "b")
		b.String("words")
		b.String("names", "n")
		b.Float("other", 1)
	})
	f.Add(first)
	f.Add([]byte{})
	f.Add(settest.Example(func(b *tfrecord.Builder) { b.Int64("c", 1); b.Float("flat", 1, 2) }))
	f.Add([]byte(message(nil).field(2, append(entry("padded", message(nil).field(1, ints(1))), entry("padded", message(nil).field(1, ints(2)))...))))
	f.Add([]byte(message(nil).field(2, entry("words", message(nil).field(1, nil))).field(1, entry("c", ints(1)))))
	f.Add([]byte(message(nil).field(2, entry("fixed", nil)).field(2, entry("padded", nil)).field(9, nil)))
	f.Fuzz(func(t *testing.T, record []byte) {
		records := [][]byte{first, record, first}
		got, err := parse(t, schema, records...)
		var s tfrecord.SequenceExample
		if s.Parse(record) != nil {
			return // features outside the schema may be damaged without an error
		}
		want := reference(schema, records)
		if (want != nil) != (err == nil) {
			t.Fatalf("%v", err)
		}
		if err != nil {
			return
		}
		if diff := diffColumns(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
