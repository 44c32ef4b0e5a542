package columns

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfrec/tfrec/tfrecord"
)

// WindowSpec describes windows over the steps of records.
type WindowSpec struct {
	// Schema describes the records, and is required. Fields with Steps are cut, others are the same
	// in all windows of a record. Length and Default of fields with Steps are ignored.
	Schema Schema
	// Length is the number of steps in a window, 1 to 2^28.
	Length int
	// Stride is the number of steps from the start of a window to the start of the next: 1 to 2^28,
	// Length by default. Dataset.window of tf.data calls it shift.
	Stride int
	// DropRemainder drops windows that have fewer than Length steps because the record ends. Without
	// it there is a window at each multiple of Stride before the end; columns with a [Field.Length]
	// pad it.
	DropRemainder bool
	// Flat makes Examples of the windows of SequenceExamples: fields of [ListSteps], which must not
	// be Ragged, become features with the values of all steps, as [FlatSteps] reads them.
	Flat bool
}

// Windower cuts records into windows, which are records with some of the steps: Examples, or
// SequenceExamples if the schema has fields of [ListSteps] and Flat is not set. They have the
// features of the schema and no others. It is not safe for concurrent use.
type Windower struct {
	spec    WindowSpec
	parser  *Parser
	row     Columns                  // the current record
	record  []byte                   // in the usual form
	usual   []byte                   // memory for a record of unusual form,
	builder tfrecord.SequenceBuilder // which is built again
	starts  [][]int                  // of each field: where the values of its steps begin, and the end of the last
	parts   []windowPart
	flat    []byte // values of the lists of a window, if they become flat
}

// windowPart is a feature or list of a window: its value is head and body.
type windowPart struct {
	field int
	head  [24]byte // tags and lengths
	n     int      // bytes of it
	body  []byte   // of the record, or of flat
}

// NewWindower returns a Windower, or an error for an invalid spec.
func NewWindower(spec WindowSpec) (*Windower, error) {
	if spec.Stride == 0 {
		spec.Stride = spec.Length
	}
	if spec.Length < 1 || spec.Stride < 1 || spec.Length > maxValues || spec.Stride > maxValues {
		return nil, fmt.Errorf("windows: the length is %d, the stride %d: want 1 or more, at most %d", spec.Length, spec.Stride, maxValues)
	}
	if len(spec.Schema) == 0 {
		return nil, errors.New("windows: the Schema is empty: it is required, with a field with Steps")
	}
	if err := spec.Schema.Validate(); err != nil {
		return nil, fmt.Errorf("windows: %w", err)
	}
	schema, sequences := make(Schema, len(spec.Schema)), false
	for i, f := range spec.Schema {
		if f.Steps != NoSteps {
			f.Length, f.Default, sequences = 0, nil, true
		}
		if spec.Flat && f.Steps == ListSteps && f.Ragged {
			return nil, fmt.Errorf("windows: the steps of feature %q are ragged: they cannot become flat", f.Key)
		}
		schema[i] = f
	}
	if !sequences {
		return nil, errors.New("windows: the schema has no field with Steps")
	}
	parser, err := NewParser(schema)
	if err != nil {
		return nil, err
	}
	spec.Schema = schema
	return &Windower{spec: spec, parser: parser, starts: make([][]int, len(schema))}, nil
}

// Load returns the number of windows of a record, which may be none. It retains the record until
// the next call. It returns the errors of [Parser.Append], and an error for a record whose features
// have different numbers of steps, except for none with AllowMissing.
func (w *Windower) Load(record []byte) (windows int, err error) {
	w.shrink(len(record))
	p := w.parser
	p.Reset(&w.row)
	if w.record = record; !p.scan(record) || !p.appendScanned(&w.row, record) {
		w.row.dropOpenRow()
		if err := p.appendPlain(&w.row, record); err != nil {
			return 0, err
		}
		w.rebuild()
	}
	w.row.closeRow()
	steps, first := 0, -1
	for i := range w.row.Columns {
		f := &w.spec.Schema[i]
		if f.Steps == NoSteps {
			continue
		}
		n := w.row.Columns[i].elements()
		if n == 0 && f.AllowMissing {
			continue
		}
		if first >= 0 && n != steps {
			return 0, &tfrecord.Error{Record: -1, Part: tfrecord.PartParse,
				Err: fmt.Errorf("feature %q has %d steps, feature %q %d: windows need the same number", w.spec.Schema[first].Key, steps, f.Key, n)}
		}
		first, steps = i, n
		w.index(i)
	}
	switch {
	case !w.spec.DropRemainder:
		return (steps + w.spec.Stride - 1) / w.spec.Stride, nil
	case steps < w.spec.Length:
		return 0, nil
	default:
		return (steps-w.spec.Length)/w.spec.Stride + 1, nil
	}
}

