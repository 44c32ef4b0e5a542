package where

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// ErrMissing means that a record does not have a value that the evaluation needed: the record does
// not match.
var ErrMissing = errors.New("the record lacks a value that the expression needs")

// machine evaluates an expression.
type machine struct {
	vm     vm.VM
	record record
}

// record is the input of an evaluation.
type record struct {
	features []Feature
	values   []value // of each feature
	boxes    boxList
	budget   budget
}

// value is a feature of a record and its values for an expression: a list is made once, however
// often it is named.
type value struct {
	feature tfrecord.Feature // of KindNone where the record has none
	one     any              // the only value of a bytes feature; nil until it is named
	list    any              // nil until it is named
}

// Match reports whether the features match. Only those that the expression names are read. The
// error unwraps to ErrMissing when a value is missing, and to the cause of ctx when that has ended;
// all others mean that the expression cannot be evaluated for the record, such as a feature of
// another kind than Compile was given, an index past the end of a list, or too much work.
func (x *Expression) Match(ctx context.Context, features *tfrecord.Features) (bool, error) {
	m := x.machines.Get().(*machine)
	defer x.machines.Put(m)
	for i, f := range x.features {
		feature, _ := features.Get(f.Key)
		if feature.Len() == 0 { // an empty list is of any kind
			feature = tfrecord.Feature{}
		} else if f.Kind != tfrecord.KindNone && feature.Kind() != f.Kind {
			return false, fmt.Errorf("feature %q has %v values; want %v", f.Key, feature.Kind(), f.Kind)
		} else if !f.List && f.Kind != tfrecord.KindNone && feature.Len() != 1 {
			return false, fmt.Errorf("feature %q has %s; want one", f.Key, plural.Of(feature.Len(), "value"))
		}
		m.record.values[i].feature = feature
	}
	m.record.boxes.reset(features)
	m.record.budget.reset(ctx, &m.vm, x.steps)
	result, err := m.vm.Run(x.program, &m.record)
	clear(m.record.values) // they hold on to the record
	m.record.boxes.reset(nil)
	m.record.budget.ctx = nil
	if err != nil {
		return false, x.runError(err)
	}
	return result.(bool), nil // Compile saw to that
}

// runError takes what expr adds for terminals from an error.
func (x *Expression) runError(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return err
	}
	var ended *endedError
	switch {
	case errors.Is(at.Prev, ErrMissing):
		return at.Prev
	case errors.As(at.Prev, &ended):
		return ended.cause
	case errors.Is(at.Prev, errSteps):
		return fmt.Errorf("the condition %s takes too much work for this record: %w", x.text, errSteps)
	case strings.HasPrefix(at.Message, memoryMessage):
		return fmt.Errorf("the condition %s takes too much memory for this record: its lists would have more elements than is allowed", x.text)
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
	return r.values[slot].feature.Len() > 0, nil
}

func intValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v, ok := r.values[slot].feature.Int64()
	if !ok {
		return nil, missing(r.features[slot].Key)
	}
	return v, nil
}

func floatValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v, ok := r.values[slot].feature.Float()
	if !ok {
		return nil, missing(r.features[slot].Key)
	}
	return float64(v), nil
}

func stringValue(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v := &r.values[slot]
	if v.one == nil {
		b, ok := v.feature.Bytes()
		if !ok {
			return nil, missing(r.features[slot].Key)
		}
		r.budget.grow(1, len(b))
		v.one = string(b)
	}
	return v.one, nil
}

func intValues(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v := &r.values[slot]
	if v.list == nil {
		list := v.feature.AppendInt64s(nil)
		r.budget.grow(len(list), 0)
		v.list = list
	}
	return v.list, nil
}

func floatValues(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v := &r.values[slot]
	if v.list == nil {
		list := make([]float64, 0, v.feature.Len())
		for x := range v.feature.FloatList() {
			list = append(list, float64(x))
		}
		r.budget.grow(len(list), 0)
		v.list = list
	}
	return v.list, nil
}

func stringValues(args ...any) (any, error) {
	r, slot := args[0].(*record), args[1].(int)
	v := &r.values[slot]
	if v.list == nil {
		list, bytes := make([]string, 0, v.feature.Len()), 0
		for x := range v.feature.BytesList() {
			list = append(list, string(x))
			bytes += len(x)
		}
		r.budget.grow(len(list), bytes)
		v.list = list
	}
	return v.list, nil
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
