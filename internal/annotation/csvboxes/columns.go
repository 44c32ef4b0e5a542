package csvboxes

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/table/csvscan"
	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// Columns that are read.
const (
	columnImage = iota
	columnClass
	columnXMin
	columnYMin
	columnXMax
	columnYMax
	columnWidth
	columnHeight
	columnCrowd
	columnTruncated
	kinds
	required = columnWidth // those before it
)

// spellings are the names of each column, in lower case.
var spellings = [kinds][]string{
	columnImage: {"filename", "path", "imageid"},
	columnClass: {"class", "label", "labelname"},
	columnXMin:  {"xmin", "x1"}, columnYMin: {"ymin", "y1"}, columnXMax: {"xmax", "x2"}, columnYMax: {"ymax", "y2"},
	columnWidth: {"width"}, columnHeight: {"height"},
	columnCrowd: {"isgroupof"}, columnTruncated: {"istruncated"},
}

// unknown are the names in the account of flags that are not known, which records have as 0.
var unknown = [kinds]string{columnCrowd: "IsGroupOf as not known", columnTruncated: "IsTruncated as not known"}

// bare are the columns of a table without a header, which is one of keras-retinanet.
var bare = []string{"path", "x1", "y1", "x2", "y2", "class"}

// slack is the maximum distance of coordinates that are shares from the image.
const slack = 0.1

// columns are the positions of the columns of a table.
type columns struct {
	count    int
	at       [kinds]int // -1 for none
	names    [kinds]string
	relative bool // coordinates are shares
	// others are the columns that are not read, and their names.
	others     []int
	otherNames [][]byte
}

// columnsOf returns the columns of a table by its first row, and whether that is a header.
func columnsOf(row *csvscan.Tokenizer) (c *columns, header bool, err error) {
	fields := make([]string, row.Len())
	for i := range fields {
		fields[i] = string(bytes.TrimSpace(row.Field(i)))
	}
	if isBare(fields) {
		c, err = named(bare)
		return c, false, err
	}
	c, err = named(fields)
	return c, true, err
}

// isBare reports whether a row is one of keras-retinanet's: with a box, or with nothing after the path.
func isBare(fields []string) bool {
	if len(fields) != len(bare) {
		return false
	}
	numbers, empty := 0, 0
	for _, text := range fields[1:5] {
		if _, ok := csvscan.ParseFloat64([]byte(text)); ok {
			numbers++
		} else if text == "" {
			empty++
		}
	}
	return numbers == 4 || empty == 4 && fields[5] == ""
}

