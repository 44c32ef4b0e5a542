package tables

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/manifest"
)

// tableColumns describes the features made from the columns of a table.
type tableColumns struct {
	features []tableFeature   // sorted by key
	types    []ColumnType     // of each column
	labels   []string         // names by id, background names included; nil without a vocabulary
	vocab    *tableVocabulary // nil without TableOptions.Vocab
	key      int              // the column that identifies rows, or -1
	label    int              // the column with the label, or -1
	digest   [16]byte
}

// tableFeature is a feature of every record.
type tableFeature struct {
	Key     string     `json:"key"`
	Columns []int      `json:"columns"` // a single one, unless it is a vector
	Type    ColumnType `json:"type"`    // as it is stored
	Vector  bool       `json:"vector"`
	Label   bool       `json:"label"` // Type is TypeInt64: the id of the column's text
	List    bool       `json:"list,omitempty"`
	// Texts are the types of Columns whose texts become numbers, "" for others; nil if there are none.
	Texts    []ColumnType `json:"texts,omitempty"`
	Zeros    int          `json:"zeros,omitempty"` // values that MissingDefault stores for a missing list
	length   int          // of all lists, 0 if it varies
	shape    []int        // of a list that is an array of several dimensions
	text     bool         // all bytes are UTF-8
	optional bool
	// Required is set if there may be rows without a value, which are not records: for the label,
	// which is missing where it is NaN, too.
	Required bool `json:"required,omitempty"`
}

// kindOfType maps stored types of columns to kinds, typeOfKind maps them back.
var (
	kindOfType = map[ColumnType]table.Kind{TypeInt64: table.Int64, TypeFloat: table.Float, TypeBytes: table.Bytes}
	typeOfKind = map[table.Kind]ColumnType{table.Int64: TypeInt64, table.Float: TypeFloat, table.Bytes: TypeBytes, table.Unknown: ""}
)

