package gomlx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// Columns is the [Spec] of flows that [reader.ParseColumns] begins: a tensor for each column.
//
// It has the shape of the column, {records, ...}. A column with one value a record becomes
// {records, 1}, as the losses and accuracies of GoMLX want their labels. Ragged columns and columns
// of bytes are an error: convert them to numbers with a [reader.Map] before, by
// [columns.Column.Dense] or a [columns.Vocabulary].
type Columns struct {
	Inputs, Labels []Column
}

// Column is a column that becomes a tensor.
type Column struct {
	// Key of the column.
	Key string
	// DType of the tensor. A column of floats becomes Float32 or Float64, one of int64s Int64,
	// Int32, Float32 or Float64; integers outside of Int32 are an error. Losses of classes want
	// integers; others want the DType of the predictions. Default: the type of the column, Float32
	// or Int64.
	DType dtypes.DType
}

// Tensors returns a tensor for each of the Inputs and Labels.
func (c Columns) Tensors(batch *reader.ColumnBatch) (inputs, labels []*tensors.Tensor, err error) {
	if inputs, err = columnTensors(&batch.Columns, c.Inputs); err != nil {
		return nil, nil, err
	}
	if labels, err = columnTensors(&batch.Columns, c.Labels); err != nil {
		return nil, nil, err
	}
	return inputs, labels, nil
}

func columnTensors(batch *columns.Columns, specs []Column) ([]*tensors.Tensor, error) {
	all := make([]*tensors.Tensor, len(specs))
	for i, spec := range specs {
		c := batch.Get(spec.Key)
		if c == nil {
			return nil, fmt.Errorf("column %q: the batch has no such column", spec.Key)
		}
		var err error
		if all[i], err = columnTensor(c, spec.DType); err != nil {
			return nil, fmt.Errorf("column %q: %w", spec.Key, err)
		}
	}
	return all, nil
}

func columnTensor(c *columns.Column, dtype dtypes.DType) (*tensors.Tensor, error) {
	shape := c.Shape
	if slices.Contains(shape, -1) {
		return nil, fmt.Errorf("ragged: want a fixed shape, which Dense of the column makes")
	}
	if len(shape) == 1 {
		shape = []int{shape[0], 1}
	}
	switch c.Kind {
	case tfrecord.KindFloat:
		return floats(shape, c.Floats, dtype)
	case tfrecord.KindInt64:
		return integers(shape, c.Int64s, dtype)
	default:
		return nil, fmt.Errorf("kind %s: want numbers, such as those that a Vocabulary of package columns looks up", c.Kind)
	}
}

// Images is the [Spec] of flows that [reader.Images] begins: one input, the images, in the shape
// and the DType of the batch, and one label, unless the batch has none. The label is {images, 1},
// or the SoftLabels, {images, classes}, of a batch that has them. Objects padded to MaxBoxes follow
// as two more labels, their boxes, {images, MaxBoxes, 4} of Float32, and their classes, {images,
// MaxBoxes}, where -1 is padding, and then their masks, {images, MaxBoxes, height, width} of Uint8,
// and their keypoints, {images, MaxBoxes, points, 3} of Float32, if the spec selects them; ragged
// ones are an error.
//
// Mixed images with labels but without SoftLabels are an error: set [reader.ImageSpec].Classes. So
// are masks: a Spec of your own can make them inputs or labels. Columns are left out, and so are
// the Lengths of clips, whose input is {records, frames, height, width, channels}.
type Images struct {
	// Labels is the DType of the labels, also of objects: Int64, Int32, Float32 or Float64, and of
	// SoftLabels Float32 or Float64. Default: Int64, and of SoftLabels Float32.
	Labels dtypes.DType
}

// Tensors returns the images and their labels.
func (s Images) Tensors(batch *reader.ImageBatch) (inputs, labels []*tensors.Tensor, err error) {
	if len(batch.Masks) > 0 {
		return nil, nil, errors.New("masks: want a Spec of your own, in place of Images, that makes them inputs or labels")
	}
	label, err := s.label(batch)
	if err != nil {
		return nil, nil, fmt.Errorf("labels: %w", err)
	}
	if label != nil {
		labels = []*tensors.Tensor{label}
	}
	objects, err := s.objects(&batch.Objects)
	if err != nil {
		return nil, nil, fmt.Errorf("objects: %w", err)
	}
	labels = append(labels, objects...)
	images, err := imageTensor(batch)
	if err != nil {
		return nil, nil, fmt.Errorf("images: %w", err)
	}
	return []*tensors.Tensor{images}, labels, nil
}

