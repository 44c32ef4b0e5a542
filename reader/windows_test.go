package reader

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/tfrecord"
)

// episodeSchema is that of episode.
var episodeSchema = columns.Schema{
	{Key: "id", Kind: tfrecord.KindInt64},
	{Key: "state", Kind: tfrecord.KindFloat, Shape: []int{2}, Steps: columns.ListSteps, Length: 4, Default: -1.0},
	{Key: "action", Kind: tfrecord.KindInt64, Steps: columns.ListSteps, Length: columns.Longest, Default: -1},
	{Key: "words", Kind: tfrecord.KindBytes, Ragged: true, Steps: columns.ListSteps},
	{Key: "reward", Kind: tfrecord.KindFloat, Steps: columns.FlatSteps},
}

// episode returns a SequenceExample with steps whose values tell their number.
func episode(id int64, steps int) []byte {
	var b tfrecord.SequenceBuilder
	b.Context.Int64("id", id)
	rewards := make([]float32, steps)
	for _, key := range []string{"state", "action", "words"} {
		b.List(key)
	}
	for i := range steps {
		b.Float("state", float32(id), float32(i))
		b.Int64("action", int64(i))
		b.String("words", strings.Fields(strings.Repeat("w ", i%3))...)
		rewards[i] = float32(i) / 2
	}
	b.Context.Float("reward", rewards...)
	return b.Append(nil)
}

// sequenceText renders all of a batch.
func sequenceText(b *ColumnBatch) string {
	var text strings.Builder
	for i := range b.Columns.Columns {
		c := &b.Columns.Columns[i]
		fmt.Fprintln(&text, c.Key, c.Shape, c.Int64s, c.Floats, c.Bytes, c.Offsets, c.Splits, c.StepSplits)
	}
	return text.String()
}

func TestParseSequencesFlow(t *testing.T) {
	set := writeRecords(t, Options{}, 2, func(file int) (records [][]byte) {
		for i := range 30 {
			records = append(records, episode(int64(100*file+i), []int{0, 1, 3, 7}[i%4]))
		}
		return records
	})
	f := ParseColumns(set.Interleave(2, 1), ColumnSpec{Schema: episodeSchema, Batch: 7, Workers: 3})
	parser, err := columns.NewParser(episodeSchema)
	if err != nil {
		t.Fatal(err)
	}
	var want, got, kept []string
	var clones []*ColumnBatch
	for b, err := range Batch(set.Interleave(2, 1), 7, BatchOptions{}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		var c ColumnBatch
		var records [][]byte
		for _, r := range b {
			records = append(records, r.Data)
		}
		if err := parser.Parse(&c.Columns, records); err != nil {
			t.Fatal(err)
		}
		want = append(want, sequenceText(&c))
	}
	for b, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sequenceText(b))
		clones = append(clones, b.Clone())
		if state := b.Get("state"); !cmp.Equal(state.Shape, []int{b.Rows, 4, 2}) {
			t.Errorf("the shape of state is %v", state.Shape)
		}
	}
	for _, b := range clones {
		kept = append(kept, sequenceText(b))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other batches than the parser's:\n%.2000s", diff)
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("clones do not stay valid:\n%.2000s", diff)
	}
	checkResume(t, f, sequenceText)
	checkClones(t, f, (*ColumnBatch).Clone, (*ColumnBatch).State, func(b *ColumnBatch) bool {
		splits := b.Get("words").StepSplits
		return len(splits) > 0 && splits[0] == pipeline.PoisonInt64
	})
}

// windowIDs are what a window is made from.
type windowIDs struct {
	id, from int64
	steps    int
}

// idsOfWindow reads a window of an episode, and checks that all of it is of the same steps.
func idsOfWindow(r Record) (windowIDs, error) {
	var s tfrecord.SequenceExample
	if err := s.Parse(r.Data); err != nil {
		return windowIDs{}, err
	}
	f, _ := s.Context.Get("id")
	id, _ := f.Int64()
	actions, _ := s.Lists.Get("action")
	w := windowIDs{id: id, steps: actions.Len()}
	w.from, _ = actions.At(0).Int64()
	state, _ := s.Lists.Get("state")
	words, _ := s.Lists.Get("words")
	rewards, _ := s.Context.Get("reward")
	first := slices.Collect(rewards.FloatList())
	if state.Len() != w.steps || words.Len() != w.steps || len(first) != w.steps || first[0] != float32(w.from)/2 {
		return w, fmt.Errorf("%d actions, %d states, %d words, rewards %v", w.steps, state.Len(), words.Len(), first)
	}
	for i := range w.steps {
		action, _ := actions.At(i).Int64()
		values := slices.Collect(state.At(i).FloatList())
		if action != w.from+int64(i) || !slices.Equal(values, []float32{float32(id), float32(action)}) || words.At(i).Len() != int(action)%3 {
			return w, fmt.Errorf("step %d of the window at %d of episode %d: action %d, state %v", i, w.from, id, action, values)
		}
	}
	return w, nil
}

