package parquet

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/table"
)

// rowValues collects the rows of a column.
type rowValues struct {
	*table.Values
	split bool // the column has Splits
	bad   []int

	// look, if set, is called with the values of kind Bytes, which are then not collected: they
	// count as empty. It is called once for each value of a dictionary. size is the bytes of all
	// values.
	look   func(value []byte) error
	looked *page  // the dictionary
	values []bool // of looked, those that were looked at
	size   int64

	// The list that is being read.
	open, present, broken bool
	start                 int // values before it
	count                 int // rows
}

// reset empties the rows.
func (r *rowValues) reset(v *table.Values, kind table.Kind, lists bool) {
	v.Reset(kind)
	*r = rowValues{Values: v, split: lists, bad: r.bad[:0], look: r.look, looked: r.looked, values: r.values}
	if lists {
		v.Splits = append(v.Splits, 0)
	}
}

// len returns the number of values.
func (r *rowValues) len() int {
	switch r.Kind {
	case table.Int64:
		return len(r.Ints)
	case table.Float:
		return len(r.Floats)
	}
	return len(r.Ends)
}

// cut drops all values but the first n.
func (r *rowValues) cut(n int) {
	switch r.Kind {
	case table.Int64:
		r.Ints = r.Ints[:n]
	case table.Float:
		r.Floats = r.Floats[:n]
	case table.Bytes:
		r.Ends = r.Ends[:n]
		r.Data = r.Data[:r.end()]
	}
	r.Lost = slices.DeleteFunc(r.Lost, func(l table.Lost) bool { return l.Value >= n })
}

// end returns where the data of the last value ends.
func (r *rowValues) end() int32 {
	if len(r.Ends) == 0 {
		return 0
	}
	return r.Ends[len(r.Ends)-1]
}

// add appends values of a page, from first up to end.
func (r *rowValues) add(p *page, first, end int) error {
	if first == end {
		return nil
	}
	if r.len() > maxBatch-(end-first) {
		return errTooLarge
	}
	if p.dictionary != nil {
		return r.gather(p.dictionary, p.indexes[first:end])
	}
	for _, lost := range p.lost {
		if lost.Value >= first && lost.Value < end {
			r.Lost = append(r.Lost, table.Lost{Value: r.len() + lost.Value - first, Reason: lost.Reason})
		}
	}
	switch r.Kind {
	case table.Int64:
		r.Ints = append(r.Ints, p.ints[first:end]...)
	case table.Float:
		r.Floats = append(r.Floats, p.floats[first:end]...)
	case table.Bytes:
		if from := int(p.ends[first]) - len(p.value(first)); r.look == nil {
			r.Data = slices.Grow(r.Data, int(p.ends[end-1])-from)
		}
		for i := first; i < end; i++ {
			value := p.value(i)
			if r.look == nil {
				if err := r.addBytes(value); err != nil {
					return err
				}
				continue
			}
			if err := r.look(value); err != nil {
				return err
			}
			r.size += int64(len(value))
			r.Ends = append(r.Ends, 0)
		}
	}
	return nil
}

// addBytes appends a value of bytes.
func (r *rowValues) addBytes(value []byte) error {
	if len(r.Data) > maxBatch-len(value) {
		return errTooLarge
	}
	r.Data = append(r.Data, value...)
	r.Ends = append(r.Ends, int32(len(r.Data)))
	return nil
}

