package columns

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// sequence returns a SequenceExample.
func sequence(build func(b *tfrecord.SequenceBuilder)) []byte {
	var b tfrecord.SequenceBuilder
	build(&b)
	return b.Append(nil)
}

func TestParseSequences(t *testing.T) {
	schema := Schema{
		{Key: "id", Kind: tfrecord.KindInt64},
		{Key: "state", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: ListSteps},
		{Key: "action", Kind: tfrecord.KindInt64, Steps: ListSteps, Length: Longest, Default: -1},
		{Key: "note", Kind: tfrecord.KindBytes, Steps: ListSteps, Length: 2, Default: "none", AllowMissing: true},
		{Key: "tokens", Kind: tfrecord.KindInt64, Ragged: true, Steps: ListSteps, AllowMissing: true},
		{Key: "time", Kind: tfrecord.KindFloat, Steps: FlatSteps, Length: 3, AllowMissing: true},
	}
	got, err := parse(t, schema,
		sequence(func(b *tfrecord.SequenceBuilder) {
			b.Context.Int64("id", 7)
			b.Context.Float("time", 0.5, 1, 1.5, 2)
			for i := range 3 {
				b.Float("state", float32(i), float32(10*i))
				b.Int64("action", int64(i))
				b.String("note", strings.Repeat("x", i))
				b.Int64("tokens", make([]int64, i)...)
			}
		}),
		sequence(func(b *tfrecord.SequenceBuilder) {
			b.Context.Int64("id", 8)
			b.List("state")
			b.List("action")
		}),
		sequence(func(b *tfrecord.SequenceBuilder) {
			b.Context.Int64("id", 9)
			b.Float("state", 5, 6)
			b.Int64("action", 4)
			b.Int64("tokens", 1, 2)
			b.Context.Float("time", 7)
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := &Columns{Rows: 3, Columns: []Column{
		{Key: "id", Kind: tfrecord.KindInt64, Shape: []int{3}, Int64s: []int64{7, 8, 9}},
		{Key: "state", Kind: tfrecord.KindFloat, Shape: []int{3, -1, 2}, Floats: []float32{0, 0, 1, 10, 2, 20, 5, 6}, Splits: []int64{0, 3, 3, 4}},
		{Key: "action", Kind: tfrecord.KindInt64, Shape: []int{3, 3}, Int64s: []int64{0, 1, 2, -1, -1, -1, 4, -1, -1}, Splits: []int64{0, 3, 3, 4}},
		{Key: "note", Kind: tfrecord.KindBytes, Shape: []int{3, 2}, Bytes: []byte("xnonenonenonenone"), Offsets: []int64{0, 0, 1, 5, 9, 13, 17}, Splits: []int64{0, 2, 2, 2}},
		{Key: "tokens", Kind: tfrecord.KindInt64, Shape: []int{3, -1, -1}, Int64s: []int64{0, 0, 0, 1, 2}, Splits: []int64{0, 3, 3, 4}, StepSplits: []int64{0, 0, 1, 3, 5}},
		{Key: "time", Kind: tfrecord.KindFloat, Shape: []int{3, 3}, Floats: []float32{0.5, 1, 1.5, 0, 0, 0, 7, 0, 0}, Splits: []int64{0, 3, 3, 4}},
	}}
	if diff := diffColumns(want, got); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string][]int64{"id": {1, 1, 1}, "state": {3, 0, 1}, "action": {3, 0, 1}, "note": {2, 0, 0}, "tokens": {3, 0, 1}} {
		if diff := cmp.Diff(want, got.Get(key).Lengths(nil)); diff != "" {
			t.Errorf("lengths of %s:\n%s", key, diff)
		}
	}
	for key, want := range map[string][2]int{"state": {6, 8}, "action": {6, 9}, "note": {4, 6}, "tokens": {3, 5}} {
		if from, to := got.Get(key).Row(2); from != want[0] || to != want[1] {
			t.Errorf("row 2 of %s is %d to %d, not %v", key, from, to, want)
		}
	}
	var dense Column
	if err := got.Get("state").Dense(&dense, 2, float32(9)); err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(dense.Shape, []int{3, 2, 2}) || !cmp.Equal(dense.Floats, []float32{0, 0, 1, 10, 9, 9, 9, 9, 5, 6, 9, 9}) {
		t.Errorf("Dense makes %v of %v", dense.Floats, dense.Shape)
	}
	if err := got.Get("tokens").Dense(&dense, 0, nil); err == nil || !strings.Contains(err.Error(), "ragged") {
		t.Errorf("Dense of ragged steps: %v", err)
	}
	if ids, err := got.Get("action").OneHot(nil, 5); err == nil {
		t.Errorf("-1 is a class: %v", ids)
	}
	copied := got.Clone()
	if diff := diffColumns(got, &copied); diff != "" {
		t.Error(diff)
	}
}

// An episode in RLDS format, as TFDS stores it: an Example with all steps of each feature.
func TestParseFlatSteps(t *testing.T) {
	schema := Schema{
		{Key: "episode_metadata/id", Kind: tfrecord.KindInt64},
		{Key: "steps/action", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: FlatSteps},
		{Key: "steps/observation/image", Kind: tfrecord.KindBytes, Steps: FlatSteps},
		{Key: "steps/is_last", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: Longest},
	}
	episode := func(id int64, steps int) []byte {
		return settest.Example(func(b *tfrecord.Builder) {
			b.Int64("episode_metadata/id", id)
			b.Float("steps/action", make([]float32, 2*steps)...)
			b.String("steps/observation/image", slices.Repeat([]string{"jpg"}, steps)...)
			b.Int64("steps/is_last", slices.Repeat([]int64{1}, steps)...)
		})
	}
	got, err := parse(t, schema, episode(1, 2), episode(2, 0), episode(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	want := &Columns{Rows: 3, Columns: []Column{
		{Key: "episode_metadata/id", Kind: tfrecord.KindInt64, Shape: []int{3}, Int64s: []int64{1, 2, 3}},
		{Key: "steps/action", Kind: tfrecord.KindFloat, Shape: []int{3, -1, 2}, Floats: make([]float32, 6), Splits: []int64{0, 2, 2, 3}},
		{Key: "steps/observation/image", Kind: tfrecord.KindBytes, Shape: []int{3, -1}, Bytes: []byte("jpgjpgjpg"), Offsets: []int64{0, 3, 6, 9}, Splits: []int64{0, 2, 2, 3}},
		{Key: "steps/is_last", Kind: tfrecord.KindInt64, Shape: []int{3, 2}, Int64s: []int64{1, 1, 0, 0, 1, 0}, Splits: []int64{0, 2, 2, 3}},
	}}
	if diff := diffColumns(want, got); diff != "" {
		t.Error(diff)
	}
	sequences := Schema{{Key: "steps/action", Kind: tfrecord.KindFloat, Steps: ListSteps}}
	if _, err := parse(t, schema, sequence(func(b *tfrecord.SequenceBuilder) { b.Float("steps/action", 1) })); !errors.Is(err, ErrSequence) {
		t.Errorf("a SequenceExample where Examples are asked for: %v", err)
	}
	if _, err := parse(t, sequences, episode(1, 1)); err == nil || !strings.Contains(err.Error(), "but a feature") {
		t.Errorf("an Example where SequenceExamples are asked for: %v", err)
	}
	sequences[0].AllowMissing = true
	if c, err := parse(t, sequences, episode(1, 1)); err != nil || c.Columns[0].Len() != 0 {
		t.Errorf("an Example has no lists: %v", err)
	}
}

func TestParseSequencesRefuses(t *testing.T) {
	schema := Schema{
		{Key: "a", Kind: tfrecord.KindInt64, Shape: []int{2}, Steps: ListSteps},
		{Key: "r", Kind: tfrecord.KindBytes, Ragged: true, Steps: ListSteps, AllowMissing: true},
		{Key: "f", Kind: tfrecord.KindFloat, Shape: []int{3}, Steps: FlatSteps, Length: 2, AllowMissing: true},
	}
	good := sequence(func(b *tfrecord.SequenceBuilder) {
		b.Int64("a", 1, 2)
		b.Int64("a", 3, 4)
		b.String("r", "x", "y")
		b.Context.Float("f", 1, 2, 3)
	})
	empty := message(nil).field(2, entry("a", message(nil).field(1, nil)))
	cases := map[string]struct {
		record []byte
		says   string
	}{
		"missing":      {sequence(func(b *tfrecord.SequenceBuilder) { b.String("r") }), `feature "a": missing, and the schema does not allow it`},
		"Example":      {settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1, 2) }), `feature "a": there is no feature list of this name, but a feature`},
		"kind":         {sequence(func(b *tfrecord.SequenceBuilder) { b.Int64("a", 1, 2); b.Float("a", 1, 2) }), `feature "a": the values of step 1 are float; the schema wants int64`},
		"too few":      {sequence(func(b *tfrecord.SequenceBuilder) { b.Int64("a", 1, 2); b.Int64("a", 1) }), `feature "a": step 1 has 1 value; the schema wants 2`},
		"too many":     {sequence(func(b *tfrecord.SequenceBuilder) { b.Int64("a", 1, 2, 3) }), `feature "a": step 0 has 3 values`},
		"no list":      {empty, `feature "a": step 0 has 0 values`},
		"ragged kind":  {sequence(func(b *tfrecord.SequenceBuilder) { b.List("a"); b.Int64("r", 1) }), `feature "r": the values of step 0 are int64`},
		"flat":         {sequence(func(b *tfrecord.SequenceBuilder) { b.List("a"); b.Context.Float("f", 1, 2, 3, 4) }), `feature "f": 4 values; the schema wants 3 of shape [3] per step`},
		"flat kind":    {sequence(func(b *tfrecord.SequenceBuilder) { b.List("a"); b.Context.Int64("f", 1, 2, 3) }), `feature "f": its values are int64`},
		"cut off":      {good[:len(good)-1], "malformed"},
		"no message":   {[]byte("hello"), "malformed"},
		"surplus byte": {append(good[:len(good):len(good)], 0xff), "malformed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parse(t, schema, good, c.record, good)
			var row *RowError
			var located *tfrecord.Error
			if !errors.As(err, &row) || row.Row != 1 || !errors.As(err, &located) || located.Part != tfrecord.PartParse || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v; want row 1 and %q", err, c.says)
			}
			if errors.Is(err, tfrecord.ErrMalformed) != (c.says == "malformed") {
				t.Errorf("%v: is it malformed?", err)
			}
			if want := []int64{2}; !cmp.Equal(got.Get("a").Lengths(nil), want) || got.Rows != 1 || got.Get("r").Len() != 2 || got.Get("f").Len() != 3 {
				t.Errorf("the row before it is not alone: %v", got)
			}
		})
	}
}

