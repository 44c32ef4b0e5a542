package tfrecord

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

func TestTheJudgeReadsOurSequenceExamples(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 0))
	var b SequenceBuilder
	var s SequenceExample
	for range 150 {
		b.Reset()
		context, lists := map[string]string{}, map[string]string{}
		for range rnd.IntN(4) {
			k := randomKey(rnd)
			context[k] = randomFeature(rnd, &b.Context, k)
		}
		for range rnd.IntN(10) {
			k := randomKey(rnd)
			if rnd.IntN(4) == 0 {
				b.List(k)
				lists[k] += ""
				continue
			}
			lists[k] += randomFeature(rnd, &b, k) + "; "
		}
		data := b.Append(nil)
		judge, err := judged(sequenceType, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(context, judgedFeatures(get(judge, "context").Message())); diff != "" {
			t.Fatalf("the judge, context (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(lists, judgedLists(get(judge, "feature_lists").Message())); diff != "" {
			t.Fatalf("the judge, lists (-want +got):\n%s", diff)
		}
		theirs, err := proto.MarshalOptions{Deterministic: true}.Marshal(judge)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(theirs, data) {
			t.Fatalf("other bytes than the judge's:\n%x\n%x", data, theirs)
		}
		if err := s.Parse(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(context, featuresText(t, &s.Context)); diff != "" {
			t.Fatalf("context (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(lists, listsText(t, &s.Lists)); diff != "" {
			t.Fatalf("lists (-want +got):\n%s", diff)
		}
	}
}

// step encodes a FeatureList's field with a Feature.
func step(feature ...[]byte) []byte { return m(1, feature...) }

var oddSequences = []struct {
	name    string
	data    []byte
	context map[string]any
	lists   map[string][]any
}{
	{"empty", nil, map[string]any{}, map[string][]any{}},
	{"no lists", m(2), map[string]any{}, map[string][]any{}},
	{"lists before context", append(m(2, pair("l", step(ints(1)), step(ints(2, 3)))), m(1, pair("c", ints(4)))...),
		map[string]any{"c": []int64{4}}, map[string][]any{"l": {[]int64{1}, []int64{2, 3}}}},
	{"empty list and empty step", m(2, pair("a"), pair("b", step())),
		map[string]any{}, map[string][]any{"a": {}, "b": {nil}}},
	{"steps of different kinds", m(2, pair("l", step(ints(1)), step(m(1, m(1, []byte("x")))), step(m(2)))),
		map[string]any{}, map[string][]any{"l": {[]int64{1}, [][]byte{[]byte("x")}, []float32{}}}},
	{"repeated key", m(2, pair("l", step(ints(1))), pair("a", step()), pair("l", step(ints(2)))),
		map[string]any{}, map[string][]any{"a": {nil}, "l": {[]int64{2}}}},
	{"value twice in an entry", m(2, m(1, key("l"), m(2, step(ints(1))), m(2, step(ints(2))))),
		map[string]any{}, map[string][]any{"l": {[]int64{1}, []int64{2}}}},
	{"step in pieces", m(2, pair("l", step(ints(1), ints(2)), step(ints(3), ints(4)))),
		map[string]any{}, map[string][]any{"l": {[]int64{1, 2}, []int64{3, 4}}}},
	{"both twice", bytes.Join([][]byte{m(1, pair("c", ints(1))), m(2, pair("l", step(ints(1)))), m(1, pair("c", ints(2))), m(2, pair("k", step(ints(2))))}, nil),
		map[string]any{"c": []int64{2}}, map[string][]any{"k": {[]int64{2}}, "l": {[]int64{1}}}},
	{"unknown fields", bytes.Join([][]byte{varintField(2, 1), m(3), m(2, varintField(1, 1), m(2), m(1, m(7), key("l"), m(2, varintField(1, 1), m(5), step(ints(1)))))}, nil),
		map[string]any{}, map[string][]any{"l": {[]int64{1}}}},
}

func TestOddSequenceExamples(t *testing.T) {
	var s SequenceExample
	for _, c := range oddSequences {
		t.Run(c.name, func(t *testing.T) {
			if err := s.Parse(c.data); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.context, s.Context.Map()); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.lists, s.Lists.Map()); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			judge, err := judged(sequenceType, c.data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(judgedLists(get(judge, "feature_lists").Message()), listsText(t, &s.Lists)); diff != "" {
				t.Errorf("(-judge +got):\n%s", diff)
			}
		})
	}
}

// TestCutSequenceExample cuts a message at every byte.
func TestCutSequenceExample(t *testing.T) {
	var b SequenceBuilder
	b.Context.Int64("id", 300)
	b.Float("x", 1, 2)
	b.Bytes("y", []byte("value"))
	data := b.Append(nil)
	var s SequenceExample
	for n := range data {
		_, judge := judged(sequenceType, data[:n])
		err := s.Parse(data[:n])
		if (err == nil) != (judge == nil) {
			t.Errorf("cut at %d: %v, the judge says %v", n, err, judge)
		}
		if err != nil && (!errors.Is(err, ErrMalformed) || faultOf(t, err).Offset > int64(n) || s.Context.Len()+s.Lists.Len() > 0) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestSequenceBuilderAllocatesNothing(t *testing.T) {
	var b SequenceBuilder
	var s SequenceExample
	var data []byte
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		b.Context.Int64("id", 7)
		for i := range 10 {
			b.Int64("tokens", int64(i), 2)
			b.String("frames", "x")
		}
		data = b.Append(data[:0])
		if err := s.Parse(data); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