// shrink drops the memory for a record that was much larger than the next one, of n bytes.
func (w *Windower) shrink(n int) {
	size := cap(w.usual) + cap(w.flat)
	for i := range w.row.Columns {
		col := &w.row.Columns[i]
		size += 8*cap(col.Int64s) + 4*cap(col.Floats) + cap(col.Bytes) + 8*cap(col.Offsets) + 8*cap(col.StepSplits) + 8*cap(w.starts[i])
	}
	if size < maxIdle || n > size/windowFactor/4 {
		return
	}
	w.record, w.usual, w.flat, w.row, w.builder = nil, nil, nil, Columns{}, tfrecord.SequenceBuilder{}
	clear(w.starts)
	w.parser.plain, w.parser.sequence = tfrecord.Example{}, tfrecord.SequenceExample{}
}

// windowFactor is the memory of a Windower for each byte of a record, at most: an int64 in a step of
// its own may take a byte, and takes 8 in a column and 8 for where it starts, both in slices that
// append has made a quarter larger than needed.
const windowFactor = 20

// rebuild replaces a record of unusual form by one of the usual form with the same columns.
func (w *Windower) rebuild() {
	w.builder.Reset()
	for i := range w.row.Columns {
		col, f := &w.row.Columns[i], &w.spec.Schema[i]
		if f.Steps == NoSteps {
			if feature, _ := w.parser.context().Get(f.Key); feature.Kind() == tfrecord.KindNone {
				continue // the column has the default
			}
		}
		if f.Steps != ListSteps {
			col.appendTo(&w.builder.Context, 0, col.Len())
			continue
		}
		w.builder.List(f.Key)
		for k := range col.elements() {
			col.appendTo(&w.builder, col.first(k), col.first(k+1))
		}
	}
	w.usual = w.builder.Append(w.usual[:0])
	w.record = w.usual
	w.parser.scan(w.record)
}

// builder is a tfrecord.Builder or SequenceBuilder.
type builder interface {
	Int64(key string, v ...int64)
	Float(key string, v ...float32)
	Bytes(key string, v ...[]byte)
}

// appendTo adds values of the column to a builder.
func (c *Column) appendTo(b builder, from, to int) {
	switch c.Kind {
	case tfrecord.KindInt64:
		b.Int64(c.Key, c.Int64s[from:to]...)
	case tfrecord.KindFloat:
		b.Float(c.Key, c.Floats[from:to]...)
	default:
		values := make([][]byte, 0, to-from)
		for i := from; i < to; i++ {
			values = append(values, c.Value(i))
		}
		b.Bytes(c.Key, values...)
	}
}

// index finds where the steps of a field begin in the record, which was parsed.
func (w *Windower) index(field int) {
	s, f, col := w.parser.spans[field], &w.spec.Schema[field], &w.row.Columns[field]
	starts, steps := w.starts[field][:0], col.elements()
	switch {
	case f.Steps == ListSteps || f.Kind == tfrecord.KindBytes:
		values, size := w.record[s.from:s.to], 1
		if f.Steps == FlatSteps {
			_, values, _ = tfrecord.ScanFeature(values)
			size = col.step
		}
		for range steps {
			starts = append(starts, s.to-len(values))
			for range size {
				_, values, _ = tfrecord.ScanBytes(values)
			}
		}
	case f.Kind == tfrecord.KindFloat:
		for k := range steps {
			starts = append(starts, s.to-4*col.step*(steps-k))
		}
	default:
		_, values, _ := tfrecord.ScanFeature(w.record[s.from:s.to])
		n := 0 // values before the current byte
		for i, begins := 0, true; i < len(values); i++ {
			if begins && n%col.step == 0 {
				starts = append(starts, s.to-len(values)+i)
			}
			if begins = values[i] < 0x80; begins {
				n++
			}
		}
	}
	w.starts[field] = append(starts, s.to)
}

