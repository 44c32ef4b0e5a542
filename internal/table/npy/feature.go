package npy

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/table"
)

// feature is the source of a column: an array, or several arrays that export wrote for one feature.
type feature struct {
	name   string
	values *array
	// splits is nil for an array whose rows are equally long. inner divides bytes into values.
	splits, inner, present *array
	blobs                  bool // uint8 elements are bytes
}

// rows returns the number of rows.
func (f *feature) rows() int64 {
	if f.splits != nil {
		return f.splits.rows() - 1
	}
	return f.values.rows()
}

// list reports whether rows are lists, whatever their lengths.
func (f *feature) list() bool {
	return f.splits == nil && len(f.values.shape) > 1 && !f.blobs
}

// kind returns the kind of the values.
func (f *feature) kind() table.Kind {
	if f.blobs {
		return table.Bytes
	}
	return f.values.kind()
}

// kindAs returns the kind that the caller wants, if the values can be read so.
func (f *feature) kindAs(want table.Kind) (table.Kind, error) {
	kind := f.kind()
	if want == table.Unknown || want == kind || want == table.Float && kind == table.Int64 {
		return max(want, kind), nil
	}
	return 0, fmt.Errorf("array %q: %s values cannot be read as %s", f.name, kind, want)
}

// arrays returns all of them.
func (f *feature) arrays() []*array {
	return slices.DeleteFunc([]*array{f.values, f.splits, f.inner, f.present}, func(a *array) bool { return a == nil })
}

// size estimates the bytes of all rows.
func (f *feature) size() (n int64) {
	for _, a := range f.arrays() {
		n += a.bytes()
	}
	return n
}

// group makes features of arrays.
func group(arrays []*array, exported bool) ([]feature, error) {
	byName := map[string]*array{}
	for _, a := range arrays {
		if byName[a.name] != nil {
			return nil, fmt.Errorf("two arrays are named %q", a.name)
		}
		byName[a.name] = a
	}
	part := map[*array]bool{}
	var features []feature
	for _, a := range arrays {
		key, ok := strings.CutSuffix(a.name, ".values")
		splits := byName[key+".row_splits"]
		if !ok || splits == nil {
			continue
		}
		f := feature{name: key, values: a, splits: splits, inner: byName[key+".value_splits"], present: byName[key+".present"]}
		f.blobs = a.code == 'u' && a.size == 1
		if err := f.check(); err != nil {
			return nil, err
		}
		for _, a := range f.arrays() {
			part[a] = true
		}
		features = append(features, f)
	}
	for _, a := range arrays {
		if !part[a] {
			features = append(features, feature{name: a.name, values: a, blobs: exported && a.bytesOf()})
		}
	}
	slices.SortFunc(features, func(a, b feature) int { return strings.Compare(a.name, b.name) })
	for i := range features {
		if i > 0 && features[i].name == features[i-1].name {
			return nil, fmt.Errorf("two arrays would be column %q", features[i].name)
		}
		if n, m := features[i].rows(), features[0].rows(); n != m {
			return nil, fmt.Errorf("array %q has %d rows, but %q has %d", features[i].name, n, features[0].name, m)
		}
	}
	return features, nil
}

// bytesOf reports whether rows may be bytes instead of lists of integers.
func (a *array) bytesOf() bool {
	return a.code == 'u' && a.size == 1 && len(a.shape) == 2 && !a.fortran
}

// check compares the arrays of a feature.
func (f *feature) check() error {
	for _, a := range f.arrays() {
		if len(a.shape) != 1 {
			return fmt.Errorf("array %q has %d axes: want one", a.name, len(a.shape))
		}
	}
	for _, a := range []*array{f.splits, f.inner} {
		if a != nil && (a.code != 'i' || a.size != 8 || a.rows() == 0) {
			return fmt.Errorf("array %q: want int64 splits, one at least", a.name)
		}
	}
	if f.inner != nil && !f.blobs {
		return fmt.Errorf("array %q: want uint8 for %q", f.values.name, f.inner.name)
	}
	if p := f.present; p != nil && (p.code != 'b' || p.rows() != f.rows()) {
		return fmt.Errorf("array %q: want %d booleans", p.name, f.rows())
	}
	return nil
}

// reader reads features, with memory that it uses again.
type reader struct {
	elements
	raw    []byte
	splits []int64
	inner  []int64
}

