package arrow

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tfrec/tfrec/internal/table"
)

// chain is an array, and the structs around it, whose nulls are its own.
type chain struct {
	arrow.Array
	around []arrow.Array
}

// descend follows a path through structs.
func descend(a arrow.Array, path []int) (chain, error) {
	c := chain{Array: a}
	for _, i := range path {
		s, ok := stored(c.Array).(*array.Struct)
		if !ok || i >= s.NumField() || s.Field(i).Len() < s.Len() {
			return c, errMetadata
		}
		c.around = append(c.around, s)
		c.Array = s.Field(i)
	}
	return c, nil
}

// stored returns the storage array of an extension type.
func stored(a arrow.Array) arrow.Array {
	for {
		e, ok := a.(array.ExtensionArray)
		if !ok {
			return a
		}
		a = e.Storage()
	}
}

// null reports whether value i is null.
func (c *chain) null(i int) bool {
	for _, s := range c.around {
		if s.IsNull(i) {
			return true
		}
	}
	switch a := stored(c.Array).(type) {
	case *array.Null:
		return true
	case *array.Dictionary:
		if a.IsNull(i) {
			return true
		}
		k := a.GetValueIndex(i)
		return k >= 0 && k < a.Dictionary().Len() && a.Dictionary().IsNull(k)
	default:
		return a.IsNull(i)
	}
}

// nullable reports whether some value may be null.
func (c *chain) nullable() bool {
	for _, s := range c.around {
		if s.NullN() > 0 {
			return true
		}
	}
	switch a := stored(c.Array).(type) {
	case *array.Null:
		return true
	case *array.Dictionary:
		return a.NullN() > 0 || a.Dictionary().NullN() > 0
	default:
		return a.NullN() > 0
	}
}

// rows replaces v with rows first up to end of a record batch, and appends those with nulls in lists
// to bad. Row numbers are those in the result.
func (l *leaf) rows(v *table.Values, batch arrow.RecordBatch, kind table.Kind, asList bool, first, end int, bad []int) ([]int, error) {
	v.Reset(kind)
	if l.path[0] >= int(batch.NumCols()) {
		return nil, errMetadata
	}
	outer, err := descend(batch.Column(l.path[0]), l.path[1:])
	if err != nil {
		return nil, err
	}
	if outer.Len() < end {
		return nil, errMetadata
	}
	if outer.nullable() {
		for i := first; i < end; i++ {
			v.Present = append(v.Present, !outer.null(i))
		}
	}
	switch {
	case l.list:
		return l.lists(v, outer, first, end, bad)
	case asList:
		v.Splits = append(v.Splits, 0)
		for i := first; i < end; i++ {
			if v.Has(i - first) {
				if err := l.appendValues(v, outer.Array, i, i+1); err != nil {
					return nil, err
				}
			}
			v.Splits = append(v.Splits, int32(length(v)))
		}
		return bad, nil
	}
	if err := l.appendValues(v, outer.Array, first, end); err != nil {
		return nil, err
	}
	return bad, nil
}

// length returns the number of values.
func length(v *table.Values) int {
	switch v.Kind {
	case table.Int64:
		return len(v.Ints)
	case table.Float:
		return len(v.Floats)
	}
	return len(v.Ends)
}

// lists appends lists. Runs of elements that follow each other are appended together.
func (l *leaf) lists(v *table.Values, outer chain, first, end int, bad []int) ([]int, error) {
	list, ok := stored(outer.Array).(array.ListLike)
	if !ok {
		return nil, errMetadata
	}
	inner, err := descend(list.ListValues(), l.inner)
	if err != nil {
		return nil, err
	}
	nullable := inner.nullable()
	v.Splits = append(v.Splits, 0)
	total := 0
	from, to := int64(0), int64(0) // elements to append
	flush := func() error {
		if from == to {
			return nil
		}
		err := l.appendValues(v, inner.Array, int(from), int(to))
		if e := (*tooLarge)(nil); errors.As(err, &e) {
			e.index = rowOf(list, first, end, int64(e.index))
		}
		return err
	}
	for i := first; i < end; i++ {
		if v.Has(i - first) {
			begin, stop := list.ValueOffsets(i)
			if begin < 0 || stop < begin || stop > int64(inner.Len()) {
				return nil, fmt.Errorf("row %d: elements %d to %d of %d", i, begin, stop, inner.Len())
			}
			if nullable && inner.nullIn(begin, stop) {
				if len(v.Present) == 0 {
					v.Present = allPresent(v.Present, end-first)
				}
				v.Present[i-first] = false
				bad = append(bad, i-first)
				stop = begin
			}
			if total += int(stop - begin); total > maxElements {
				return nil, errTooLarge
			}
			if begin != to {
				if err := flush(); err != nil {
					return nil, err
				}
				from = begin
			}
			to = stop
		}
		v.Splits = append(v.Splits, int32(total))
	}
	return bad, flush()
}

func allPresent(p []bool, n int) []bool {
	for range n {
		p = append(p, true)
	}
	return p
}

// nullIn reports whether an element is null.
func (c *chain) nullIn(begin, end int64) bool {
	for i := begin; i < end; i++ {
		if c.null(int(i)) {
			return true
		}
	}
	return false
}

// rowOf returns the row whose list has an element.
func rowOf(list array.ListLike, first, end int, element int64) int {
	for i := first; i < end; i++ {
		if begin, stop := list.ValueOffsets(i); begin <= element && element < stop {
			return i
		}
	}
	return first
}
