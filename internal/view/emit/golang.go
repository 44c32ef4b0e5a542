package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tfrec/tfrec/internal/imagekey"
)

// goView is a Dataset for the template of the program in Go.
type goView struct {
	*Dataset
	Fields []goField
}

// goField is a feature, or a feature list, and its field in the program's Batch.
type goField struct {
	Feature
	Name string
	List bool
}

func newGoView(d *Dataset) goView {
	v := goView{Dataset: d}
	taken := map[string]bool{"Rows": true}
	for _, f := range d.Features {
		v.Fields = append(v.Fields, goField{f, identifier(f.Key, taken), false})
	}
	for _, f := range d.Lists {
		v.Fields = append(v.Fields, goField{f, identifier(f.Key, taken), true})
	}
	return v
}

// maxIdentifier bounds the names of fields, in characters.
const maxIdentifier = 40

// identifier makes an exported identifier of a key: its letters and digits, each word with a
// capital, and a number after it when it is taken.
func identifier(key string, taken map[string]bool) string {
	var name []rune
	begin := true
	for _, r := range key {
		switch {
		case len(name) == maxIdentifier:
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			begin = true
		case begin:
			name, begin = append(name, unicode.ToUpper(r)), false
		default:
			name = append(name, r)
		}
	}
	if len(name) == 0 || !unicode.IsUpper(name[0]) {
		name = append([]rune("F"), name...)
	}
	unique := string(name)
	for n := 2; taken[unique]; n++ {
		unique = string(name) + "_" + strconv.Itoa(n)
	}
	taken[unique] = true
	return unique
}

// Columnar reports whether the field is a column and no slice.
func (f goField) Columnar() bool { return f.List || !f.One() || f.Kind == "bytes" }

// Type is the type of the field.
func (f goField) Type() string {
	switch {
	case f.Columnar():
		return "*columns.Column"
	case f.Kind == "float":
		return "[]float32"
	}
	return "[]int64"
}

// From is the part of the reader's column that becomes the field.
func (f goField) From() string {
	switch {
	case f.Columnar():
		return ""
	case f.Kind == "float":
		return ".Floats"
	}
	return ".Int64s"
}

// Field is the feature in a columns.Schema.
func (f goField) Field() string {
	var b strings.Builder
	kinds := map[string]string{"bytes": "KindBytes", "float": "KindFloat", "int64": "KindInt64"}
	fmt.Fprintf(&b, "{Key: %s, Kind: tfrecord.%s", goString(f.Key), kinds[f.Kind])
	switch {
	case f.Ragged:
		b.WriteString(", Ragged: true")
	case len(f.Shape) > 0:
		fmt.Fprintf(&b, ", Shape: []int{%s}", strings.Trim(brackets(f.Shape), "[]"))
	case f.Missing > 0 && !f.List:
		fmt.Fprintf(&b, ", Default: %s", f.goDefault())
	}
	if f.List {
		b.WriteString(", Steps: columns.ListSteps")
		if f.Missing > 0 {
			b.WriteString(", AllowMissing: true")
		}
	}
	b.WriteString("}")
	return b.String()
}

// goDefault returns the value, in Go, for records without the feature.
func (f goField) goDefault() string {
	switch {
	case f.Kind == "float":
		return "float32(math.NaN())"
	case f.Kind == "bytes":
		return `""`
	case f.Int == -1:
		return "int64(-1)"
	}
	return "int64(math.MinInt64)"
}

// Math reports whether a default needs package math.
func (v goView) Math() bool {
	return slices.ContainsFunc(v.Fields, func(f goField) bool {
		return !f.List && f.One() && f.Missing > 0 && strings.Contains(f.goDefault(), "math.")
	})
}

// pattern is the text before and after a number.
type pattern struct{ Head, Tail string }

// Numbered returns the text before and after the numbers in the names of a split's files, nil if
// they are not numbered.
func (v goView) Numbered(s Split) *pattern {
	if head, tail, ok := s.Pattern(); ok {
		return &pattern{head, tail}
	}
	return nil
}

// AnyNumbered reports whether a split's files have numbers.
func (v goView) AnyNumbered() bool {
	return slices.ContainsFunc(v.Splits, func(s Split) bool { return v.Numbered(s) != nil })
}

// Image is the feature with the images of reader.Images; nil when there
// is none.
func (v goView) Image() *goField {
	for i := range v.Fields {
		f := &v.Fields[i]
		if !f.List && f.Image != "" || f.DType != "" && f.Key == imagekey.Encoded && slices.ContainsFunc(v.Fields, func(g goField) bool { return g.Key == "image/format" }) {
			return f
		}
	}
	return nil
}

// Label is the feature with the label: one that has names, else one whose key
// says so; nil when there is none.
func (v goView) Label() *goField {
	var label *goField
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.List || f.Kind != "int64" || !f.One() || f.Missing > 0 {
			continue
		}
		if len(f.Names) > 0 {
			return f
		}
		if label == nil && strings.HasSuffix(f.Key, "label") {
			label = f
		}
	}
	return label
}

// Size of the images where all have the same, else what they are brought to.
func (v goView) Size() (size struct{ Width, Height int }) {
	size.Width, size.Height = 224, 224
	if p := v.Image(); p.varyingSides() == 0 {
		size.Height, size.Width = p.Size[0], p.Size[1]
	}
	return size
}

// Named are the labels whose names are known.
func (v goView) Named() []Feature { return pythonView{v.Dataset}.Named() }
