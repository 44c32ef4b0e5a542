package where

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// ErrMissing says that a record lacks the value of a feature that the
// expression came to: the record does not match.
var ErrMissing = errors.New("the record lacks a value that the expression needs")

// machine evaluates an expression.
type machine struct {
	vm     vm.VM
	record record
}

// record is what an expression is evaluated for.
type record struct {
	features []Feature
	values   []tfrecord.Feature // of each feature; KindNone where the record has none
	boxes    boxList
}

// Match reports whether the features match. Only those that the expression names are read. The
// error unwraps to ErrMissing when a value is missing; all others mean that the expression cannot
// be evaluated for the record, such as a feature of another kind than Compile was given, or an
// index past the end of a list.
func (x *Expression) Match(features *tfrecord.Features) (bool, error) {
	m := x.machines.Get().(*machine)
	defer x.machines.Put(m)
	for i, f := range x.features {
		value, _ := features.Get(f.Key)
		if value.Len() == 0 { // an empty list is of any kind
			value = tfrecord.Feature{}
		} else if f.Kind != tfrecord.KindNone && value.Kind() != f.Kind {
			return false, fmt.Errorf("feature %q has %v values; want %v", f.Key, value.Kind(), f.Kind)
		} else if !f.List && f.Kind != tfrecord.KindNone && value.Len() != 1 {
			return false, fmt.Errorf("feature %q has %s; want one", f.Key, plural.Of(value.Len(), "value"))
		}
		m.record.values[i] = value
	}
	m.record.boxes.reset(features)
	result, err := m.vm.Run(x.program, &m.record)
	clear(m.record.values) // they hold on to the record
	m.record.boxes.reset(nil)
	if err != nil {
		return false, runError(err)
	}
	return result.(bool), nil // Compile saw to that
}

// runError takes what expr adds for terminals from an error.
func runError(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return err
	}
	if errors.Is(at.Prev, ErrMissing) {
		return at.Prev
	}
	if strings.HasPrefix(at.Message, "index out of range") { // of a list that is too short in this record
		return fmt.Errorf("%w: column %d of the expression: %s", ErrMissing, at.Column+1, at.Message)
	}
	return fmt.Errorf("column %d of the expression: %s", at.Column+1, at.Message)
}

// What names of features become: functions of the record and the place of the
// feature in it.

func missing(key string) error { return fmt.Errorf("%w: %q", ErrMissing, key) }

func hasValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	return r.values[slot].Len() > 0, nil
}

func intValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v, ok := r.values[slot].Int64()
	if !ok {
		return nil, missing(r.features[slot].Key)
	}
	return v, nil
}

func floatValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v, ok := r.values[slot].Float()
	if !ok {
		return nil, missing(r.features[slot].Key)
	}
	return float64(v), nil
}

func stringValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v, ok := r.values[slot].Bytes()
	if !ok {
		return nil, missing(r.features[slot].Key)
	}
	return string(v), nil
}

func intValues(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	return r.values[slot].AppendInt64s(nil), nil
}

func floatValues(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	floats := r.values[slot].AppendFloats(nil)
	values := make([]float64, len(floats))
	for i, v := range floats {
		values[i] = float64(v)
	}
	return values, nil
}

func stringValues(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	list := r.values[slot].AppendBytes(nil)
	values := make([]string, len(list))
	for i, v := range list {
		values[i] = string(v)
	}
	return values, nil
}

// length is len: bytes of a string, values of a list.
func length(args ...any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return len(v), nil
	case []int64:
		return len(v), nil
	case []float64:
		return len(v), nil
	case []string:
		return len(v), nil
	case []box:
		return len(v), nil
	case []any: // what filter and map make
		return len(v), nil
	case []int: // a range
		return len(v), nil
	}
	return nil, fmt.Errorf("len of %T: want a string or a list", args[0])
}
