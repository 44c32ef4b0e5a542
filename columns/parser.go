package columns

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// Parser parses tf.train.Examples from wire format directly into columns, without an allocation per
// record. The columns equal the result of tf.io.parse_example for the same records. With fields of
// [ListSteps] it parses tf.train.SequenceExamples, as tf.io.parse_sequence_example does. It is not
// safe for concurrent use.
//
//	parser, err := columns.NewParser(schema)
//	var batch columns.Columns
//	err = parser.Parse(&batch, records)
//	label := batch.Get("label").Int64s
//
// The last value of a duplicate key wins; packed and unpacked numbers, and split lists, are read as
// in any protocol buffer library. Features not in the schema are not parsed, so damage in them may
// go unnoticed.
type Parser struct {
	schema     Schema
	counts     []int     // values per record; -1: ragged, or steps
	defaults   []*values // nil: none
	features   keyTable
	lists      keyTable         // of ListSteps
	spans      []span           // of the current record, by field
	padded     []int            // fields with a Length,
	spare      []Column         // memory for padding them,
	stepMemory []int64          // and the size of a step in bytes
	plain      tfrecord.Example // for records of unusual form
	sequence   tfrecord.SequenceExample
}

// keyTable finds the fields of keys.
type keyTable struct {
	fields int // in the table
	byKey  map[string]int
	nodes  []keyNode // the first one is the start of a record
}

// keyNode is a key and the key that followed it in the last record that had it. Records of a file
// mostly have the same keys in the same order, and an optional feature costs a look-up only where
// it is missing.
type keyNode struct {
	key   []byte
	field int // -1: not in the schema
	next  int // in nodes
}

// maxForeign and maxForeignKey bound the number and length of the keys outside the schema that are
// remembered. Further ones cost a look-up each time.
const (
	maxForeign    = 256
	maxForeignKey = 256
)

// span is the range of a field's Feature message in a record. No feature begins at 0, which means
// that there is none.
type span struct{ from, to int }

// NewParser returns a parser for a schema, which it retains.
func NewParser(s Schema) (*Parser, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := &Parser{
		schema:   s,
		counts:   make([]int, len(s)),
		defaults: make([]*values, len(s)),
		spans:    make([]span, len(s)),
	}
	p.features.init()
	p.lists.init()
	for i := range s {
		f := &s[i]
		p.counts[i] = f.count()
		p.defaults[i], _ = f.defaults() // cannot fail: validated
		if f.Length != 0 {
			p.padded, p.defaults[i] = append(p.padded, i), f.padding()
			p.stepMemory = append(p.stepMemory, f.stepMemory())
		}
		if f.Steps == ListSteps {
			p.lists.add(f.Key, i)
		} else {
			p.features.add(f.Key, i)
		}
	}
	p.spare = make([]Column, len(p.padded))
	return p, nil
}

func (t *keyTable) init() {
	t.byKey, t.nodes = map[string]int{}, []keyNode{{field: -1}}
}

func (t *keyTable) add(key string, field int) {
	t.fields++
	t.nodes[len(t.nodes)-1].next = len(t.nodes)
	t.byKey[key] = len(t.nodes)
	t.nodes = append(t.nodes, keyNode{key: []byte(key), field: field})
}

// Schema returns the schema of the parser.
func (p *Parser) Schema() Schema { return p.schema }

// Parse fills dst with the columns of the records. For a record that does not match the schema it
// returns a *[RowError] and keeps the rows before it, not padded.
func (p *Parser) Parse(dst *Columns, records [][]byte) error {
	p.Reset(dst)
	for i, r := range records {
		if err := p.Append(dst, r); err != nil {
			return &RowError{i, err}
		}
	}
	p.Finish(dst)
	return nil
}

// RowError is the error of one record of a batch.
type RowError struct {
	// Row is the number of the record in the batch, from 0.
	Row int
	Err error
}

// Error returns the row and the message of Err.
func (e *RowError) Error() string { return fmt.Sprintf("row %d of the batch: %v", e.Row, e.Err) }

// Unwrap returns Err.
func (e *RowError) Unwrap() error { return e.Err }

// Reset empties dst and sets the columns of the schema.
func (p *Parser) Reset(dst *Columns) { dst.reset(p.schema) }

