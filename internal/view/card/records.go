package card

import (
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/manifest"
)

// maxClasses is the number of labels up to which Croissant lists them.
const maxClasses = 10_000

// recordSets describes the records of exports, and the labels that they refer to.
func (c *Card) recordSets() []recordSet {
	if len(c.Tables) == 0 {
		return nil
	}
	var sets []recordSet
	enumerated := false
	if n := len(c.Manifest.Labels); n > 0 && n <= maxClasses {
		labels := labelRecords(c.Manifest.Labels)
		if enumerated = len(labels.Data) > 0; enumerated {
			sets = append(sets, labels)
		}
	}
	for _, t := range c.Tables {
		id := "records"
		if len(c.Tables) > 1 {
			id += "/" + idOf(t.Name)
		}
		set := recordSet{Type: "cr:RecordSet", ID: id, Name: id, Description: plural.Of(t.Rows, "record")}
		for _, column := range t.Columns {
			set.Fields = append(set.Fields, c.field(id, t, column, enumerated))
		}
		sets = append(sets, set)
	}
	return sets
}

// labelRecords returns the labels that have a name as an enumeration whose key is the id.
func labelRecords(names []string) recordSet {
	set := recordSet{
		Type: "cr:RecordSet", ID: "labels", Name: "labels", DataType: "sc:Enumeration", Key: &reference{"labels/id"},
		Fields: []field{
			{Type: "cr:Field", ID: "labels/id", Name: "labels/id", DataType: "sc:Integer"},
			{Type: "cr:Field", ID: "labels/name", Name: "labels/name", DataType: "sc:Text"},
		},
	}
	for id, name := range names {
		if name != "" {
			set.Data = append(set.Data, map[string]any{"labels/id": id, "labels/name": jsontext.Readable(name)})
		}
	}
	return set
}

// field describes a column of an export.
func (c *Card) field(set string, t Table, column table.Column, enumerated bool) field {
	var known manifest.Feature
	for _, f := range c.Manifest.Features {
		if f.Key == column.Name {
			known = f
		}
	}
	f := field{
		Type: "cr:Field", ID: set + "/" + idOf(column.Name), Name: jsontext.Readable(column.Name), DataType: dataType(column, known),
		Source: &dataSource{reference{idOf(t.Name)}, extract{jsontext.Readable(column.Name)}},
	}
	if column.List {
		f.IsArray, f.ArrayShape = true, arrayShape(known)
	}
	if known.Class == manifest.ClassLabel && enumerated && !column.List {
		f.References = &fieldLink{reference{"labels/id"}}
	}
	return f
}

// dataType returns the type of the values of a column. Croissant has no type for bytes: those that
// are no image are text.
func dataType(column table.Column, known manifest.Feature) string {
	switch {
	case column.Kind == table.Int64:
		return "sc:Integer"
	case column.Kind == table.Float:
		return "sc:Float"
	case known.Class == manifest.ClassImage && !column.List:
		return "sc:ImageObject"
	}
	return "sc:Text"
}

// arrayShape returns the shape of a list, such as "2,-1".
func arrayShape(f manifest.Feature) string {
	if len(f.Shape) == 0 || f.Class == manifest.ClassImage || f.Class == manifest.ClassTensor {
		return "-1"
	}
	sizes := make([]string, len(f.Shape))
	for i, n := range f.Shape {
		sizes[i] = strconv.Itoa(n)
	}
	return strings.Join(sizes, ",")
}