// label returns the labels of a batch; nil without.
func (s Images) label(batch *reader.ImageBatch) (*tensors.Tensor, error) {
	n := len(batch.Labels)
	switch {
	case n == 0:
		return nil, nil
	case len(batch.SoftLabels) > 0:
		return floats([]int{n, len(batch.SoftLabels) / n}, batch.SoftLabels, s.Labels)
	case batch.Mix.Lambda != 1:
		return nil, errors.New("the images are mixed and their labels are not: set Classes of the ImageSpec for soft labels")
	}
	return integers([]int{n, 1}, batch.Labels, s.Labels)
}

// objects returns the boxes of a batch, their labels, masks and keypoints; nil without.
func (s Images) objects(o *columns.Objects) ([]*tensors.Tensor, error) {
	n := len(o.Counts)
	switch {
	case n == 0:
		return nil, nil
	case len(o.Splits) > 0:
		return nil, errors.New("ragged: want a fixed number for each image, which MaxBoxes of the ObjectSpec sets")
	}
	most := len(o.Labels) / n
	boxes, err := convert[float32]([]int{n, most, 4}, o.Boxes)
	if err != nil {
		return nil, err
	}
	labels, err := integers([]int{n, most}, o.Labels, s.Labels)
	if err != nil {
		return nil, err
	}
	all := []*tensors.Tensor{boxes, labels}
	if len(o.MaskShape) > 0 {
		masks, err := convert[uint8](o.MaskShape, o.Masks)
		if err != nil {
			return nil, err
		}
		all = append(all, masks)
	}
	if len(o.KeypointShape) > 0 {
		keypoints, err := convert[float32](o.KeypointShape, o.Keypoints)
		if err != nil {
			return nil, err
		}
		all = append(all, keypoints)
	}
	return all, nil
}

func imageTensor(batch *reader.ImageBatch) (*tensors.Tensor, error) {
	switch batch.DType {
	case reader.Float32:
		return convert[float32](batch.Shape, batch.Pixels)
	case reader.Float16:
		return convert[float16.Float16](batch.Shape, batch.Halves)
	case reader.BFloat16:
		return convert[bfloat16.BFloat16](batch.Shape, batch.Halves)
	}
	return convert[uint8](batch.Shape, batch.Bytes)
}

func floats(shape []int, values []float32, dtype dtypes.DType) (*tensors.Tensor, error) {
	switch dtype {
	case dtypes.InvalidDType, dtypes.Float32:
		return convert[float32](shape, values)
	case dtypes.Float64:
		return convert[float64](shape, values)
	}
	return nil, fmt.Errorf("dtype %s of floats: want Float32 or Float64", dtype)
}

func integers(shape []int, values []int64, dtype dtypes.DType) (*tensors.Tensor, error) {
	switch dtype {
	case dtypes.InvalidDType, dtypes.Int64:
		return convert[int64](shape, values)
	case dtypes.Int32:
		for _, v := range values {
			if v < math.MinInt32 || v > math.MaxInt32 {
				return nil, fmt.Errorf("%d does not fit into Int32: want Int64", v)
			}
		}
		return convert[int32](shape, values)
	case dtypes.Float32:
		return convert[float32](shape, values)
	case dtypes.Float64:
		return convert[float64](shape, values)
	}
	return nil, fmt.Errorf("dtype %s of integers: want Int64, Int32, Float32 or Float64", dtype)
}

// number is a type of values. A uint16 is the bits of a float of 16 bits, which convert keeps.
type number interface {
	uint8 | int32 | int64 | float32 | float64 | uint16 | float16.Float16 | bfloat16.BFloat16
}

// convert returns a tensor of the values: their only copy.
func convert[To, From number](shape []int, values []From) (*tensors.Tensor, error) {
	t := tensors.FromShape(shapes.Make(dtypes.FromGenericsType[To](), shape...))
	if t.Size() != len(values) {
		return nil, fmt.Errorf("%d values for a tensor of %v", len(values), shape)
	}
	err := tensors.MutableFlatData(t, func(flat []To) {
		if same, ok := any(values).([]To); ok {
			copy(flat, same)
			return
		}
		for i, v := range values {
			flat[i] = To(v)
		}
	})
	return t, err
}