// resolve determines the features of the columns.
func (o *TableOptions) resolve(t *tablefile.Tables) (*tableColumns, error) {
	header := t.Header()
	c := &tableColumns{types: make([]ColumnType, len(header)), key: -1, label: -1}
	for name := range o.Types {
		if _, err := tablefile.ColumnNumber(optname.CSVOptionsTypes, name, header); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Drop {
		if _, err := tablefile.ColumnNumber(optname.CSVOptionsDrop, name, header); err != nil && o.Format == tablefile.CSV {
			return nil, err
		}
	}
	var err error
	if o.Key != "" {
		if c.key, err = tablefile.ColumnNumber(optname.CSVOptionsKey, o.Key, header); err != nil {
			return nil, err
		}
	}
	if o.Label != "" {
		if c.label, err = tablefile.ColumnNumber(optname.CSVOptionsLabel, o.Label, header); err != nil {
			return nil, err
		}
	}
	for i, name := range header {
		given, ok := o.Types[name]
		if c.types[i] = given; !ok {
			c.types[i] = cmp.Or(typeOfKind[t.Columns[i].Kind], TypeBytes)
		}
	}
	if c.label >= 0 && t.Columns[c.label].List {
		return nil, plan.OptionErrorf(optname.CSVOptionsLabel, "column %q holds lists: a label is one value", o.Label)
	}
	if o.Vocab {
		if c.vocab, c.labels, err = o.vocabulary(t, c.label); err != nil {
			return nil, err
		}
	}
	if err := c.makeFeatures(o, t); err != nil {
		return nil, err
	}
	c.noteColumns(o, t)
	description, err := json.Marshal(c.features)
	if err != nil {
		return nil, err
	}
	// Labels may have any bytes, which JSON does not preserve.
	c.digest = xxh3.Hash128(fmt.Appendf(description, "%q %d", c.labels, c.key)).Bytes()
	return c, nil
}

// noteColumns accounts for columns that are not stored as they are, and notes unexpected ones.
func (c *tableColumns) noteColumns(o *TableOptions, t *tablefile.Tables) {
	header := t.Header()
	if o.Format == tablefile.CSV && header[0] == csvscan.IndexName && !o.drops(csvscan.IndexName) {
		o.Notef("the first column is %q, as pandas names the index of rows, and is stored: %s leaves it out", csvscan.IndexName, optname.CSVOptionsDrop)
	}
	for i, name := range header {
		if o.drops(name) {
			t.Account.Add(account.Column, name)
			continue
		}
		if o.Vocab && i == c.label {
			continue
		}
		if c.types[i].isText() {
			continue // whose texts are not stored
		}
		accountFor(&t.Account, &t.Columns[i], c.types[i])
		if _, given := o.Types[name]; !given && c.types[i] == TypeBytes {
			o.noteIf(t.Columns[i].KindNote)
		}
	}
}

// accountFor adds a column to the account if storing it with a type loses some of it.
func accountFor(a *account.Account, c *tablefile.Column, stored ColumnType) {
	switch {
	case c.Counts != nil && stored == TypeFloat:
		c.Counts.AccountForFloats(a, c.Name, optname.CSVOptionsTypes, "=bytes")
	case c.Counts != nil && stored == TypeBytes:
		c.Counts.AccountForText(a, c.Name)
	case c.Narrowed && stored == TypeFloat:
		a.Add(account.Wide, c.Name)
	}
}

// noteIf reports a note that is not empty.
func (o *TableOptions) noteIf(sentence string) {
	if sentence != "" {
		o.Notef("%s", sentence)
	}
}

// makeFeatures packs vectors, and makes a feature of each other column.
func (c *tableColumns) makeFeatures(o *TableOptions, t *tablefile.Tables) error {
	header := t.Header()
	packed := map[int]string{} // columns in vectors
	for _, v := range o.Vectors {
		columns, err := v.expand(header)
		if err != nil {
			return err
		}
		f := tableFeature{Key: v.Name, Columns: columns, Vector: true}
		for _, i := range columns {
			if other, ok := packed[i]; ok {
				return plan.OptionErrorf(optname.CSVOptionsVectors, "column %q is in %s and in %s", header[i], other, v.Name)
			}
			if i == c.label {
				return plan.OptionErrorf(optname.CSVOptionsVectors, "%s: column %q is the label", v.Name, header[i])
			}
			if o.drops(header[i]) {
				return plan.OptionErrorf(optname.CSVOptionsVectors, "%s: column %q is left out by %s", v.Name, header[i], optname.CSVOptionsDrop)
			}
			if t.Columns[i].List {
				return plan.OptionErrorf(optname.CSVOptionsVectors, "%s: column %q holds lists, which are features of their own", v.Name, header[i])
			}
			packed[i] = v.Name
			kind := c.types[i]
			if _, given := o.Types[header[i]]; !given && t.Columns[i].Kind == table.Unknown {
				kind = TypeFloat // a column of missing values is compatible with any type
				c.types[i] = kind
			}
			if f.Type, err = commonType(f.Type, kind.Stored()); err != nil {
				return plan.OptionErrorf(optname.CSVOptionsVectors, "%s: column %q is %s and others are %s; %s gives it another type, or leave it out", v.Name, header[i], kind, f.Type, optname.CSVOptionsTypes)
			}
		}
		f.Texts = c.texts(columns)
		c.features = append(c.features, f)
	}
	for i, name := range header {
		if _, ok := packed[i]; ok || o.drops(name) {
			continue
		}
		f := tableFeature{Key: name, Columns: []int{i}, Type: c.types[i].Stored(), List: t.Columns[i].List, length: t.Columns[i].Length, shape: t.Columns[i].Shape, text: t.Columns[i].Text}
		if o.Vocab && i == c.label {
			f.Type, f.Label = TypeInt64, true
		} else {
			f.Texts = c.texts(f.Columns)
		}
		c.features = append(c.features, f)
	}
	slices.SortStableFunc(c.features, func(a, b tableFeature) int { return strings.Compare(a.Key, b.Key) })
	for i := range c.features {
		f := &c.features[i]
		if i > 0 && c.features[i-1].Key == f.Key {
			return plan.OptionErrorf(optname.CSVOptionsVectors, "two features would be named %q", f.Key)
		}
		for _, column := range f.Columns {
			if f.List && o.Missing == MissingDefault && t.Columns[column].Missing > 0 {
				f.Zeros = f.length
			}
			missing := o.Missing == MissingDrop && t.Columns[column].Missing > 0
			f.Required = column == c.label && (missing || f.Type == TypeFloat && o.Missing == MissingDrop)
			f.optional = f.optional || missing && !f.Required
		}
	}
	return nil
}

// texts returns the types of columns whose texts become numbers, "" for others; nil if there are none.
func (c *tableColumns) texts(columns []int) (texts []ColumnType) {
	if !slices.ContainsFunc(columns, func(i int) bool { return c.types[i].isText() }) {
		return nil
	}
	texts = make([]ColumnType, len(columns))
	for k, i := range columns {
		if c.types[i].isText() {
			texts[k] = c.types[i]
		}
	}
	return texts
}

// commonType returns the type of a vector with values of both types; the first may still be unset.
func commonType(a, b ColumnType) (ColumnType, error) {
	switch {
	case a == "" || a == b:
		return b, nil
	case a == TypeBytes || b == TypeBytes:
		return a, fmt.Errorf("no common type")
	}
	return TypeFloat, nil
}

// expand returns the indexes of a vector's columns.
func (v Vector) expand(header []string) ([]int, error) {
	if v.Name == "" {
		return nil, plan.OptionErrorf(optname.CSVOptionsVectors, "it has no name")
	}
	var columns []int
	for _, name := range v.Columns {
		first, last, isRange := strings.Cut(name, "..")
		if !isRange || slices.Contains(header, name) {
			first, last = name, name
		}
		from, err := tablefile.ColumnNumber(optname.CSVOptionsVectors, first, header)
		if err != nil {
			return nil, err
		}
		to, err := tablefile.ColumnNumber(optname.CSVOptionsVectors, last, header)
		if err != nil {
			return nil, err
		}
		if to < from {
			return nil, plan.OptionErrorf(optname.CSVOptionsVectors, "%s: column %q comes after %q", v.Name, first, last)
		}
		for i := from; i <= to; i++ {
			columns = append(columns, i)
		}
	}
	if len(columns) == 0 {
		return nil, plan.OptionErrorf(optname.CSVOptionsVectors, "%s: no columns", v.Name)
	}
	return columns, nil
}

// describe describes labels and features in a manifest; label is the column of labels, if there is one.
func (c *tableColumns) describe(m *manifest.Manifest, label string) {
	m.Labels = []string{}
	for _, name := range c.labels {
		m.Labels = append(m.Labels, jsontext.Readable(name))
	}
	var vectors []string
	for _, f := range c.features {
		feature := manifest.Feature{Key: f.Key, Kind: string(f.Type), Class: manifest.ClassScalar, Optional: f.optional}
		switch {
		case f.Vector:
			feature.Class, feature.Shape = manifest.ClassVector, []int{len(f.Columns)}
			vectors = append(vectors, f.Key)
		case f.List:
			if feature.Class, feature.Shape = manifest.ClassVector, f.shape; f.shape == nil {
				feature.Shape = []int{cmp.Or(f.length, -1)}
			}
			vectors = append(vectors, f.Key)
		case f.Label && c.labels != nil:
			feature.Class = manifest.ClassLabel
		case f.Type == TypeBytes && f.text:
			feature.Class = manifest.ClassText
		}
		m.Features = append(m.Features, feature)
	}
	if label != "" && len(vectors) == 1 {
		m.Supervised = &manifest.Supervised{Input: vectors[0], Target: label}
	}
}
