package reader

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// checkClones takes a batch of each kind through its life: a clone and its state stay as they were,
// and what is kept without one is overwritten.
func checkClones[T any](t *testing.T, f Flow[T], clone func(T) T, state func(T) State, spoilt func(T) bool) {
	t.Helper()
	s, err := f.Start(context.Background(), From{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var kept T
	var clones []T
	var states []State
	for v, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		if len(clones) == 0 {
			kept = v
		}
		if clones = append(clones, clone(v)); state != nil {
			states = append(states, state(v))
		}
	}
	s.Close()
	if len(clones) < 3 {
		t.Fatalf("only %d batches", len(clones))
	}
	if !spoilt(kept) {
		t.Errorf("what was kept too long is as it was: %+v", kept)
	}
	for i, c := range clones {
		if spoilt(c) {
			t.Fatalf("clone %d was overwritten: %+v", i, c)
		}
		if state == nil {
			continue
		}
		if diff := cmp.Diff(states[i], state(c)); diff != "" {
			t.Errorf("the state of clone %d:\n%s", i, diff)
		}
		if diff := cmp.Diff(states[i], state(clone(c))); diff != "" {
			t.Errorf("the state of a clone of clone %d:\n%s", i, diff)
		}
	}
	if state == nil {
		return
	}
	// The state of a clone resumes after it.
	r, err := f.Start(context.Background(), From{State: new(state(clones[0]))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmpopts.IgnoreUnexported(ColumnBatch{}, ImageBatch{}, PackedBatch[int64]{}, columns.Column{})
	if diff := cmp.Diff(clones[1], clone(next), ignore); diff != "" {
		t.Errorf("after the first clone:\n%s", diff)
	}
}

func TestClonesOfBatches(t *testing.T) {
	if b := (&ImageBatch{Labels: []int64{1}}).Clone(); len(b.Labels) != 1 {
		t.Errorf("the clone of a batch that no flow made: %+v", b)
	}
	p := imageSet(t, 20, nil).Interleave(2, 1)
	checkClones(t, Batch(p, 7, BatchOptions{}), cloneRecords, nil, func(b []Record) bool {
		return len(b[0].Data) == 0 || b[0].Data[0] == pipeline.PoisonByte
	})
	checkClones(t, ParseColumns(p, ColumnSpec{Batch: 7}), (*ColumnBatch).Clone, (*ColumnBatch).State, func(b *ColumnBatch) bool {
		c := b.Get(DefaultLabelKey)
		return len(c.Int64s) == 0 || c.Int64s[0] == pipeline.PoisonInt64
	})
	checkClones(t, Batch(p, 7, BatchOptions{}).Cache(CacheOptions{}), cloneRecords, nil, func(b []Record) bool {
		return b[0].Data[0] == pipeline.PoisonByte
	})
	checkClones(t, ParseColumns(p, ColumnSpec{Batch: 7}).Cache(CacheOptions{}), (*ColumnBatch).Clone, (*ColumnBatch).State, func(b *ColumnBatch) bool {
		return b.Get(DefaultLabelKey).Int64s[0] == pipeline.PoisonInt64
	})
	schema := columns.Schema{{Key: DefaultLabelKey, Kind: tfrecord.KindInt64}}
	for _, dtype := range []DType{Uint8, Float32, BFloat16} {
		checkClones(t, Images(p, ImageSpec{Size: 8, Batch: 7, DType: dtype, Columns: schema, Classes: 200, Mix: augment.Mix{MixUp: 1}}), (*ImageBatch).Clone, (*ImageBatch).State, func(b *ImageBatch) bool {
			return b.Labels[0] == pipeline.PoisonInt64 && b.Columns.Get(DefaultLabelKey).Int64s[0] == pipeline.PoisonInt64 &&
				math.IsNaN(float64(b.SoftLabels[0])) &&
				(dtype == Uint8 && b.Bytes[0] == pipeline.PoisonByte || dtype == Float32 && math.IsNaN(float64(b.Pixels[0])) || dtype == BFloat16 && b.Halves[0] == pipeline.PoisonHalf)
		})
	}
	detections := boxedSet(t, 8, 2).Records()
	for most := range 2 {
		spec := ImageSpec{Size: 8, Batch: 3, Mix: augment.Mix{MixUp: 1}, Objects: &columns.ObjectSpec{MaxBoxes: most}}
		checkClones(t, Images(detections, spec), (*ImageBatch).Clone, (*ImageBatch).State, func(b *ImageBatch) bool {
			o := &b.Objects
			return math.IsNaN(float64(o.Boxes[0])) && math.IsNaN(float64(o.Weights[0])) && o.Labels[0] == pipeline.PoisonInt64 &&
				o.Indexes[0] == pipeline.PoisonInt64 && o.Counts[0] == pipeline.PoisonInt64 && (most > 0 || o.Splits[0] == pipeline.PoisonInt64)
		})
	}
	frames := ImageSpec{Size: 8, Batch: 7, Steps: columns.FlatSteps, Frames: 2}
	checkClones(t, Images(p, frames), (*ImageBatch).Clone, (*ImageBatch).State, func(b *ImageBatch) bool {
		return b.Lengths[0] == pipeline.PoisonInt64 && b.Bytes[0] == pipeline.PoisonByte
	})
}