// Append appends a record to columns that Reset prepared. The columns copy what they need of it.
// After an error they are unchanged. If a field has a Length, Finish must follow the last record.
//
// An error is a [*tfrecord.Error] of PartParse that names the feature and, for a malformed record,
// the byte; the caller adds the file. The other error is [ErrPadding].
func (p *Parser) Append(dst *Columns, record []byte) error {
	if !p.scan(record) || !p.appendScanned(dst, record) {
		dst.dropOpenRow()
		if err := p.appendPlain(dst, record); err != nil {
			dst.dropOpenRow()
			return err
		}
	}
	if err := p.endRow(dst); err != nil {
		dst.dropOpenRow()
		return err
	}
	return nil
}

// find returns the node of the key that follows node prev when it is not the expected one, and
// makes it the expected one.
func (t *keyTable) find(prev int, key []byte) int {
	at, ok := t.byKey[string(key)]
	if !ok {
		if len(t.nodes)-t.fields > maxForeign || len(key) > maxForeignKey {
			return 0
		}
		at = len(t.nodes)
		t.nodes = append(t.nodes, keyNode{key: bytes.Clone(key), field: -1})
		t.byKey[string(key)] = at
	}
	t.nodes[prev].next = at
	return at
}

// appendPlain is the slow path for scan and appendScanned: it accepts any valid Example, or
// SequenceExample, and produces the error messages.
func (p *Parser) appendPlain(dst *Columns, record []byte) error {
	if err := p.parsePlain(record); err != nil {
		return err
	}
	for i := range p.schema {
		var err error
		if p.schema[i].Steps != NoSteps {
			err = p.appendPlainSteps(&dst.Columns[i], i)
		} else {
			f, _ := p.context().Get(p.schema[i].Key)
			err = p.appendFeature(&dst.Columns[i], i, f)
		}
		if err != nil {
			return &tfrecord.Error{Record: -1, Part: tfrecord.PartParse,
				Err: fmt.Errorf("feature %q: %w", p.schema[i].Key, err)}
		}
	}
	return nil
}

// parsePlain parses a record completely.
func (p *Parser) parsePlain(record []byte) error {
	if p.lists.fields > 0 {
		return p.sequence.Parse(record)
	}
	if err := p.plain.Parse(record); err != nil {
		return err
	}
	return refuseLists(&p.sequence, record)
}

// context returns the features of the record that parsePlain parsed.
func (p *Parser) context() *tfrecord.Features {
	if p.lists.fields > 0 {
		return &p.sequence.Context
	}
	return &p.plain.Features
}

// ErrSequence is returned for SequenceExamples by a parser without fields of [ListSteps]. They have
// the wire format of an Example with one more field: the parser would return only their context.
var ErrSequence = errors.New("the record is a tf.train.SequenceExample, and the schema has no field for its feature lists: " +
	"add fields with Steps of lists")

// refuseLists refuses a record with feature lists. It reuses the memory of s.
func refuseLists(s *tfrecord.SequenceExample, record []byte) error {
	if s.Parse(record) == nil && s.Lists.Len() > 0 {
		return &tfrecord.Error{Record: -1, Part: tfrecord.PartParse, Err: ErrSequence}
	}
	return nil
}

func (p *Parser) appendFeature(dst *Column, field int, f tfrecord.Feature) error {
	want := p.counts[field]
	switch f.Kind() {
	case tfrecord.KindNone:
		if want >= 0 && p.defaults[field] == nil {
			return p.missing(&p.schema[field])
		}
		p.appendDefault(dst, field)
		return nil
	case dst.Kind:
	default:
		return fmt.Errorf("its values are %v; the schema wants %v", f.Kind(), dst.Kind)
	}
	if n := f.Len(); want >= 0 && n != want {
		return fmt.Errorf("%s; the schema wants %d of shape %v, and Ragged lets them vary", plural.Of(n, "value"), want, p.schema[field].Shape)
	}
	dst.appendFeature(f)
	return nil
}

// appendFeature appends the values of a feature of the column's kind.
func (c *Column) appendFeature(f tfrecord.Feature) {
	switch c.Kind {
	case tfrecord.KindInt64:
		c.Int64s = f.AppendInt64s(c.Int64s)
	case tfrecord.KindFloat:
		c.Floats = f.AppendFloats(c.Floats)
	default:
		for v := range f.BytesList() {
			c.appendBytes(v)
		}
	}
}

// appendDefault appends the default for a missing feature: nothing to a ragged column.
func (p *Parser) appendDefault(dst *Column, field int) {
	d := p.defaults[field]
	if d == nil {
		return
	}
	dst.Int64s = append(dst.Int64s, d.int64s...)
	dst.Floats = append(dst.Floats, d.floats...)
	for _, v := range d.bytes {
		dst.appendBytes(v)
	}
}
