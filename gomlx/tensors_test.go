package gomlx

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/loss"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/reader"
)

// all returns the tensors of the epoch, which no later batch may have changed.
func all(t *testing.T, ds train.Dataset) (inputs, labels [][]*tensors.Tensor) {
	t.Helper()
	for batch, err := range ds.Iter() {
		if err != nil {
			t.Fatal(err)
		}
		inputs, labels = append(inputs, batch.Inputs), append(labels, batch.Labels)
	}
	return inputs, labels
}

func same[T gotype.Supported](t *testing.T, what string, x *tensors.Tensor, shape []int, want []T) {
	t.Helper()
	if got := flat[T](t, x); !slices.Equal(got, want) || !slices.Equal(x.Shape().Dimensions, shape) {
		t.Errorf("%s: %v in the shape %v; want %v, %v", what, got, x.Shape(), want, shape)
	}
}

func cast[To, From number](values []From) (out []To) {
	for _, v := range values {
		out = append(out, To(v))
	}
	return out
}

func TestColumnsEqualTheirBatches(t *testing.T) {
	flow := shuffled(openSet(t, writeSet(t), reader.Options{Seed: 5}), 10)
	var batches []*reader.ColumnBatch
	for b, err := range flow.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b.Clone())
	}
	ds, err := New(t.Context(), "columns", flow, reader.From{}, Columns{
		Inputs: []Column{{Key: "x"}, {Key: "x", DType: dtypes.Float64}, {Key: "x", DType: dtypes.Float32}},
		Labels: []Column{{Key: "id"}, {Key: "id", DType: dtypes.Int32}, {Key: "id", DType: dtypes.Float32}, {Key: "id", DType: dtypes.Float64}, {Key: "big", DType: dtypes.Int64}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	inputs, labels := all(t, ds)
	if len(inputs) != 7 || len(batches) != 7 {
		t.Fatalf("%d and %d batches; want 7", len(inputs), len(batches))
	}
	for i, b := range batches {
		x, id := b.Get("x").Floats, b.Get("id").Int64s
		wide, narrow := []int{b.Rows, 3}, []int{b.Rows, 1}
		same(t, "x", inputs[i][0], wide, x)
		same(t, "x as float64", inputs[i][1], wide, cast[float64](x))
		same(t, "x as float32", inputs[i][2], wide, x)
		same(t, "id", labels[i][0], narrow, id)
		same(t, "id as int32", labels[i][1], narrow, cast[int32](id))
		same(t, "id as float32", labels[i][2], narrow, cast[float32](id))
		same(t, "id as float64", labels[i][3], narrow, cast[float64](id))
		same(t, "big", labels[i][4], narrow, b.Get("big").Int64s)
	}
}

func TestImagesEqualTheirBatches(t *testing.T) {
	normalize := augment.Normalize{Mean: [3]float32{0.5, 0.4, 0.3}, Std: [3]float32{0.2, 0.3, 0.7}}
	set := openSet(t, writeSet(t), reader.Options{Seed: 5})
	for _, spec := range []reader.ImageSpec{
		{Size: 4, Batch: 10, DType: reader.Float32, Channels: 1},
		{Size: 4, Batch: 10, NCHW: true},
		{Size: 4, Batch: 10, NoLabels: true},
		{Size: 4, Batch: 10, NoLabels: true, Mix: augment.Mix{MixUp: 1}},
		{Size: 4, Batch: 10, DType: reader.Float16, Normalize: normalize},
		{Size: 4, Batch: 10, DType: reader.BFloat16, Normalize: normalize},
	} {
		flow := reader.Images(set.ShuffleAll(reader.ShuffleAllOptions{}), spec)
		var batches []*reader.ImageBatch
		for b, err := range flow.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			batches = append(batches, b.Clone())
		}
		ds, err := New(t.Context(), "images", flow, reader.From{}, Images{Labels: dtypes.Int32})
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		inputs, labels := all(t, ds)
		if len(inputs) != len(batches) || len(batches) != 7 {
			t.Fatalf("%d and %d batches; want 7", len(inputs), len(batches))
		}
		for i, b := range batches {
			switch spec.DType {
			case reader.Float32:
				same(t, "pixels", inputs[i][0], b.Shape, b.Pixels)
			case reader.Float16:
				var want []float16.Float16
				for _, bits := range b.Halves {
					want = append(want, float16.FromBits(bits))
				}
				same(t, "pixels", inputs[i][0], b.Shape, want)
			case reader.BFloat16:
				var want []bfloat16.BFloat16
				for _, bits := range b.Halves {
					want = append(want, bfloat16.FromBits(bits))
				}
				same(t, "pixels", inputs[i][0], b.Shape, want)
			default:
				same(t, "pixels", inputs[i][0], b.Shape, b.Bytes)
			}
			if spec.NoLabels {
				if len(labels[i]) != 0 {
					t.Errorf("%d labels; want none", len(labels[i]))
				}
				continue
			}
			same(t, "labels", labels[i][0], []int{b.Shape[0], 1}, cast[int32](b.Labels))
		}
	}
}

// Padded objects are labels, ragged ones an error.
func TestObjects(t *testing.T) {
	batch := &reader.ImageBatch{
		Shape: []int{2, 1, 1, 1}, Bytes: []byte{1, 2}, Labels: []int64{4, 5}, Mix: augment.MixDraw{Lambda: 1},
		Objects: columns.Objects{Boxes: slices.Repeat([]float32{0.5}, 24), Labels: []int64{1, -1, -1, 7, 8, 9}, Counts: []int64{1, 3}},
	}
	inputs, labels, err := Images{Labels: dtypes.Int32}.Tensors(batch)
	if err != nil || len(inputs) != 1 || len(labels) != 3 {
		t.Fatal(inputs, labels, err)
	}
	same(t, "label", labels[0], []int{2, 1}, []int32{4, 5})
	same(t, "boxes", labels[1], []int{2, 3, 4}, batch.Objects.Boxes)
	same(t, "classes", labels[2], []int{2, 3}, cast[int32](batch.Objects.Labels))
	batch.Objects.Masks, batch.Objects.MaskShape = []uint8{1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0}, []int{2, 3, 1, 2}
	if _, labels, err = (Images{}).Tensors(batch); err != nil || len(labels) != 4 {
		t.Fatal(labels, err)
	}
	same(t, "masks", labels[3], []int{2, 3, 1, 2}, batch.Objects.Masks)
	batch.Objects.Keypoints, batch.Objects.KeypointShape = slices.Repeat([]float32{0.5, 1, 2}, 12), []int{2, 3, 2, 3}
	if _, labels, err = (Images{}).Tensors(batch); err != nil || len(labels) != 5 {
		t.Fatal(labels, err)
	}
	same(t, "keypoints", labels[4], []int{2, 3, 2, 3}, batch.Objects.Keypoints)
	batch.Objects.Splits = []int64{0, 3, 6}
	if _, _, err := (Images{}).Tensors(batch); err == nil || !strings.Contains(err.Error(), "MaxBoxes") {
		t.Error(err)
	}
}

// The labels of mixed images are mixed too, or an error.
func TestSoftLabels(t *testing.T) {
	set := openSet(t, writeSet(t), reader.Options{Seed: 5})
	spec := reader.ImageSpec{Size: 4, Batch: 10, Mix: augment.Mix{MixUp: 1}, Classes: records}
	var batches []*reader.ImageBatch
	for b, err := range reader.Images(set.Records(), spec).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b.Clone())
	}
	begin := func(spec reader.ImageSpec, s Images) *Dataset[*reader.ImageBatch] {
		ds, err := New(t.Context(), "soft", reader.Images(set.Records(), spec), reader.From{}, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ds.Close() })
		return ds
	}
	_, labels := all(t, begin(spec, Images{}))
	_, wide := all(t, begin(spec, Images{Labels: dtypes.Float64}))
	if len(labels) != 7 || len(batches) != 7 {
		t.Fatalf("%d and %d batches; want 7", len(labels), len(batches))
	}
	for i, b := range batches {
		if b.Mix.Lambda == 1 || len(labels[i]) != 1 {
			t.Fatalf("batch %d: lambda %v, %d labels; want it mixed, with one", i, b.Mix.Lambda, len(labels[i]))
		}
		same(t, "labels", labels[i][0], []int{b.Shape[0], records}, b.SoftLabels)
		same(t, "labels as float64", wide[i][0], []int{b.Shape[0], records}, cast[float64](b.SoftLabels))
	}
	if err := failure(begin(spec, Images{Labels: dtypes.Int32})); err == nil || !strings.Contains(err.Error(), "labels: dtype Int32 of floats: want Float32") {
		t.Errorf("%v: want the dtype of the labels", err)
	}
	spec.Classes = 0
	if err := failure(begin(spec, Images{})); err == nil || !strings.Contains(err.Error(), "set Classes of the ImageSpec") {
		t.Errorf("%v: want the labels of mixed images refused", err)
	}
	spec = reader.ImageSpec{Size: 4, MaskKey: reader.DefaultImageKey}
	if err := failure(begin(spec, Images{})); err == nil || !strings.Contains(err.Error(), "masks: want a Spec of your own") {
		t.Errorf("%v: want masks refused", err)
	}
}