// read replaces v with n rows from first on.
func (r *reader) read(ctx context.Context, f *feature, kind table.Kind, list bool, first, n int64, v *table.Values) error {
	v.Reset(kind)
	if f.splits != nil {
		return r.readRagged(ctx, f, first, n, v)
	}
	var err error
	if r.raw, err = f.values.readRows(ctx, r, r.raw, first, first+n); err != nil {
		return err
	}
	width := int(f.values.width())
	if f.blobs || kind == table.Bytes && f.values.bytesOf() {
		v.Data = append(v.Data, r.raw...)
		for i := range int(n) {
			v.Ends = append(v.Ends, int32((i+1)*width))
		}
		width = 1
	} else if err := f.append(v, r.raw, int(n)*width, func(i int) int64 { return first + int64(i/width) }); err != nil {
		return err
	}
	if width != 1 || list {
		for i := range int(n) + 1 {
			v.Splits = append(v.Splits, int32(i*width))
		}
	}
	return nil
}

// append appends n elements. row returns the row of an element.
func (f *feature) append(v *table.Values, raw []byte, n int, row func(i int) int64) error {
	err := f.values.appendElements(v, raw, n)
	if e := (*tooLarge)(nil); errors.As(err, &e) {
		return fmt.Errorf("array %q: row %d: %w", f.name, row(e.index), err)
	}
	return f.values.located(err)
}

// readRagged reads rows that are divided by splits.
func (r *reader) readRagged(ctx context.Context, f *feature, first, n int64, v *table.Values) (err error) {
	limit := f.values.rows()
	if f.inner != nil {
		limit = f.inner.rows() - 1
	}
	if r.splits, err = r.readSplits(ctx, f.splits, r.splits, first, first+n, limit); err != nil {
		return err
	}
	from, end := r.splits[0], r.splits[n]
	bytesFrom, bytesEnd := from, end
	switch {
	case f.inner != nil:
		if r.inner, err = r.readSplits(ctx, f.inner, r.inner, from, end, f.values.rows()); err != nil {
			return err
		}
		bytesFrom, bytesEnd = r.inner[0], r.inner[end-from]
	case f.blobs: // the splits are of bytes: a value a row
		r.inner = append(r.inner[:0], r.splits...)
	}
	if r.raw, err = f.values.readRows(ctx, r, r.raw, bytesFrom, bytesEnd); err != nil {
		return err
	}
	if f.blobs {
		v.Data = append(v.Data, r.raw...)
		for _, e := range r.inner[1:] {
			v.Ends = append(v.Ends, int32(e-bytesFrom))
		}
	} else if err := f.append(v, r.raw, int(end-from), func(i int) int64 {
		row, _ := slices.BinarySearch(r.splits, from+int64(i)+1) // that ends after it
		return first + int64(row) - 1
	}); err != nil {
		return err
	}
	if !f.blobs || f.inner != nil {
		for _, s := range r.splits {
			v.Splits = append(v.Splits, int32(s-from))
		}
	} else {
		for i := range n + 1 {
			v.Splits = append(v.Splits, int32(i))
		}
	}
	return r.readPresent(ctx, f, first, n, v)
}

// readPresent reads which rows have the feature.
func (r *reader) readPresent(ctx context.Context, f *feature, first, n int64, v *table.Values) error {
	if f.present == nil {
		return nil
	}
	var err error
	if r.raw, err = f.present.readRows(ctx, r, r.raw, first, first+n); err != nil {
		return err
	}
	for i, b := range r.raw {
		v.Present = append(v.Present, b != 0)
		if b == 0 && r.splits[i] != r.splits[i+1] {
			return fmt.Errorf("array %q: row %d has values, but %q says that it has none", f.name, first+int64(i), f.present.name)
		}
	}
	return nil
}

// readSplits reads the splits of rows first up to end, one more than there are rows. They ascend
// from 0 to limit.
func (r *reader) readSplits(ctx context.Context, a *array, splits []int64, first, end, limit int64) ([]int64, error) {
	raw, err := a.readRows(ctx, r, r.raw, first, end+1)
	if err != nil {
		return nil, err
	}
	r.raw = raw
	order := binary.ByteOrder(binary.LittleEndian)
	if a.big {
		order = binary.BigEndian
	}
	splits = splits[:0]
	for i := range end - first + 1 {
		s := int64(order.Uint64(raw[8*i:]))
		least, most := int64(0), limit
		if i > 0 {
			least = splits[i-1]
		}
		if first+i == 0 {
			most = 0
		}
		if first+i == a.rows()-1 {
			least = limit
		}
		if s < least || s > most {
			return nil, fmt.Errorf("array %q: split %d is %d: want %d to %d", a.name, first+i, s, least, most)
		}
		splits = append(splits, s)
	}
	if n := splits[end-first] - splits[0]; n > math.MaxInt32 {
		return nil, fmt.Errorf("array %q: %d values in %d rows: at most %d are read together", a.name, n, end-first, math.MaxInt32)
	}
	return splits, nil
}