// Windows of random sets with damaged records, resumed at random elements: the same as a model's.
func TestRandomWindowsOfPipes(t *testing.T) {
	for _, seed := range torture.Sample(t, 12, torture.Seeds(25, 300)) {
		rnd := rand.New(rand.NewPCG(seed, 23))
		spec := columns.WindowSpec{Schema: episodeSchema, Length: 1 + rnd.IntN(6), Stride: rnd.IntN(4), DropRemainder: rnd.IntN(2) == 0}
		stride := spec.Stride
		if stride == 0 {
			stride = spec.Length
		}
		var want []windowIDs
		set := writeRecords(t, Options{SkipBad: SkipBad{Count: 1000}, Memory: 8 << 20}, 1+rnd.IntN(3), func(file int) (records [][]byte) {
			for i := range rnd.IntN(60) {
				id, steps := int64(1000*file+i), []int{0, 1, 2, 5, 20, 3000}[rnd.IntN(6)]
				if steps > 20 && rnd.IntN(10) > 0 {
					steps = 9
				}
				if rnd.IntN(8) == 0 {
					records = append(records, []byte("no SequenceExample"))
					continue
				}
				records = append(records, episode(id, steps))
				for from := 0; from < steps; from += stride {
					if n := min(spec.Length, steps-from); n == spec.Length || !spec.DropRemainder {
						want = append(want, windowIDs{id, int64(from), n})
					}
				}
			}
			return records
		})
		p := Windows(set.Records(), spec)
		var states []State
		read := func(s *Stream[windowIDs]) (got []windowIDs, last State) {
			t.Helper()
			for {
				v, err := s.Next()
				if err == io.EOF {
					last = s.State()
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					return got, last
				}
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				got = append(got, v)
				if len(states) < len(got) {
					states = append(states, s.State())
				}
			}
		}
		f := Map(p, idsOfWindow, MapOptions{Workers: 2})
		s, err := f.Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := read(s)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(windowIDs{})); diff != "" {
			t.Fatalf("seed %d:\n%.2000s", seed, diff)
		}
		for range 12 {
			if len(want) == 0 {
				break
			}
			i := rnd.IntN(len(want))
			state, err := roundTrip(states[i])
			if err != nil {
				t.Fatal(err)
			}
			s, err := f.Start(t.Context(), From{State: &state})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			before := states[i]
			if diff := cmp.Diff(before, s.State()); diff != "" {
				t.Errorf("seed %d: the state changes by resuming:\n%s", seed, diff)
			}
			if got, _ := read(s); !slices.Equal(got, want[i+1:]) {
				t.Fatalf("seed %d: resumed after %d windows: %d follow; want %d", seed, i+1, len(got), len(want)-i-1)
			}
		}
	}
}

// Shuffled windows become batches of one shape, and resume exactly.
func TestShuffledWindows(t *testing.T) {
	set := writeRecords(t, Options{Seed: 3}, 3, func(file int) (records [][]byte) {
		for i := range 8 {
			records = append(records, episode(int64(100*file+i), 2*i))
		}
		return records
	})
	spec := columns.WindowSpec{Schema: episodeSchema, Length: 4, Stride: 1, DropRemainder: true}
	schema := columns.Schema{episodeSchema[0], episodeSchema[1], episodeSchema[2]}
	f := ParseColumns(Windows(set.Interleave(3, 1), spec).Shuffle(10).Repeat(2), ColumnSpec{Schema: schema, Batch: 5, DropRemainder: true})
	seen := map[string]int{}
	for b, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		action := b.Get("action")
		if !cmp.Equal(action.Shape, []int{5, 4}) || !cmp.Equal(b.Get("state").Shape, []int{5, 4, 2}) {
			t.Fatalf("shapes %v, %v", action.Shape, b.Get("state").Shape)
		}
		for row := range b.Rows {
			seen[fmt.Sprint(b.Get("id").Int64s[row], action.Int64s[4*row:4*row+4])]++
		}
	}
	total := 0
	for window, n := range seen {
		total += n
		if n > 2 {
			t.Errorf("%s comes %d times in two passes", window, n)
		}
	}
	if want := 2 * 3 * (1 + 3 + 5 + 7 + 9 + 11); total != want/5*5 {
		t.Errorf("%d windows; want %d", total, want)
	}
	checkResume(t, f, sequenceText)
}

