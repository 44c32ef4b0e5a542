package columns

import (
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/tfrecord"
)

// Steps is the place where a record has the values of its steps.
type Steps uint8

const (
	// NoSteps is for features of the whole record: in an Example, or in the context of a
	// SequenceExample.
	NoSteps Steps = iota
	// ListSteps is for feature lists of SequenceExamples, which have a Feature for each step.
	// Ragged steps become a column of the Shape {rows, -1, -1} with StepSplits. As in TensorFlow, an
	// Example is a SequenceExample without lists. Where the context has a feature with the key of a
	// list, a schema can have only one of the two.
	ListSteps
	// FlatSteps is for a feature that has the values of all steps, one step after another. TFDS
	// stores sequences in this form, and so the steps of an episode in RLDS format: the feature
	// "steps/action" of Shape {7} has 7 values for each step.
	FlatSteps
)

// Longest is the [Field.Length] of columns as long as the longest record of the batch, at least 1.
const Longest = -1

func (f *Field) validateSteps() error {
	switch {
	case f.Steps > FlatSteps:
		return fmt.Errorf("its Steps are %d; want NoSteps, ListSteps or FlatSteps", f.Steps)
	case f.Steps == NoSteps && (f.Length != 0 || f.AllowMissing):
		return errors.New("only fields with Steps have a Length or AllowMissing")
	case f.Length < Longest || f.Length > maxValues:
		return fmt.Errorf("its Length is %d; want Longest or at most %d", f.Length, maxValues)
	case f.Ragged && (f.Steps == FlatSteps || f.Length != 0):
		return errors.New("ragged steps are those of ListSteps without a Length")
	case f.Steps != NoSteps && f.Length == 0 && f.Default != nil:
		return errors.New("the default of steps fills up records to the Length, and there is none")
	}
	return nil
}

// padding returns the step that fills up records.
func (f *Field) padding() *values {
	v, _ := f.defaults() // cannot fail: validated
	if v != nil {
		return v
	}
	switch n := f.size(); f.Kind {
	case tfrecord.KindInt64:
		return &values{int64s: make([]int64, n)}
	case tfrecord.KindFloat:
		return &values{floats: make([]float32, n)}
	default:
		return &values{bytes: make([][]byte, n)}
	}
}

// appendScannedList appends the steps of a FeatureList. It takes their number from left, of which
// there must be enough.
func (c *Column) appendScannedList(list []byte, left *int) bool {
	for len(list) > 0 {
		feature, rest, ok := tfrecord.ScanBytes(list)
		if *left--; !ok || *left < 0 {
			return false
		}
		kind, values, ok := tfrecord.ScanFeature(feature)
		if !ok || kind != c.Kind || !c.appendList(values, c.step) {
			return false
		}
		c.closeStep()
		list = rest
	}
	return true
}

// closeStep ends the step whose values were appended.
func (c *Column) closeStep() {
	if c.step < 0 {
		c.StepSplits = append(c.StepSplits, int64(c.Len()))
	}
}

// appendPlainSteps is the slow path for the steps of a record that was parsed.
func (p *Parser) appendPlainSteps(dst *Column, field int) error {
	f := &p.schema[field]
	if f.Steps == FlatSteps {
		return p.appendFlat(dst, f)
	}
	list, ok := p.sequence.Lists.Get(f.Key)
	if !ok {
		return p.missing(f)
	}
	for i := range list.Len() {
		step := list.At(i)
		switch kind := step.Kind(); {
		case kind != tfrecord.KindNone && kind != f.Kind:
			return fmt.Errorf("the values of step %d are %v; the schema wants %v", i, kind, f.Kind)
		case dst.step >= 0 && step.Len() != dst.step:
			return fmt.Errorf("step %d has %s; the schema wants %d of shape %v, and Ragged lets them vary", i, plural.Of(step.Len(), "value"), dst.step, f.Shape)
		}
		dst.appendFeature(step)
		dst.closeStep()
	}
	return nil
}

func (p *Parser) appendFlat(dst *Column, f *Field) error {
	feature, _ := p.context().Get(f.Key)
	switch feature.Kind() {
	case tfrecord.KindNone:
		return p.missing(f)
	case f.Kind:
	default:
		return fmt.Errorf("its values are %v; the schema wants %v", feature.Kind(), f.Kind)
	}
	if n := feature.Len(); n%dst.step != 0 {
		return fmt.Errorf("%s; the schema wants %d of shape %v per step", plural.Of(n, "value"), dst.step, f.Shape)
	}
	dst.appendFeature(feature)
	return nil
}

// missing returns the error for a record without a field that has neither a default nor
// AllowMissing. It names the other place if the record has the key there.
func (p *Parser) missing(f *Field) error {
	if f.AllowMissing {
		return nil
	}
	if f.Steps == ListSteps {
		if feature, ok := p.context().Get(f.Key); ok && feature.Kind() != tfrecord.KindNone {
			return errors.New("there is no feature list of this name, but a feature: its field has other Steps, FlatSteps or none")
		}
	} else if p.lists.fields > 0 {
		if _, ok := p.sequence.Lists.Get(f.Key); ok {
			return errors.New("there is no feature of this name, but a feature list: its field has the Steps ListSteps")
		}
	}
	if f.Steps == NoSteps {
		return errors.New("missing, and the schema has no default for it")
	}
	return errors.New("missing, and the schema does not allow it: AllowMissing does")
}

// Finish pads the columns of fields with a Length, once all records of a batch are appended: Reset
// must precede another Append. [Parser.Parse] calls it.
func (p *Parser) Finish(dst *Columns) {
	for k, i := range p.padded {
		col, spare := &dst.Columns[i], &p.spare[k]
		if col.count >= 0 {
			continue // finished before
		}
		col.dense(spare, col.width, p.defaults[i])
		col.Int64s, spare.Int64s = spare.Int64s, col.Int64s
		col.Floats, spare.Floats = spare.Floats, col.Floats
		col.Bytes, spare.Bytes = spare.Bytes, col.Bytes
		col.Offsets, spare.Offsets = spare.Offsets, col.Offsets
		col.count, col.Shape[1] = col.width*col.step, col.width
	}
}
