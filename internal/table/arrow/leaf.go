package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tfrec/tfrec/internal/table"
)

// leaf is a column: a field, or a member of structs.
type leaf struct {
	name string
	// path leads from the fields of the schema through structs, and inner on from the elements of
	// a list.
	path, inner []int
	list        bool
	kind        table.Kind
	decimal     bool
	wide        bool // as in table.Column
	scale       int
	text        bool
	// unfit is the reason why the column cannot be read, "" if it can. Its kind is then
	// table.Unknown.
	unfit string
}

// leaves returns the columns of a schema.
func leaves(schema *arrow.Schema) ([]leaf, error) {
	var all []leaf
	for i, f := range schema.Fields() {
		var err error
		if all, err = appendLeaves(all, leaf{name: f.Name, path: []int{i}}, f.Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	names := map[string]bool{}
	for _, l := range all {
		if names[l.name] {
			return nil, fmt.Errorf("two columns are named %q", l.name)
		}
		names[l.name] = true
	}
	return all, nil
}

// appendLeaves appends the columns below one.
func appendLeaves(all []leaf, l leaf, t arrow.DataType) ([]leaf, error) {
	unfit := func(format string, args ...any) ([]leaf, error) {
		l.kind, l.unfit = table.Unknown, fmt.Sprintf(format, args...)
		return append(all, l), nil
	}
	switch t := t.(type) {
	case arrow.ExtensionType:
		return appendLeaves(all, l, t.StorageType())
	case *arrow.DictionaryType:
		if arrow.IsNested(t.ValueType.ID()) {
			return unfit("a dictionary of %s does not fit a feature", t.ValueType.Name())
		}
		return appendLeaves(all, l, t.ValueType)
	case *arrow.StructType:
		for i, f := range t.Fields() {
			member := l
			member.name += "/" + f.Name
			if len(member.name) > maxName {
				return nil, fmt.Errorf("a name of more than %d bytes", maxName)
			}
			if l.list {
				member.inner = append(append([]int(nil), l.inner...), i)
			} else {
				member.path = append(append([]int(nil), l.path...), i)
			}
			var err error
			if all, err = appendLeaves(all, member, f.Type); err != nil {
				return nil, err
			}
		}
		return all, nil
	case *arrow.MapType:
		return unfit("a map does not fit a feature")
	case arrow.ListLikeType:
		if l.list {
			return unfit("a list of lists does not fit a feature")
		}
		l.list = true
		return appendLeaves(all, l, t.Elem())
	}
	if err := l.setKind(t); err != nil {
		return unfit("%v", err)
	}
	return append(all, l), nil
}

// maxName is the length of the longest name in bytes.
const maxName = 1 << 16

// maxScale is the maximum number of digits of a decimal after the point.
const maxScale = 1 << 10

func (l *leaf) setKind(t arrow.DataType) error {
	switch t.ID() {
	case arrow.NULL:
		l.kind = table.Unknown
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		l.kind = table.Int64
		fixed, ok := t.(arrow.FixedWidthDataType)
		l.wide = ok && fixed.BitWidth() > 16
	case arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		l.kind, l.wide = table.Float, t.ID() == arrow.FLOAT64
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		l.kind, l.text = table.Bytes, true
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		l.kind = table.Bytes
	case arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		l.kind, l.decimal, l.wide, l.scale = table.Float, true, true, int(t.(arrow.DecimalType).GetScale())
		if l.scale < 0 || l.scale > maxScale {
			return fmt.Errorf("a decimal of scale %d", l.scale)
		}
	default:
		return fmt.Errorf("%s does not fit a feature", t)
	}
	return nil
}

// kindAs returns the kind in which a leaf is read if the caller wants a kind.
func (l *leaf) kindAs(want table.Kind) (table.Kind, error) {
	switch {
	case l.unfit != "":
		return table.Unknown, nil
	case want == table.Unknown || want == l.kind || l.kind == table.Unknown:
		return max(want, l.kind), nil
	case want == table.Float && l.kind == table.Int64, want == table.Bytes && (l.decimal || l.kind == table.Int64):
		return want, nil
	}
	return 0, fmt.Errorf("column %q: %s values cannot be read as %s", l.name, l.kind, want)
}