// named returns the columns of these names.
func named(names []string) (*columns, error) {
	c := &columns{count: len(names)}
	for kind := range c.at {
		c.at[kind] = -1
	}
	for i, name := range names {
		kind := slices.IndexFunc(spellings[:], func(s []string) bool { return slices.Contains(s, strings.ToLower(name)) })
		switch {
		case kind < 0 && name == "" && i == 0:
			c.other(i, csvscan.IndexName)
		case kind < 0:
			c.other(i, name)
		case c.at[kind] >= 0:
			return nil, fmt.Errorf("the columns %s and %s both have the %s of an object: remove one, or rename it", jsonscan.Quoted([]byte(c.names[kind])), jsonscan.Quoted([]byte(name)), purpose(kind))
		default:
			c.at[kind], c.names[kind] = i, name
		}
	}
	var missing []string
	for kind := range required {
		if c.at[kind] < 0 {
			missing = append(missing, strings.Join(spellings[kind], " or "))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("it is not a header of a table of boxes, nor a row of one without a header (%s): it has no column named %s", strings.Join(bare, ","), strings.Join(missing, ", "))
	}
	c.relative = strings.EqualFold(c.names[columnImage], "ImageID") && strings.EqualFold(c.names[columnClass], "LabelName")
	return c, nil
}

// purpose returns the name of a column's content.
func purpose(kind int) string {
	switch kind {
	case columnImage:
		return "image"
	case columnClass:
		return "class"
	}
	return spellings[kind][0]
}

// other adds a column that is not read.
func (c *columns) other(at int, name string) {
	c.others, c.otherNames = append(c.others, at), append(c.otherNames, []byte(name))
}

// has reports whether the table has a column.
func (c *columns) has(kind int) bool { return c.at[kind] >= 0 }

// field returns the field of a column that the table has, without blanks around it.
func (c *columns) field(row *csvscan.Tokenizer, kind int) []byte {
	return bytes.TrimSpace(row.Field(c.at[kind]))
}

// account counts the fields of the columns that are not read. Open Images writes -1 for an unknown
// flag.
func (c *columns) account(unused annotation.Fields, row *csvscan.Tokenizer) {
	for i, at := range c.others {
		if value := row.Field(at); !c.relative || string(value) != "-1" {
			unused.Add(c.otherNames[i], value)
		}
	}
	for kind, name := range unknown {
		if name != "" && c.has(kind) && string(c.field(row, kind)) == "-1" {
			unused.Count(name, 1)
		}
	}
}

// size returns the size of the image that a row states; 0 if it states none. Invalid sizes count as
// unused.
func (c *columns) size(unused annotation.Fields, row *csvscan.Tokenizer) (w, h int) {
	side := func(kind int) int {
		if !c.has(kind) {
			return 0
		}
		value := c.field(row, kind)
		v := annotation.Side(value)
		if v == 0 {
			unused.Add([]byte(spellings[kind][0]), value)
		}
		return v
	}
	return side(columnWidth), side(columnHeight)
}

// empty reports whether a row states that the image has no objects: it has no box and no class.
func (c *columns) empty(row *csvscan.Tokenizer) bool {
	for kind := columnClass; kind < required; kind++ {
		if len(c.field(row, kind)) > 0 {
			return false
		}
	}
	return true
}

// imageName returns the name of an image with "/" between directories, or why it is none.
func imageName(field []byte) (name []byte, reason string) {
	switch {
	case len(field) == 0:
		return nil, "it names no image"
	case len(field) > maxPath:
		return nil, fmt.Sprintf("the name of the image has %d bytes: the limit is %d", len(field), maxPath)
	case !utf8.Valid(field):
		return nil, "the name of the image is not UTF-8 text"
	case bytes.IndexByte(field, '/') < 0 && bytes.IndexByte(field, '\\') >= 0: // of Windows
		return bytes.ReplaceAll(field, []byte(`\`), []byte("/")), ""
	}
	return field, ""
}

// object returns the object of a row, without its name, or why it cannot be used.
func (c *columns) object(row *csvscan.Tokenizer, names *annotation.Names) (o annotation.Object, reason string) {
	o.Area = math.NaN()
	for i, to := range [...]*float64{&o.Box.XMin, &o.Box.YMin, &o.Box.XMax, &o.Box.YMax} {
		kind := columnXMin + i
		text := row.Field(c.at[kind])
		v, ok := csvscan.ParseFloat64(text)
		switch {
		case !ok:
			return o, fmt.Sprintf("%s is %s: want a number", c.names[kind], jsonscan.Quoted(text))
		case c.relative && (v < -slack || v > 1+slack):
			return o, fmt.Sprintf("%s is %s: want a share of the image, 0 to 1", c.names[kind], jsonscan.Quoted(text))
		}
		*to = v
	}
	err := o.Box.Check()
	if err == nil {
		o.Crowd, err = c.flag(row, columnCrowd)
	}
	if err == nil {
		o.Truncated, err = c.flag(row, columnTruncated)
	}
	if err == nil {
		o.Class, err = class(c.field(row, columnClass), names)
	}
	if err != nil {
		return o, err.Error()
	}
	return o, ""
}

// class returns the number of a class.
func class(name []byte, names *annotation.Names) (int32, error) {
	switch string(name) {
	case "NA", "N/A", "NULL", "null", "NaN", "nan":
		return 0, fmt.Errorf("the class is %s: tables write missing values so; if it is a class, rename it", jsonscan.Quoted(name))
	}
	if !utf8.Valid(name) {
		return 0, errors.New("the name of the class is not UTF-8 text")
	}
	return names.Index(name)
}

// flag returns a flag of Open Images: 0, 1, or -1 where it is not known.
func (c *columns) flag(row *csvscan.Tokenizer, kind int) (int8, error) {
	if !c.has(kind) {
		return 0, nil
	}
	text := c.field(row, kind)
	v, ok := csvscan.ParseFloat64(text)
	switch {
	case len(text) == 0, ok && (v == 0 || v == -1):
		return 0, nil
	case ok && v == 1:
		return 1, nil
	}
	return 0, fmt.Errorf("%s is %s: want 0, 1, or -1 if it is not known", c.names[kind], jsonscan.Quoted(text))
}
