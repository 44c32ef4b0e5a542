package columns

import (
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/tfrecord"
)

// maxDense bounds the values that Dense, OneHot and MultiHot make at once: a single long record
// must not decide about the memory of the whole batch.
const maxDense = 1 << 28

// Lengths appends the number of values of each record to dst, and returns the extended slice. Of
// sequences it is the number of steps, before padding.
func (c *Column) Lengths(dst []int64) []int64 {
	for row := range len(c.Splits) - 1 {
		dst = append(dst, c.Splits[row+1]-c.Splits[row])
	}
	if len(c.Splits) > 0 {
		return dst
	}
	for row := range c.rows() {
		from, to := c.Row(row)
		dst = append(dst, int64(to-from))
	}
	return dst
}

// rows returns the number of records; 0 for the zero Column.
func (c *Column) rows() int {
	if len(c.Shape) == 0 {
		return 0
	}
	return c.Shape[0]
}

// Dense sets dst to the values of c as a tensor of Shape {rows, width}: shorter records are filled
// up with pad, and longer ones are cut after width values. With width 0, the longest record of the
// batch sets the width, at least 1. This is tf.RaggedTensor.to_tensor; [Column.Lengths] has the
// numbers of values before padding. Of sequences, width counts steps, and the shape of the field
// follows it; ragged steps are an error, and so is a column that its [Field.Length] padded.
//
// Pad is an int64, a float32, or a string, as the Kind of the column; nil is 0 or the empty string.
// Dst must be another column, whose memory is reused; it stays valid when the batch is not. More
// than 2^28 values are an error. After an error dst is as it was.
func (c *Column) Dense(dst *Column, width int, pad any) error {
	if c.padded() {
		return fmt.Errorf("columns: Dense of column %q, which is dense: its Length padded it to the Shape %v; for another width, set another Length or none", c.Key, c.Shape)
	}
	rows, step := c.rows(), c.perStep()
	if step < 0 {
		return fmt.Errorf("columns: Dense of column %q, whose steps are ragged", c.Key)
	}
	if width == 0 {
		width = 1
		for row := range rows {
			from, to := c.Row(row)
			width = max(width, (to-from)/step)
		}
	}
	if err := checkDense(c.Key, rows*step, width); err != nil {
		return err
	}
	ok := pad == nil
	var ints [1]int64
	var floats [1]float32
	var text string
	if !ok {
		switch c.Kind {
		case tfrecord.KindInt64:
			ints[0], ok = pad.(int64)
		case tfrecord.KindFloat:
			floats[0], ok = pad.(float32)
		default:
			text, ok = pad.(string)
		}
	}
	if !ok {
		return fmt.Errorf("columns: column %q cannot be padded with a %T: its values are %v", c.Key, pad, c.Kind)
	}
	dst.Key, dst.Kind, dst.count, dst.step = c.Key, c.Kind, width*step, step
	dst.Shape = append(dst.Shape[:0], rows, width)
	if c.count < 0 {
		dst.Shape = append(dst.Shape, c.Shape[2:]...)
	}
	dst.Splits, dst.StepSplits = dst.Splits[:0], dst.StepSplits[:0]
	c.dense(dst, width, &values{int64s: ints[:], floats: floats[:], bytes: [][]byte{[]byte(text)}})
	return nil
}

// perStep returns the number of values that Dense pads together; -1 if it varies.
func (c *Column) perStep() int {
	if c.count >= 0 {
		return 1
	}
	return c.step
}

// dense sets the values of dst to width steps of each record, with pad, one value or one step, in
// place of those that are missing.
func (c *Column) dense(dst *Column, width int, pad *values) {
	width *= c.perStep()
	dst.Int64s, dst.Floats = dst.Int64s[:0], dst.Floats[:0]
	dst.Bytes, dst.Offsets = dst.Bytes[:0], dst.Offsets[:0]
	switch c.Kind {
	case tfrecord.KindInt64:
		dst.Int64s = dense(dst.Int64s, c, c.Int64s, width, pad.int64s)
	case tfrecord.KindFloat:
		dst.Floats = dense(dst.Floats, c, c.Floats, width, pad.floats)
	default:
		dst.Offsets = append(slices.Grow(dst.Offsets, c.rows()*width+1), 0)
		for row := range c.rows() {
			from, to := c.Row(row)
			for i := range width {
				if from+i < to {
					dst.appendBytes(c.Value(from + i))
				} else {
					dst.appendBytes(pad.bytes[i%len(pad.bytes)])
				}
			}
		}
	}
}

// dense appends width values of each record to dst.
func dense[T any](dst []T, c *Column, values []T, width int, pad []T) []T {
	dst = slices.Grow(dst, c.rows()*width)
	for row := range c.rows() {
		from, to := c.Row(row)
		to = min(to, from+width)
		dst = append(dst, values[from:to]...)
		for range (width - (to - from)) / len(pad) {
			dst = append(dst, pad...)
		}
	}
	return dst
}

// checkDense refuses a tensor that is too large.
func checkDense(key string, n, width int) error {
	if width < 1 || width > maxDense || n > maxDense/width {
		return fmt.Errorf("columns: a tensor of %d by %d values of column %q: want a width of at least 1, and at most %d values", n, width, key, maxDense)
	}
	return nil
}

// OneHot appends depth numbers for each value of an int64 column to dst, and returns the extended
// slice: 1 at the index that the value is, 0 elsewhere, as tf.one_hot. Its shape is the Shape of
// the column and depth. A value below 0, or not below depth, is an error, in padding too, and so is a
// ragged column (see [Column.MultiHot]).
func (c *Column) OneHot(dst []float32, depth int) ([]float32, error) {
	if c.count < 0 {
		return dst, fmt.Errorf("columns: OneHot of column %q, which is ragged: use MultiHot, or Dense first", c.Key)
	}
	if err := c.checkHot(len(c.Int64s), depth, c.Row); err != nil {
		return dst, err
	}
	at := len(dst)
	dst = append(dst, make([]float32, len(c.Int64s)*depth)...)
	for i, id := range c.Int64s {
		dst[at+i*depth+int(id)] = 1
	}
	return dst, nil
}

// MultiHot appends depth numbers for each record of an int64 column to dst, and returns the
// extended slice: 1 at the indexes that the values of the record are, 0 elsewhere. Its shape is
// {rows, depth}. Padding does not count. A value below 0, or not below depth, is an error.
func (c *Column) MultiHot(dst []float32, depth int) ([]float32, error) {
	if err := c.checkHot(c.rows(), depth, c.real); err != nil {
		return dst, err
	}
	at := len(dst)
	dst = append(dst, make([]float32, c.rows()*depth)...)
	for row := range c.rows() {
		from, to := c.real(row)
		for _, id := range c.Int64s[from:to] {
			dst[at+row*depth+int(id)] = 1
		}
	}
	return dst, nil
}

// checkHot checks that values of a column are indexes below depth, for n vectors. values returns
// the range of a record's values.
func (c *Column) checkHot(n, depth int, values func(row int) (from, to int)) error {
	if c.Kind != tfrecord.KindInt64 {
		return fmt.Errorf("columns: the values of column %q are %v, and cannot be indexes: look them up in a Vocabulary first", c.Key, c.Kind)
	}
	if err := checkDense(c.Key, n, depth); err != nil {
		return err
	}
	for row := range c.rows() {
		from, to := values(row)
		for _, id := range c.Int64s[from:to] {
			if id < 0 || id >= int64(depth) {
				return fmt.Errorf("columns: row %d of column %q has the value %d: want 0 to %d", row, c.Key, id, depth-1)
			}
		}
	}
	return nil
}