func TestWhatNoTensorCanBeMadeOf(t *testing.T) {
	flow := shuffled(openSet(t, writeSet(t), reader.Options{}), records)
	for _, c := range []struct {
		column Column
		want   string
	}{
		{Column{Key: "y"}, `column "y": the batch has no such column`},
		{Column{Key: "word"}, `column "word": kind bytes: want numbers`},
		{Column{Key: "list"}, `column "list": ragged: want a fixed shape`},
		{Column{Key: "x", DType: dtypes.Int64}, `column "x": dtype Int64 of floats: want Float32 or Float64`},
		{Column{Key: "id", DType: dtypes.Bool}, `column "id": dtype Bool of integers: want Int64`},
		{Column{Key: "big", DType: dtypes.Int32}, "does not fit into Int32: want Int64"},
	} {
		for _, spec := range []Columns{{Inputs: []Column{c.column}}, {Labels: []Column{c.column}}} {
			ds, err := New(t.Context(), "bad", flow, reader.From{}, spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := failure(ds); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: want %q", err, c.want)
			}
			ds.Close()
		}
	}
	ds, err := New(t.Context(), "bad", reader.Images(openSet(t, writeSet(t), reader.Options{}).Records(), reader.ImageSpec{Size: 4}), reader.From{}, Images{Labels: dtypes.Uint8})
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if err := failure(ds); err == nil || !strings.Contains(err.Error(), "labels: dtype Uint8 of integers") {
		t.Errorf("%v: want the dtype of the labels", err)
	}
	short := columns.Columns{Rows: 2, Columns: []columns.Column{{Key: "x", Kind: 2, Shape: []int{2}, Floats: []float32{1}}}}
	if _, _, err := (Columns{Inputs: []Column{{Key: "x"}}}).Tensors(&reader.ColumnBatch{Columns: short}); err == nil {
		t.Error("fewer values than the shape says are accepted")
	}
}