// A long record is cut as its windows are requested: blocks stay small.
func TestWindowsOfLongRecords(t *testing.T) {
	const steps, length = 20_000, 500
	set := writeRecords(t, Options{}, 1, func(int) [][]byte { return [][]byte{episode(1, steps), episode(2, 1)} })
	s, err := Windows(set.Records(), columns.WindowSpec{Schema: episodeSchema, Length: length, Stride: 1}).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n, largest := 0, int64(0)
	for {
		b, err := nextBlock(s)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n, largest = n+len(b.Records), max(largest, b.Bytes())
		b.Release()
	}
	if n != steps+1 || largest > stages.PortionBytes+length*100 {
		t.Errorf("%d windows, in blocks of up to %d bytes", n, largest)
	}
}

func TestWindowsRefuse(t *testing.T) {
	set := writeRecords(t, Options{}, 1, func(int) [][]byte {
		var b tfrecord.SequenceBuilder
		b.Int64("a", 1)
		b.Int64("b", 1)
		b.Int64("b", 2)
		return [][]byte{episode(1, 3), b.Append(nil)}
	})
	schema := columns.Schema{{Key: "a", Kind: tfrecord.KindInt64, Steps: columns.ListSteps}, {Key: "b", Kind: tfrecord.KindInt64, Steps: columns.ListSteps}}
	if _, err := Windows(set.Records(), columns.WindowSpec{Schema: schema}).Start(t.Context(), From{}); err == nil || !strings.Contains(err.Error(), "windows: the length is 0") {
		t.Errorf("no length: %v", err)
	}
	p := Windows(set.Records().Skip(1), columns.WindowSpec{Schema: schema, Length: 1})
	var located *tfrecord.Error
	for _, err := range p.All(t.Context()) {
		if !errors.As(err, &located) || located.Record != 1 || located.Name != set.Sources()[0].Path || !strings.Contains(err.Error(), `feature "a" has 1 steps, feature "b" 2`) {
			t.Errorf("lists of different lengths: %v", err)
		}
	}
	if located == nil {
		t.Error("lists of different lengths: no error")
	}
	set = writeRecords(t, Options{}, 1, func(int) [][]byte { return [][]byte{episode(1, 3), episode(2, 4)} })
	s, err := Windows(set.Records(), columns.WindowSpec{Schema: episodeSchema, Length: 2}).Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	state := s.State()
	for _, spec := range []columns.WindowSpec{{Length: 3}, {Length: 2, Stride: 1}, {Length: 2, DropRemainder: true}} {
		spec.Schema = episodeSchema
		if _, err := Windows(set.Records(), spec).Start(t.Context(), From{State: &state}); !errors.Is(err, ErrState) {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	for name, change := range map[string]func(f *columns.Field){
		"key":     func(f *columns.Field) { f.Key = "other" },
		"kind":    func(f *columns.Field) { f.Kind, f.Default = tfrecord.KindInt64, nil },
		"steps":   func(f *columns.Field) { f.Steps = columns.FlatSteps },
		"shape":   func(f *columns.Field) { f.Shape = []int{1, 2} },
		"missing": func(f *columns.Field) { f.AllowMissing = true },
	} {
		spec := columns.WindowSpec{Schema: slices.Clone(episodeSchema), Length: 2}
		change(&spec.Schema[1])
		if _, err := Windows(set.Records(), spec).Start(t.Context(), From{State: &state}); !errors.Is(err, ErrState) {
			t.Errorf("another %s in the schema: %v", name, err)
		}
	}
	same := columns.WindowSpec{Schema: slices.Clone(episodeSchema), Length: 2}
	same.Schema[1].Length, same.Schema[1].Default = 0, nil
	if s, err := Windows(set.Records(), same).Start(t.Context(), From{State: &state}); err != nil {
		t.Errorf("another Length of padding: %v", err)
	} else {
		s.Close()
	}
	for _, at := range [][]int64{{0}, {-1, 0, 0, 0, 0, 0}, {0, -1, 0, 0, 0, 0}, {pipeline.MaxLead + 1, 0, 0, 0, 0, 0}, {7, 0, 0, 0, 0, 0}, {0, 0, 0, -1, 0, 0}} {
		bad := pipeline.CloneState(&state)
		bad.Stages[1].At = at
		if _, err := Windows(set.Records(), columns.WindowSpec{Schema: episodeSchema, Length: 2}).Start(t.Context(), From{State: &bad}); !errors.Is(err, ErrState) {
			t.Errorf("position %v: %v", at, err)
		}
	}
}
