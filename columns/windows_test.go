package columns

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/tfrecord"
)

// windowsOf returns the windows of a record.
func windowsOf(t testing.TB, w *Windower, record []byte) ([][]byte, error) {
	t.Helper()
	n, err := w.Load(record)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for i := range n {
		all = append(all, w.Append(nil, i))
	}
	return all, nil
}

func TestWindows(t *testing.T) {
	schema := Schema{{Key: "id", Kind: tfrecord.KindInt64}, {Key: "x", Kind: tfrecord.KindInt64, Steps: FlatSteps, Length: 2}}
	for name, c := range map[string]struct {
		steps, length, stride int
		drop                  bool
		want                  [][]int64
	}{
		"none":          {0, 2, 1, false, nil},
		"short":         {1, 2, 1, false, [][]int64{{0}}},
		"short, drop":   {1, 2, 1, true, nil},
		"default":       {5, 2, 0, false, [][]int64{{0, 1}, {2, 3}, {4}}},
		"default, drop": {5, 2, 0, true, [][]int64{{0, 1}, {2, 3}}},
		"overlap":       {4, 3, 1, false, [][]int64{{0, 1, 2}, {1, 2, 3}, {2, 3}, {3}}},
		"overlap, drop": {4, 3, 1, true, [][]int64{{0, 1, 2}, {1, 2, 3}}},
		"gaps":          {7, 2, 3, false, [][]int64{{0, 1}, {3, 4}, {6}}},
		"gaps, drop":    {7, 2, 3, true, [][]int64{{0, 1}, {3, 4}}},
		"exact":         {4, 4, 4, true, [][]int64{{0, 1, 2, 3}}},
	} {
		w, err := NewWindower(WindowSpec{Schema: schema, Length: c.length, Stride: c.stride, DropRemainder: c.drop})
		if err != nil {
			t.Fatal(err)
		}
		records, err := windowsOf(t, w, settest.Example(func(b *tfrecord.Builder) {
			b.Int64("id", 7)
			b.Int64("other", 1)
			steps := make([]int64, c.steps)
			for i := range steps {
				steps[i] = int64(i)
			}
			b.Int64("x", steps...)
		}))
		if err != nil {
			t.Fatal(err)
		}
		var got [][]int64
		for _, r := range records {
			var e tfrecord.Example
			if err := e.Parse(r); err != nil {
				t.Fatal(err)
			}
			m := e.Map()
			if len(m) != 2 || !cmp.Equal(m["id"], []int64{7}) {
				t.Errorf("%s: a window has %v", name, m)
			}
			got = append(got, m["x"].([]int64))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWindowsRefuse(t *testing.T) {
	steps := Schema{{Key: "x", Kind: tfrecord.KindInt64, Steps: ListSteps}, {Key: "y", Kind: tfrecord.KindInt64, Steps: ListSteps, AllowMissing: true}}
	for name, spec := range map[string]WindowSpec{
		"no length": {Schema: steps},
		"stride":    {Schema: steps, Length: 1, Stride: -1},
		"schema":    {Length: 1},
		"long":      {Schema: steps, Length: math.MaxInt, Stride: 1},
		"far":       {Schema: steps, Length: 1, Stride: math.MaxInt},
		"flat":      {Length: 1, Flat: true, Schema: Schema{{Key: "x", Kind: tfrecord.KindInt64, Ragged: true, Steps: ListSteps}}},
		"no steps":  {Schema: Schema{{Key: "x", Kind: tfrecord.KindInt64}}, Length: 1},
	} {
		if _, err := NewWindower(spec); err == nil || !strings.HasPrefix(err.Error(), "windows: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, err := NewWindower(WindowSpec{Schema: steps, Length: 2})
	if err != nil {
		t.Fatal(err)
	}
	for says, record := range map[string][]byte{
		`feature "x" has 1 steps, feature "y" 2: windows need the same number`: sequence(func(b *tfrecord.SequenceBuilder) { b.Int64("x", 1); b.Int64("y", 1); b.Int64("y", 1) }),
		`feature "x": missing`:           sequence(func(b *tfrecord.SequenceBuilder) { b.Int64("y", 1) }),
		`the values of step 0 are float`: sequence(func(b *tfrecord.SequenceBuilder) { b.Float("x", 1) }),
		`malformed`:                      []byte("hello"),
	} {
		if _, err := w.Load(record); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
	if n, err := w.Load(sequence(func(b *tfrecord.SequenceBuilder) { b.Int64("x", 1) })); n != 1 || err != nil {
		t.Errorf("y may be missing: %d windows, %v", n, err)
	}
}

// checkWindows compares the windows of a record with the steps that the reference implementation
// finds in it. It reports whether there are any.
func checkWindows(t *testing.T, spec WindowSpec, record []byte) bool {
	t.Helper()
	w, err := NewWindower(spec)
	if err != nil {
		t.Fatal(err)
	}
	records, err := windowsOf(t, w, record)
	var s tfrecord.SequenceExample
	if s.Parse(record) != nil {
		return false // features outside the schema may be damaged without an error
	}
	schema, steps, ok := w.spec.Schema, -1, true
	all := make([][][]any, len(schema))
	for i, f := range schema {
		var match bool
		all[i], match = referenceSteps(f, &s)
		n := len(all[i])
		if f.Steps != NoSteps && (n > 0 || !f.AllowMissing) {
			match = match && (steps < 0 || n == steps)
			steps = n
		}
		ok = ok && match
	}
	if !hasLists(schema) && s.Lists.Len() > 0 {
		ok = false
	}
	if ok != (err == nil) {
		t.Fatalf("%v", err)
	}
	if !ok {
		return false
	}
	p, err := NewParser(flattened(schema, spec.Flat))
	if err != nil {
		t.Fatal(err)
	}
	k, got := 0, new(Columns)
	for from := 0; from < steps; from += w.spec.Stride {
		to := from + spec.Length
		if to > steps && spec.DropRemainder {
			break
		}
		if k == len(records) {
			t.Fatalf("%d windows of %d steps", k, steps)
		}
		want := &Columns{Rows: 1}
		for i, f := range schema {
			row := all[i]
			if f.Steps != NoSteps && len(row) > 0 {
				row = row[from:min(to, steps)]
			}
			want.Columns = append(want.Columns, referenceColumn(f, [][][]any{row}))
		}
		if !p.scan(records[k]) {
			t.Errorf("window %d is not of the usual form", k)
		}
		if err := p.Parse(got, records[k:k+1]); err != nil {
			t.Fatal(err)
		}
		if diff := diffColumns(want, got); diff != "" {
			t.Fatalf("window %d:\n%.2000s", k, diff)
		}
		k++
	}
	if k != len(records) {
		t.Fatalf("%d windows of %d steps; want %d", len(records), steps, k)
	}
	return k > 0
}

// flattened is the schema of the windows.
func flattened(s Schema, flat bool) Schema {
	s = slices.Clone(s)
	for i := range s {
		if s[i].Steps == ListSteps && flat {
			s[i].Steps = FlatSteps
		}
	}
	return s
}

func TestRandomWindows(t *testing.T) {
	some, none := 0, 0
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 22))
		schema, records := randomSteps(rnd)
		schema = append(schema, Field{Key: "steps", Kind: tfrecord.KindInt64, Steps: FlatSteps, AllowMissing: true})
		spec := WindowSpec{Schema: schema, Length: 1 + rnd.IntN(9), Stride: rnd.IntN(5), DropRemainder: rnd.IntN(2) == 0}
		if seed%2 == 0 {
			spec.Flat = true
			spec.Schema = slices.DeleteFunc(schema, func(f Field) bool { return f.Steps == ListSteps && f.Ragged })
		}
		for _, r := range records {
			if checkWindows(t, spec, r) {
				some++
			} else {
				none++
			}
		}
	}
	if some < 80 || none < 50 {
		t.Errorf("%d records with windows, %d without", some, none)
	}
}

// FuzzWindows compares windows of any record with those of the reference implementation.
func FuzzWindows(f *testing.F) {
	schema := Schema{
		{Key: "c", Kind: tfrecord.KindInt64, Default: 3},
		{Key: "flat", Kind: tfrecord.KindInt64, Shape: []int{2}, Steps: FlatSteps, AllowMissing: true},
		{Key: "f", Kind: tfrecord.KindFloat, Steps: FlatSteps, AllowMissing: true},
		{Key: "s", Kind: tfrecord.KindBytes, Steps: FlatSteps, AllowMissing: true},
		{Key: "list", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: ListSteps, AllowMissing: true},
		{Key: "words", Kind: tfrecord.KindBytes, Ragged: true, Steps: ListSteps, AllowMissing: true},
	}
	f.Add(sequence(func(b *tfrecord.SequenceBuilder) {
		b.Context.Int64("c", 7)
		b.Context.Int64("flat", 1, 300, -3, 4, 5, 6)
		b.Context.Float("f", 1, 2, 3)
		b.Context.String("s", "a", "", "c")
		for i := range 3 {
			b.Float("list", float32(i), 2)
			b.String("words", strings.Fields(strings.Repeat("w ", i))...)
		}
	}), uint8(2), uint8(1), true, true)
	f.Add([]byte(message(nil).field(2, append(entry("words", message(nil).field(1, nil)), entry("words", message(nil).field(1, nil).field(1, nil))...))), uint8(1), uint8(0), false, false)
	f.Fuzz(func(t *testing.T, record []byte, length, stride uint8, drop, flat bool) {
		spec := WindowSpec{Schema: schema, Length: 1 + int(length), Stride: int(stride), DropRemainder: drop, Flat: flat}
		if flat {
			spec.Schema = schema[:len(schema)-1] // without the ragged list
		}
		checkWindows(t, spec, record)
	})
}

func BenchmarkWindows(b *testing.B) {
	records := episodes(10, 200)
	for _, stride := range []int{1, 16} {
		b.Run(fmt.Sprintf("16 steps, stride %d", stride), func(b *testing.B) {
			w, err := NewWindower(WindowSpec{Schema: episodeSchema, Length: 16, Stride: stride})
			if err != nil {
				b.Fatal(err)
			}
			var window []byte
			b.ReportAllocs()
			count, size := 0, 0
			for b.Loop() {
				count, size = 0, 0
				for _, r := range records {
					n, err := w.Load(r)
					if err != nil {
						b.Fatal(err)
					}
					for i := range n {
						window = w.Append(window[:0], i)
						count, size = count+1, size+len(window)
					}
				}
			}
			b.SetBytes(int64(size))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/window")
		})
	}
}

// The defaults of features of the whole record are not stored in windows, whatever the form of the
// record.
func TestWindowsHaveNoDefaults(t *testing.T) {
	w, err := NewWindower(WindowSpec{Length: 2, Schema: Schema{
		{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps},
		{Key: "d", Kind: tfrecord.KindInt64, Default: int64(7)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	unpacked := []byte{0x0a, 0x0f, 0x0a, 0x0d, 0x0a, 1, 'a', 0x12, 8, 0x1a, 6, 8, 1, 8, 2, 8, 3}
	want := settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1, 2) })
	for _, record := range [][]byte{settest.Example(func(b *tfrecord.Builder) { b.Int64("a", 1, 2, 3) }), unpacked} {
		n, err := w.Load(record)
		if err != nil || n != 2 {
			t.Fatal(n, err)
		}
		if got := w.Append(nil, 0); string(got) != string(want) {
			t.Errorf("% x of % x; want % x", got, record, want)
		}
	}
}

// The memory for a record is not kept for those that need little of it.
func TestWindowerDropsMemory(t *testing.T) {
	w, err := NewWindower(WindowSpec{Length: 2, Schema: Schema{{Key: "a", Kind: tfrecord.KindInt64, Steps: FlatSteps}}})
	if err != nil {
		t.Fatal(err)
	}
	memory := func(n int) int {
		t.Helper()
		record := steps("a", n)
		if windows, err := w.Load(record); err != nil || windows != (n+1)/2 {
			t.Fatal(windows, err)
		}
		return 8 * (cap(w.row.Columns[0].Int64s) + cap(w.starts[0]))
	}
	large := memory(4 << 20)
	if large > windowFactor*(4<<20) {
		t.Errorf("%d bytes for a record of 4 MiB", large)
	}
	if got := memory(2 << 20); got < large {
		t.Errorf("%d bytes for half a record: want the %d kept", got, large)
	}
	if got := memory(1000); got > 1<<16 {
		t.Errorf("%d bytes for a small record", got)
	}
}