// gather appends the values of a dictionary that indexes name.
func (r *rowValues) gather(d *page, indexes []uint32) error {
	for n, i := range indexes[:len(indexes)*min(len(d.lost), 1)] {
		if k, ok := slices.BinarySearchFunc(d.lost, int(i), func(l table.Lost, i int) int { return l.Value - i }); ok {
			r.Lost = append(r.Lost, table.Lost{Value: r.len() + n, Reason: d.lost[k].Reason})
		}
	}
	switch r.Kind {
	case table.Int64:
		for _, i := range indexes {
			r.Ints = append(r.Ints, d.ints[i])
		}
	case table.Float:
		for _, i := range indexes {
			r.Floats = append(r.Floats, d.floats[i])
		}
	case table.Bytes:
		if r.look != nil {
			return r.lookUp(d, indexes)
		}
		for _, i := range indexes {
			if err := r.addBytes(d.value(int(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUp looks at the values of a dictionary that indexes name, each once.
func (r *rowValues) lookUp(d *page, indexes []uint32) error {
	if r.looked != d {
		r.looked, r.values = d, make([]bool, d.there)
	}
	for _, i := range indexes {
		value := d.value(int(i))
		if !r.values[i] {
			r.values[i] = true
			if err := r.look(value); err != nil {
				return err
			}
		}
		r.size += int64(len(value))
		r.Ends = append(r.Ends, 0)
	}
	return nil
}

// missing appends n rows without a value.
func (r *rowValues) missing(n int) {
	for len(r.Present) < r.count {
		r.Present = append(r.Present, true)
	}
	for range n {
		r.Present = append(r.Present, false)
		r.skipValue()
	}
	r.count += n
}

// skipValue appends the placeholder of a missing row.
func (r *rowValues) skipValue() {
	switch {
	case r.split:
		r.Splits = append(r.Splits, int32(r.len()))
	case r.Kind == table.Int64:
		r.Ints = append(r.Ints, 0)
	case r.Kind == table.Float:
		r.Floats = append(r.Floats, 0)
	case r.Kind == table.Bytes:
		r.Ends = append(r.Ends, r.end())
	}
}

// there appends n rows of one value each, which are added.
func (r *rowValues) there(n int) {
	if len(r.Present) > 0 {
		for range n {
			r.Present = append(r.Present, true)
		}
	}
	if r.split {
		for i := r.len() - n; i < r.len(); i++ {
			r.Splits = append(r.Splits, int32(i+1))
		}
	}
	r.count += n
}

// scalars appends rows first up to end of a page that has one for each level.
func (r *rowValues) scalars(p *page, first, end int) error {
	if len(p.def) == 0 {
		if err := r.add(p, first, end); err != nil {
			return err
		}
		r.there(end - first)
		return nil
	}
	def := uint32(p.leaf.def)
	value := 0
	for _, d := range p.def[:first] {
		if d == def {
			value++
		}
	}
	for i := first; i < end; {
		run := i
		for run < end && p.def[run] == def {
			run++
		}
		if n := run - i; n > 0 {
			if err := r.add(p, value, value+n); err != nil {
				return err
			}
			r.there(n)
			value += n
		}
		for i = run; i < end && p.def[i] != def; i++ {
		}
		if i > run {
			r.missing(i - run)
		}
	}
	return nil
}

// lists appends those rows of a page, before which some rows of the row group begin, that are first
// or later and before end. A list may begin in the page before, and continue in the one after. It
// returns the last row that was seen.
func (r *rowValues) lists(p *page, before, first, end int64) (row int64, err error) {
	row = before - 1
	def, slot := uint32(p.leaf.def), uint32(p.leaf.slot)
	value, from := 0, 0 // values of the page seen, and the first not added
	flush := func() error {
		err := r.add(p, from, value)
		from = value
		return err
	}
	for i, rep := range p.rep {
		d := p.def[i]
		if rep == 0 {
			if r.open {
				if err := flush(); err != nil {
					return row, err
				}
				r.close()
			}
			if row++; row >= end {
				return row, nil
			}
			if row >= first {
				r.open, r.present, r.broken, r.start = true, d >= slot-1, false, r.len()
			}
			from = value
		} else if d < slot || row < 0 || r.open && !r.present {
			return row, fmt.Errorf("levels %d and %d cannot continue a list", rep, d)
		}
		switch {
		case d == def:
			value++
		case d >= slot && r.open:
			r.broken = true
		}
		if !r.open {
			from = value
		}
	}
	return row, flush()
}

// close ends a list.
func (r *rowValues) close() {
	r.open = false
	switch {
	case r.broken:
		r.cut(r.start)
		r.bad = append(r.bad, r.count)
		r.missing(1)
	case !r.present:
		r.missing(1)
	default:
		if len(r.Present) > 0 {
			r.Present = append(r.Present, true)
		}
		r.Splits = append(r.Splits, int32(r.len()))
		r.count++
	}
}

// finish ends the last list and returns an error unless there are want rows.
func (r *rowValues) finish(want int64) error {
	if r.open {
		r.close()
	}
	if int64(r.count) != want {
		return fmt.Errorf("%d rows where %d were expected", r.count, want)
	}
	return nil
}

// tooLarge returns the first row with an unsigned integer above int64, -1 if there is none.
func (r *rowValues) tooLarge() (row int, value uint64) {
	for i, v := range r.Ints {
		if v >= 0 {
			continue
		}
		for row := range r.count {
			if _, end := r.Span(row); i < end {
				return row, uint64(v)
			}
		}
	}
	return -1, math.MaxUint64
}