// TestStepsElsewhere asks for keys with the Steps of another form.
func TestStepsElsewhere(t *testing.T) {
	record := sequence(func(b *tfrecord.SequenceBuilder) {
		b.Int64("list", 1)
		b.Context.Int64("feature", 1)
		b.Context.Bytes("none")
	})
	for says, f := range map[string]Field{
		`feature "list": there is no feature of this name, but a feature list`:    {Key: "list"},
		`feature "list": there is no feature of this name, but a`:                 {Key: "list", Steps: FlatSteps},
		`feature "feature": there is no feature list of this name, but a feature`: {Key: "feature", Steps: ListSteps},
		`feature "other": missing, and the schema has no default`:                 {Key: "other"},
		`feature "other": missing, and the schema does not allow it`:              {Key: "other", Steps: ListSteps},
		`feature "none": its values are bytes`:                                    {Key: "none"},
	} {
		f.Kind = tfrecord.KindInt64
		schema := Schema{f, {Key: "a", Kind: tfrecord.KindInt64, Steps: ListSteps, AllowMissing: true}}
		if _, err := parse(t, schema, record); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v; want %q", f, err, says)
		}
	}
}

func TestStepsSchemaRefuses(t *testing.T) {
	for name, f := range map[string]Field{
		"steps":           {Steps: 3},
		"length":          {Length: 3},
		"missing":         {AllowMissing: true},
		"negative length": {Steps: ListSteps, Length: -2},
		"ragged length":   {Steps: ListSteps, Ragged: true, Length: 3},
		"ragged flat":     {Steps: FlatSteps, Ragged: true},
		"ragged shape":    {Steps: ListSteps, Ragged: true, Shape: []int{2}},
		"default":         {Steps: ListSteps, Default: 1},
		"default kind":    {Steps: ListSteps, Length: 1, Default: "x"},
		"default length":  {Steps: ListSteps, Length: 1, Shape: []int{3}, Default: []int64{1, 2}},
	} {
		f.Key, f.Kind = "a", tfrecord.KindInt64
		if _, err := NewParser(Schema{f}); err == nil || !strings.HasPrefix(err.Error(), `schema: feature "a": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// episodes returns SequenceExamples with the values of settest.Table: one table row is one step.
func episodes(n, steps int) [][]byte {
	records := make([][]byte, n)
	for i := range records {
		records[i] = sequence(func(b *tfrecord.SequenceBuilder) {
			b.Context.Int64("label", int64(i))
			for k := range steps {
				b.Float("v", slices.Repeat([]float32{float32(k)}, 28)...)
				b.Float("amount", float32(i))
				b.Int64("action", int64(k))
			}
		})
	}
	return records
}

var episodeSchema = Schema{
	{Key: "label", Kind: tfrecord.KindInt64},
	{Key: "v", Kind: tfrecord.KindFloat, Shape: []int{28}, Steps: ListSteps},
	{Key: "amount", Kind: tfrecord.KindFloat, Steps: ListSteps, Length: Longest},
	{Key: "action", Kind: tfrecord.KindInt64, Steps: ListSteps, Length: 8, Default: -1},
}

func TestParseSequencesAllocatesNothing(t *testing.T) {
	parsesWithoutAllocating(t, episodeSchema, append(episodes(50, 10), episodes(50, 3)...))
}

// BenchmarkParseSequences parses the values of BenchmarkParseColumns' rows of the table as steps.
func BenchmarkParseSequences(b *testing.B) {
	table := settest.Table(1024)
	size := 0
	for _, r := range table {
		size += len(r)
	}
	for _, bench := range []struct {
		name    string
		schema  Schema
		records [][]byte
	}{
		{"columns", tableSchema, table},
		{"lists", stepSchema(ListSteps, 0), stepsOf(table, true)},
		{"lists padded", stepSchema(ListSteps, Longest), stepsOf(table, true)},
		{"flat", stepSchema(FlatSteps, 0), stepsOf(table, false)},
		{"flat padded", stepSchema(FlatSteps, Longest), stepsOf(table, false)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p, err := NewParser(bench.schema)
			if err != nil {
				b.Fatal(err)
			}
			var c Columns
			b.SetBytes(int64(size)) // of the table in all cases
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Parse(&c, bench.records); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// stepSchema is tableSchema for stepsOf.
func stepSchema(steps Steps, length int) Schema {
	s := slices.Clone(tableSchema)
	for i := range s {
		s[i].Steps, s[i].Length = steps, length
	}
	return s
}

// stepsOf returns the rows of a table as records of 32 steps.
func stepsOf(table [][]byte, lists bool) (records [][]byte) {
	for rows := range slices.Chunk(table, 32) {
		c, err := NewParser(tableSchema)
		if err != nil {
			panic(err)
		}
		var all Columns
		if err := c.Parse(&all, rows); err != nil {
			panic(err)
		}
		labels, amounts, v, names := all.Get("label").Int64s, all.Get("amount").Floats, all.Get("v").Floats, all.Get("merchant")
		records = append(records, sequence(func(b *tfrecord.SequenceBuilder) {
			for i := range labels {
				if lists {
					b.Int64("label", labels[i])
					b.Float("amount", amounts[i])
					b.Float("v", v[28*i:28*i+28]...)
					b.Bytes("merchant", names.Value(i))
				}
			}
			if !lists {
				var text [][]byte
				for i := range labels {
					text = append(text, names.Value(i))
				}
				b.Context.Int64("label", labels...)
				b.Context.Float("amount", amounts...)
				b.Context.Float("v", v...)
				b.Context.Bytes("merchant", text...)
			}
		}))
	}
	return records
}
