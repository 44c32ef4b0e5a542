package columns

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/tfrecord"
)

// maxValues is the maximum number of values of a fixed-length feature in one record.
const maxValues = 1 << 28

// Field describes how one feature of the Examples becomes a column of values of one kind.
type Field struct {
	// Key of the feature.
	Key string
	// Kind of its values: tfrecord.KindInt64, KindFloat or KindBytes.
	Kind tfrecord.Kind
	// Shape of one record's values, or of one step's, each dimension 1 or more; nil for a scalar. As
	// with tf.io.FixedLenFeature, a record with another number of values is an error. Ragged fields
	// have none.
	Shape []int
	// Ragged allows any number of values per record, or per step, as tf.io.RaggedFeature and
	// VarLenFeature do; a record without the feature has none.
	Ragged bool
	// Default holds the values for records without the feature: a value or a slice of int64,
	// float32, string or []byte, matching Kind. A single value fills all of a larger Shape. Without
	// a default such a record is an error. Ragged fields have none. In a field with a Length it is
	// the step that fills up shorter records, by default of zeros or empty strings.
	Default any
	// Steps makes the field one of sequences: a record has any number of steps, each with values of
	// Shape, and the column has the Shape {rows, -1, Shape...}. A record whose steps have other
	// numbers of values is an error.
	Steps Steps
	// Length is the number of steps of each record in a column of the Shape {rows, Length,
	// Shape...}: shorter records are filled up with Default, longer ones are cut after Length
	// steps. [Longest] uses the length of the longest record in the batch, as
	// tf.io.FixedLenSequenceFeature does. Default: 0, not padded. [Column.Lengths] has the numbers
	// of steps before padding. All padded columns of a batch together take at most 1 GiB, where an
	// int64 or a float take 8 and 4 bytes, and a byte string 8 and what its padding has; more is an
	// [ErrPadding].
	Length int
	// AllowMissing gives no steps to a record without the feature, instead of an error. Only for
	// fields with Steps.
	AllowMissing bool
}

// Schema lists the features that become columns, in order. Other features are ignored.
type Schema []Field

// Validate returns an error for fields without a kind or with a mismatched default, and for
// duplicate keys.
func (s Schema) Validate() error {
	if len(s) == 0 {
		return errors.New("schema: no field")
	}
	seen := make(map[string]bool, len(s))
	for i := range s {
		f := &s[i]
		if seen[f.Key] {
			return fmt.Errorf("schema: feature %q is given twice", f.Key)
		}
		seen[f.Key] = true
		if err := f.validate(); err != nil {
			return fmt.Errorf("schema: feature %q: %w", f.Key, err)
		}
	}
	return nil
}

func (f *Field) validate() error {
	switch f.Kind {
	case tfrecord.KindInt64, tfrecord.KindFloat, tfrecord.KindBytes:
	default:
		return fmt.Errorf("its kind is %v; want int64, float or bytes", f.Kind)
	}
	if err := f.validateSteps(); err != nil {
		return err
	}
	if f.Ragged && (f.Shape != nil || f.Default != nil) {
		return errors.New("a ragged feature has neither shape nor default")
	}
	n := 1
	for _, side := range f.Shape {
		if side < 1 || side > maxValues/n {
			return fmt.Errorf("its shape is %v; want sides of 1 or more, %d values at most", f.Shape, maxValues)
		}
		n *= side
	}
	_, err := f.defaults()
	return err
}

// count returns the number of values per record; -1 if it varies.
func (f *Field) count() int {
	if f.Ragged || f.Steps != NoSteps {
		return -1
	}
	return f.size()
}

// size returns the number of values of the shape.
func (f *Field) size() int {
	n := 1
	for _, side := range f.Shape {
		n *= side
	}
	return n
}

// values are some values of one kind.
type values struct {
	int64s []int64
	floats []float32
	bytes  [][]byte
}

func (v *values) len() int { return len(v.int64s) + len(v.floats) + len(v.bytes) }

// defaults returns the default, expanded to the number of values in a record; nil if there is none.
func (f *Field) defaults() (*values, error) {
	if f.Default == nil {
		return nil, nil
	}
	var v values
	kind := tfrecord.KindNone
	switch d := f.Default.(type) {
	case int:
		kind, v.int64s = tfrecord.KindInt64, []int64{int64(d)}
	case int64:
		kind, v.int64s = tfrecord.KindInt64, []int64{d}
	case []int64:
		kind, v.int64s = tfrecord.KindInt64, d
	case float32:
		kind, v.floats = tfrecord.KindFloat, []float32{d}
	case float64:
		kind, v.floats = tfrecord.KindFloat, []float32{float32(d)}
	case []float32:
		kind, v.floats = tfrecord.KindFloat, d
	case string:
		kind, v.bytes = tfrecord.KindBytes, [][]byte{[]byte(d)}
	case []byte:
		kind, v.bytes = tfrecord.KindBytes, [][]byte{d}
	case []string:
		kind = tfrecord.KindBytes
		for _, s := range d {
			v.bytes = append(v.bytes, []byte(s))
		}
	case [][]byte:
		kind, v.bytes = tfrecord.KindBytes, d
	}
	if kind != f.Kind {
		return nil, fmt.Errorf("its default is of type %T, its kind %v", f.Default, f.Kind)
	}
	n := f.size()
	switch {
	case v.len() == 1:
		v.int64s, v.floats, v.bytes = broadcast(v.int64s, n), broadcast(v.floats, n), broadcast(v.bytes, n)
	case v.len() != n:
		return nil, fmt.Errorf("its default has %d values, its shape %v", v.len(), f.Shape)
	}
	return &v, nil
}

// broadcast returns the only element of one n times; nil for an empty slice.
func broadcast[V any](one []V, n int) []V {
	if len(one) == 0 || n == 1 {
		return one
	}
	all := make([]V, n)
	for i := range all {
		all[i] = one[0]
	}
	return all
}
