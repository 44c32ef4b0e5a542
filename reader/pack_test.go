package reader

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/flows"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// packModel returns the rows of Pack, in order.
func packModel(in [][]int, o PackOptions) (closed [][][]int) {
	var open [][][]int
	used := func(row [][]int) int { return len(slices.Concat(row...)) }
	place := func(v []int) {
		i := slices.IndexFunc(open, func(row [][]int) bool { return used(row)+len(v) <= o.Length })
		if i < 0 {
			if len(open) == o.OpenRows {
				closed, open = append(closed, open[0]), open[1:]
			}
			i, open = len(open), append(open, nil)
		}
		if open[i] = append(open[i], v); used(open[i]) == o.Length {
			closed, open = append(closed, open[i]), slices.Delete(open, i, i+1)
		}
	}
	for _, v := range in {
		for len(v) > o.Length && o.Split {
			place(v[:o.Length])
			v = v[o.Length:]
		}
		if v = v[:min(len(v), o.Length)]; len(v) > 0 {
			place(v)
		}
	}
	return append(closed, open...)
}

// packsOf draws options.
func packsOf(seed int) PackOptions {
	rnd := rand.New(rand.NewPCG(uint64(seed), 6))
	o := PackOptions{Length: 1 + rnd.IntN(20), Batch: 1 + rnd.IntN(4), OpenRows: 1 + rnd.IntN(5), Pad: -7, DropRemainder: rnd.IntN(3) == 0}
	o.Split = rnd.IntN(2) == 0
	o.Truncate = !o.Split
	return o
}

// packFlow makes one slice of each batch of Pack.
func packFlow(f Flow[[]int], n int) Flow[[]int] {
	tokens := Map(f, func(v []int) (out []int64, err error) {
		for _, x := range v {
			out = append(out, int64(x))
		}
		return out, nil
	}, MapOptions{})
	return Map(Pack(tokens, packsOf(n)), func(b *PackedBatch[int64]) (out []int, err error) {
		out = append(out, b.Shape...)
		for i, v := range b.Tokens {
			out = append(out, int(v), int(b.Segments[i]), int(b.Positions[i]))
		}
		return append(out, b.Filled), nil
	}, MapOptions{})
}

// packFlowModel is what packFlow returns.
func packFlowModel(in [][]int, n int) (out [][]int) {
	o := packsOf(n)
	for rows := range slices.Chunk(packModel(in, o), o.Batch) {
		if len(rows) < o.Batch && o.DropRemainder {
			break
		}
		batch, filled := []int{len(rows), o.Length}, 0
		for _, row := range rows {
			width := 0
			for i, v := range row {
				for k, x := range v {
					batch = append(batch, x, i+1, k)
				}
				width += len(v)
			}
			for range o.Length - width {
				batch = append(batch, int(o.Pad), 0, 0)
			}
			filled += width
		}
		out = append(out, append(batch, filled))
	}
	return out
}

func TestPackOptionsAreChecked(t *testing.T) {
	tokens := Map(writeSet(t, Options{}, 3).Records(), func(Record) ([]int32, error) { return []int32{1, 2, 3}, nil }, MapOptions{})
	for _, o := range []PackOptions{
		{},
		{Length: -1},
		{Length: flows.MaxPacked + 1},
		{Length: 8, Batch: -1},
		{Length: 8, Batch: flows.MaxPacked/8 + 1},
		{Length: 8, OpenRows: -1},
		{Length: 8, OpenRows: flows.MaxOpenRows + 1},
		{Length: flows.MaxPacked},
		{Length: 8, Split: true, Truncate: true},
	} {
		if _, err := Pack(tokens, o).Start(context.Background(), From{}); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	for _, err := range Pack(tokens, PackOptions{Length: 2}).All(context.Background()) {
		if err == nil || !strings.Contains(err.Error(), "a sequence of 3 tokens") || !strings.Contains(err.Error(), "00.tfrecord") {
			t.Errorf("%v", err)
		}
	}
	for b, err := range Pack(tokens, PackOptions{Length: 5, Pad: 9}).All(context.Background()) { // the defaults
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int32{1, 2, 3, 9, 9}, b.Tokens); diff != "" {
			t.Error(diff)
		}
	}
}

func TestClonesOfPackedBatches(t *testing.T) {
	f := Pack(Map(writeSet(t, Options{}, 90).Records(), func(r Record) ([]int64, error) {
		return slices.Repeat([]int64{r.Number}, 1+int(r.Number*r.Number%7)), nil
	}, MapOptions{}), PackOptions{Length: 16, Batch: 3, OpenRows: 4})
	checkClones(t, f, (*PackedBatch[int64]).Clone, (*PackedBatch[int64]).State, func(b *PackedBatch[int64]) bool {
		return b.Tokens[0] == pipeline.PoisonInt64
	})
	checkClones(t, f.Skip(1).Take(9), (*PackedBatch[int64]).Clone, (*PackedBatch[int64]).State, func(b *PackedBatch[int64]) bool {
		return b.Tokens[0] == pipeline.PoisonInt64
	})
}

// With BatchWithinEpoch no batch has sequences of two passes, whatever is split, at any State.
func TestPackWithinEpoch(t *testing.T) {
	set := writeSet(t, Options{BatchWithinEpoch: true}, 9, 11)
	pieces := Map(set.Interleave(2, 1).Repeat(3), func(r Record) (out [][]int32, err error) {
		for i := range 1 + r.Number%3 {
			out = append(out, slices.Repeat([]int32{r.Epoch}, 1+int(r.Number+i)%5))
		}
		return out, nil
	}, MapOptions{})
	f := Pack(Unbatch(pieces), PackOptions{Length: 8, Batch: 2, OpenRows: 3, Pad: -1})
	text := func(b *PackedBatch[int32]) string { return fmt.Sprint(b.Epoch, b.Shape, b.Tokens) }
	var all []string
	passes := map[int32]int{}
	for b, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text(b))
		passes[b.Epoch] += b.Filled
		for _, v := range b.Tokens {
			if v != b.Epoch && v != -1 {
				t.Fatalf("a batch of epoch %d has a token of %d: %v", b.Epoch, v, b.Tokens)
			}
		}
	}
	if len(passes) != 3 || passes[0] != passes[1] || passes[1] != passes[2] {
		t.Errorf("tokens of the passes: %v", passes)
	}
	for n := range len(all) + 1 {
		r, err := f.Start(t.Context(), From{State: new(through(t, stateAfter(t, f, n)))})
		if err != nil {
			t.Fatal(err)
		}
		var rest []string
		for b, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, text(b))
		}
		r.Close()
		if !slices.Equal(rest, all[n:]) {
			t.Fatalf("after %d: got %v, want %v", n, rest, all[n:])
		}
	}
}

func TestPackLeavesNothing(t *testing.T) {
	dir := readertest.WriteShards(t, tfrecord.CompressionNone, 900, 900)
	leavesNothing(t, func() {
		set := open(t, dir, Options{Memory: 1, Parallelism: 3})
		r, err := Pack(Map(set.Interleave(2, 1), func(r Record) ([]int32, error) {
			return make([]int32, len(r.Data)), nil
		}, MapOptions{}), PackOptions{Length: 256, Batch: 4}).Prefetch(2).Start(t.Context(), From{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 5 {
			for range 7 {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.NextEpoch(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
