package tables

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
)

// tableVocabulary maps the labels of a table to ids. It is safe for concurrent use.
type tableVocabulary struct {
	ids    map[string]int64  // with the offset
	given  *classfile.Lookup // of integers in CSVOptions.Vocabulary; nil without
	offset int
}

// vocabulary assigns ids to the labels in a column. It returns their names with the background
// names; nil if they have none.
func (o *TableOptions) vocabulary(t *tablefile.Tables, column int) (*tableVocabulary, []string, error) {
	v := &tableVocabulary{ids: map[string]int64{}, offset: o.LabelOffset}
	values, given := t.Missing()
	missing := func(label string) bool { return given && values.Is([]byte(label)) }
	csv := t.Format == tablefile.CSV
	if o.Vocabulary != nil {
		for i, name := range o.Vocabulary {
			if !missing(name) {
				v.ids[name] = int64(i + o.LabelOffset)
			}
		}
		v.given = classfile.Of(o.Vocabulary, "the vocabulary").Lookup()
		return v, plan.WithBackground(o.Vocabulary, o.LabelOffset), nil
	}
	found := map[string]string{} // labels by how they are written
	for written := range t.Distinct() {
		label := written
		switch {
		case csv:
			label = strings.TrimSpace(written)
		case t.Columns[column].Kind == table.Float:
			var err error
			if label, err = integerText(written); err != nil {
				return nil, nil, plan.OptionErrorf(optname.CSVOptionsVocab, "column %q: %v: labels are integers or text", o.Label, err)
			}
			written = label // as rows have it
		}
		if label != "" && !missing(written) {
			found[written] = label
		}
	}
	of := slices.Sorted(maps.Values(found))
	of = slices.Compact(of)
	if csv && !given {
		of = o.WithoutMissing(of, fmt.Sprintf("; %s makes it one", optname.CSVOptionsMissingValues))
	}
	if len(of) == 0 {
		return nil, nil, fmt.Errorf("column %q has no values: there are no labels to number", o.Label)
	}
	n, err := o.NumberLabels(of, plan.Numbering{Offset: o.LabelOffset, ListOption: optname.CSVOptionsVocabulary, OffsetOption: optname.CSVOptionsLabelOffset})
	if err != nil {
		return nil, nil, err
	}
	spaced := ""
	for written, label := range found {
		if i, ok := slices.BinarySearch(of, label); ok {
			v.ids[written] = n.IDs[i] + int64(o.LabelOffset)
		}
		if written != label && (spaced == "" || written < spaced) {
			spaced = written
		}
	}
	if spaced != "" {
		o.Notef("column %q: spaces around labels do not count, as in %q", o.Label, spaced)
	}
	return v, plan.WithBackground(n.Names, o.LabelOffset), nil
}

// integerText returns the digits of an integer of kind Float; "" for NaN.
func integerText(written string) (string, error) {
	x, err := strconv.ParseFloat(written, 64)
	if err != nil {
		return "", fmt.Errorf("%.40q is not a number", written)
	}
	return floatText(float32(x))
}

// floatText is integerText for a value; "" for NaN.
func floatText(x float32) (string, error) {
	if x != x {
		return "", nil
	}
	id, err := table.Integer(x)
	return strconv.FormatInt(id, 10), err
}

// id returns the id of a label as a row has it.
func (v *tableVocabulary) id(label []byte) (int64, bool) {
	if id, ok := v.ids[string(label)]; ok {
		return id, true
	}
	if v.given == nil {
		return 0, false
	}
	text := strings.TrimSpace(string(label))
	if id, ok := v.ids[text]; ok {
		return id, true
	}
	digits, n, ok := labels.Integer(text)
	if !ok {
		return 0, false
	}
	id, err := v.given.ID(digits, n)
	if id != labels.Unlabelled {
		id += int64(v.offset)
	}
	return id, err == nil
}