// spy remembers the tensors that a dataset returns, without keeping them from the garbage collector.
type spy struct {
	*Dataset[*reader.ColumnBatch]
	returned []weak.Pointer[tensors.Tensor]
}

func (s *spy) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		for batch, err := range s.Dataset.Iter() {
			for _, x := range slices.Concat(batch.Inputs, batch.Labels) {
				s.returned = append(s.returned, weak.Make(x))
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

// linear is a model of one layer.
func linear(scope *model.Scope, x *graph.Node) *graph.Node { return layers.Dense(scope, x, true, 1) }

// GoMLX trains and evaluates on a Dataset, epoch after epoch and in calls of a few steps, and no
// tensor stays in memory.
func TestLoopOwnsTheTensors(t *testing.T) {
	backend, err := gobackend.New("")
	if err != nil {
		t.Fatal(err)
	}
	ds := &spy{Dataset: begin(t, shuffled(openSet(t, writeSet(t), reader.Options{}), 9))}
	ds.spec = Columns{Inputs: []Column{{Key: "x"}}, Labels: []Column{{Key: "id", DType: dtypes.Float32}}}
	trainer := train.NewTrainer(backend, model.NewStore(), linear, loss.MeanSquaredError, optimizer.Adam().Done(), nil, nil)
	loop := train.NewLoop(trainer)
	if _, err := loop.RunEpochs(ds, 3); err != nil {
		t.Fatal(err)
	}
	if steps := trainer.GlobalStep(); steps != 21 || ds.Epoch() != 2 {
		t.Errorf("%d steps, then epoch %d; want 21 and 2", steps, ds.Epoch())
	}
	if _, err := trainer.Eval(ds); err != nil {
		t.Fatal(err)
	}
	if ds.Epoch() != 3 {
		t.Errorf("the evaluation is epoch %d; want 3", ds.Epoch())
	}
	for _, steps := range []int{2, 5, 7} {
		if _, err := loop.RunSteps(ds, steps); err != nil {
			t.Fatal(err)
		}
	}
	if ds.Epoch() != 5 {
		t.Errorf("14 steps end in epoch %d; want 5", ds.Epoch())
	}
	if len(ds.returned) != 6*7*2 {
		t.Errorf("%d tensors; want %d", len(ds.returned), 6*7*2)
	}
	testwait.Until(func() bool {
		runtime.GC()
		return !slices.ContainsFunc(ds.returned, func(x weak.Pointer[tensors.Tensor]) bool { return x.Value() != nil })
	})
}