// Append appends window i of the record, counted from 0, to dst and returns the extended slice.
func (w *Windower) Append(dst []byte, i int) []byte {
	w.parts, w.flat = w.parts[:0], w.flat[:0]
	context, lists := 0, 0 // sizes
	for field := range w.row.Columns {
		part, ok := w.part(field, i*w.spec.Stride)
		if !ok {
			continue
		}
		w.parts = append(w.parts, part)
		if size := protowire.SizeBytes(w.entrySize(&part)) + 1; w.isList(field) {
			lists += size
		} else {
			context += size
		}
	}
	if context > 0 {
		dst = w.appendParts(dst, 1, context, false)
	}
	if lists > 0 {
		dst = w.appendParts(dst, 2, lists, true)
	}
	return dst
}

// isList reports whether a field is a list of the windows.
func (w *Windower) isList(field int) bool {
	return w.spec.Schema[field].Steps == ListSteps && !w.spec.Flat
}

// part returns a feature or list of the window that begins at a step; false if it is missing.
func (w *Windower) part(field, from int) (part windowPart, ok bool) {
	s, f, col := w.parser.spans[field], &w.spec.Schema[field], &w.row.Columns[field]
	part.field = field
	if f.Steps == NoSteps {
		part.body = w.record[s.from:s.to]
		return part, s.from > 0
	}
	steps := col.elements()
	if from >= steps {
		return part, false // of a field that may be missing
	}
	starts := w.starts[field]
	part.body = w.record[starts[from]:starts[min(from+w.spec.Length, steps)]]
	if f.Steps == ListSteps && w.spec.Flat {
		part.body = w.flatten(part.body)
	}
	if !w.isList(field) {
		head, n := part.head[:0], len(part.body)
		if f.Kind != tfrecord.KindBytes {
			n = protowire.SizeBytes(n) + 1
		}
		// In a Feature, field Kind is the list of that Kind.
		head = protowire.AppendVarint(protowire.AppendTag(head, protowire.Number(f.Kind), protowire.BytesType), uint64(n))
		if f.Kind != tfrecord.KindBytes {
			head = protowire.AppendVarint(protowire.AppendTag(head, 1, protowire.BytesType), uint64(len(part.body)))
		}
		part.n = len(head)
	}
	return part, true
}

// flatten returns the values of the steps of a list, which are valid until the next window.
func (w *Windower) flatten(list []byte) []byte {
	from := len(w.flat)
	for len(list) > 0 {
		var step []byte
		step, list, _ = tfrecord.ScanBytes(list)
		_, values, _ := tfrecord.ScanFeature(step)
		w.flat = append(w.flat, values...)
	}
	return w.flat[from:]
}

// entrySize returns the size of an entry with a part, without its own tag and length.
func (w *Windower) entrySize(p *windowPart) int {
	return 2 + protowire.SizeBytes(len(w.spec.Schema[p.field].Key)) + protowire.SizeBytes(p.n+len(p.body))
}

// appendParts appends the context or the lists as field number of a record.
func (w *Windower) appendParts(dst []byte, number protowire.Number, size int, lists bool) []byte {
	dst = protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.BytesType), uint64(size))
	for i := range w.parts {
		p := &w.parts[i]
		if w.isList(p.field) != lists {
			continue
		}
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 1, protowire.BytesType), uint64(w.entrySize(p)))
		dst = protowire.AppendString(protowire.AppendTag(dst, 1, protowire.BytesType), w.spec.Schema[p.field].Key)
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 2, protowire.BytesType), uint64(p.n+len(p.body)))
		dst = append(append(dst, p.head[:p.n]...), p.body...)
	}
	return dst
}
