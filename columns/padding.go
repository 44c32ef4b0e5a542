package columns

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/tfrecord"
)

// maxPadded bounds the memory of all padded columns of a batch, in bytes: a single long record must
// not decide about it.
const maxPadded = 1 << 30

// ErrPadding is returned where the padded columns of a batch would take more than 1 GiB (see
// [Field.Length]), or its masks (see [ObjectSpec]). The cause is the batch, not the record at which it
// becomes too large.
var ErrPadding = errors.New("columns: the padded columns of the batch take more than 1 GiB")

// CheckBatch returns an [ErrPadding] if batches of so many rows are too large, however few steps
// their records have. Parsers only see this once a batch has too many.
func (s Schema) CheckBatch(rows int) error {
	sum := paddedSum{rows: rows}
	for i := range s {
		if f := &s[i]; f.Length != 0 {
			sum.add(f, f.stepMemory(), max(f.Length, 1), -1)
		}
	}
	return sum.err()
}

// paddedSum adds up the padded columns of a batch.
type paddedSum struct {
	rows  int
	total float64 // bytes of a row

	largest float64 // bytes of a row in one column,
	field   *Field  // which this is
	width   int     // its steps,
	longest int     // and the row that has so many; -1: none
}

func (s *paddedSum) add(f *Field, step int64, width, longest int) {
	size := float64(step) * float64(width)
	s.total += size
	if size > s.largest {
		s.largest, s.field, s.width, s.longest = size, f, width, longest
	}
}

// err is the error for a batch that is too large.
func (s *paddedSum) err() error {
	switch {
	case s.total*float64(s.rows) <= maxPadded:
		return nil
	case s.field.Length == Longest && s.longest >= 0:
		return fmt.Errorf("%w: feature %q: padded to %d steps, those of row %d, in %d rows: set a Length, group records of similar lengths (BucketByLength), or make smaller batches",
			ErrPadding, s.field.Key, s.width, s.longest, s.rows)
	default:
		return fmt.Errorf("%w: feature %q: padded to %d steps, in %d rows: set a smaller Length, or make smaller batches",
			ErrPadding, s.field.Key, s.width, s.rows)
	}
}

// stepMemory returns the size of a padded step in bytes. For byte strings it counts the offsets and
// the padding: the steps of the records are not longer than these.
func (f *Field) stepMemory() int64 {
	n := int64(f.size())
	switch f.Kind {
	case tfrecord.KindFloat:
		return 4 * n
	case tfrecord.KindInt64:
		return 8 * n
	}
	n *= 8
	for _, v := range f.padding().bytes {
		n += int64(len(v))
	}
	return n
}

// endRow closes the row whose values were appended, after cutting it to the length of padded
// columns. A row that makes the batch too large is an error.
func (p *Parser) endRow(dst *Columns) error {
	sum := paddedSum{rows: dst.Rows + 1}
	for k, i := range p.padded {
		f, col := &p.schema[i], &dst.Columns[i]
		steps := col.openSteps(dst.Rows)
		if f.Length > 0 && steps > f.Length {
			steps = f.Length
			col.truncate(int(col.Splits[dst.Rows]) + steps)
		}
		width, longest := max(col.width, f.Length), col.longest
		if steps > width {
			width, longest = steps, dst.Rows
		}
		sum.add(f, p.stepMemory[k], width, longest)
	}
	if err := sum.err(); err != nil {
		return err
	}
	for _, i := range p.padded {
		col := &dst.Columns[i]
		if steps := max(col.openSteps(dst.Rows), p.schema[i].Length); steps > col.width {
			col.width, col.longest = steps, dst.Rows
		}
	}
	dst.closeRow()
	return nil
}

// openSteps returns the number of steps of the row that is not closed.
func (c *Column) openSteps(rows int) int { return c.elements() - int(c.Splits[rows]) }
