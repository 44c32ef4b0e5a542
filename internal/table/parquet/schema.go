package parquet

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/table"
)

// Logical types, by their number in the union, and converted types, which are older.
const (
	logicalString   = 1
	logicalMap      = 2
	logicalList     = 3
	logicalEnum     = 4
	logicalDecimal  = 5
	logicalInteger  = 10
	logicalNull     = 11
	logicalJSON     = 12
	logicalHalf     = 15
	logicalVariant  = 16
	convertedUTF8   = 0
	convertedMap    = 1
	convertedEntry  = 2
	convertedList   = 3
	convertedEnum   = 4
	convertedDec    = 5
	convertedUint8  = 11
	convertedUint64 = 14
	convertedJSON   = 19
)

// form is the conversion of the values of a leaf.
type form uint8

const (
	formPlain    form = iota
	formUnsigned      // integers without a sign
	formDecimal       // a scaled integer: float, or text
	formHalf          // a float of 16 bits
	formNull          // no value at all
)

// leaf is a column of the file.
type leaf struct {
	name     string // "a/b"
	index    int    // among the leaves of the file
	physical int
	size     int // of typeFixed in bytes
	form     form
	scale    int // of formDecimal
	text     bool
	kind     table.Kind
	// def is the level of a value that is there. If list is set, a level of at least slot is an
	// element, and slot-1 an empty list; everything below is a missing row.
	def, slot int
	list      bool
	// problem is the reason why the column cannot be read, "" if it can. Its kind is then
	// table.Unknown.
	problem string
}

// leaves returns the leaves of a file.
func (m *metadata) leaves() ([]leaf, error) {
	if len(m.elements) == 0 || m.elements[0].physical >= 0 {
		return nil, fmt.Errorf("the schema has no root")
	}
	w := walker{elements: m.elements[1:]}
	for range m.elements[0].children {
		if err := w.node(branch{}); err != nil {
			return nil, err
		}
	}
	if len(w.elements) > 0 {
		return nil, fmt.Errorf("the schema has %d nodes too many", len(w.elements))
	}
	names := map[string]bool{}
	for _, l := range w.leaves {
		if names[l.name] {
			return nil, fmt.Errorf("two columns are named %q", l.name)
		}
		names[l.name] = true
	}
	return w.leaves, nil
}

// branch is where the walk through a schema is.
type branch struct {
	name    string
	depth   int
	def     int
	lists   int // repeated nodes on the way
	slot    int // def at the last of them
	unnamed int // of the next nodes, how many are wrappers whose names do not count
	problem string
	within  bool // a map or a variant, which is one column that cannot be read
}

type walker struct {
	elements []element // that follow
	leaves   []leaf
	passed   int // leaves of the file
}

// node walks through the first element and those below it.
func (w *walker) node(b branch) error {
	if len(w.elements) == 0 {
		return fmt.Errorf("the schema ends too early")
	}
	e := w.elements[0]
	w.elements = w.elements[1:]
	if b.depth++; b.depth > maxDepth {
		return fmt.Errorf("column %.100q: more than %d levels of structs and lists", b.name, maxDepth)
	}
	switch {
	case b.unnamed > 0:
		b.unnamed--
	case b.name == "":
		b.name = e.name
	default:
		b.name += "/" + e.name
	}
	if len(b.name) > maxNameLen {
		return fmt.Errorf("column %.100q...: a name of %d bytes: at most %d are read", b.name, len(b.name), maxNameLen)
	}
	switch e.repetition {
	case optional:
		b.def++
	case repeated:
		b.def++
		b.lists++
		b.slot = b.def
	}
	if b.lists > 1 && b.problem == "" {
		b.problem = "a list of lists does not fit a feature"
	}
	if e.physical >= 0 {
		if !b.within {
			w.leaves = append(w.leaves, newLeaf(e, b, w.passed))
		}
		w.passed++
		return nil
	}
	children := e.children
	if children < 0 || children > int64(len(w.elements)) {
		return fmt.Errorf("column %.100q: %d children, of %d nodes left in the schema", b.name, children, len(w.elements))
	}
	switch {
	case b.within:
	case e.logical == logicalVariant:
		w.unfit(&b, "a variant does not fit a feature")
	case e.logical == logicalMap || e.converted == convertedMap || e.converted == convertedEntry:
		w.unfit(&b, "a map does not fit a feature")
	case (e.logical == logicalList || e.converted == convertedList) && e.repetition != repeated && children == 1 && w.elements[0].repetition == repeated:
		b.unnamed = w.wrappers(e)
	}
	for range children {
		if err := w.node(b); err != nil {
			return err
		}
	}
	return nil
}

// unfit adds a column for all leaves below a node.
func (w *walker) unfit(b *branch, problem string) {
	w.leaves = append(w.leaves, leaf{name: b.name, index: w.passed, problem: problem})
	b.within = true
}

// wrappers returns the number of nodes below a list whose names do not count: the repeated group
// and the element in it or, in the legacy form of two levels, only the element. It follows the
// rules for backward compatibility of the format.
func (w *walker) wrappers(list element) int {
	group := w.elements[0]
	if group.physical >= 0 || group.children != 1 || group.name == "array" || group.name == list.name+"_tuple" {
		return 1
	}
	return 2
}

func newLeaf(e element, b branch, index int) leaf {
	l := leaf{name: b.name, index: index, physical: e.physical, def: b.def, slot: b.slot, list: b.lists > 0, problem: b.problem}
	unsupported := func(format string, args ...any) {
		if l.problem == "" {
			l.problem = fmt.Sprintf(format, args...)
		}
	}
	if e.physical == typeFixed {
		if e.length < 0 || e.length > maxValue {
			unsupported("values of %d bytes: at most %d are read", e.length, maxValue)
		} else {
			l.size = int(e.length)
		}
	}
	decimal := e.logical == logicalDecimal || e.logical == 0 && e.converted == convertedDec
	switch e.physical {
	case typeBoolean, typeInt32, typeInt64, typeInt96:
		l.kind = table.Int64
		if e.logical == logicalInteger && e.unsigned || e.logical == 0 && e.converted >= convertedUint8 && e.converted <= convertedUint64 {
			l.form = formUnsigned
		}
	case typeFloat, typeDouble:
		l.kind = table.Float
	default:
		l.kind = table.Bytes
		l.text = e.logical == logicalString || e.logical == logicalEnum || e.logical == logicalJSON ||
			e.logical == 0 && (e.converted == convertedUTF8 || e.converted == convertedEnum || e.converted == convertedJSON)
	}
	switch {
	case decimal && (e.physical == typeBoolean || e.physical == typeInt96 || l.kind == table.Float || e.scale < 0 || e.scale > maxScale):
		unsupported("a decimal of physical type %d and scale %d", e.physical, e.scale)
	case decimal:
		l.form, l.kind, l.scale = formDecimal, table.Float, int(e.scale)
	case e.logical == logicalHalf && l.size == 2:
		l.form, l.kind = formHalf, table.Float
	case e.logical == logicalNull:
		l.form, l.kind = formNull, table.Unknown
	}
	if l.problem != "" {
		l.kind = table.Unknown
	}
	return l
}
