package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tfrec/tfrec/internal/table"
)

// Limits of the footer, which is in memory while a file is open.
const (
	maxFooter  = 256 << 20 // bytes
	maxNodes   = 1 << 16   // of the schema
	maxDepth   = 64        // of the schema
	maxPieces  = 1 << 22   // columns of all row groups
	maxGroups  = 1 << 20
	minPiece   = 16 // bytes that a column takes in the footer
	maxNameLen = 1 << 16
)

// Physical types.
const (
	typeBoolean = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeBytes
	typeFixed
)

// Repetitions of a node.
const (
	required = iota
	optional
	repeated
)

// element is a node of the schema, as it is in the file.
type element struct {
	name             string
	physical         int // -1 for groups
	repetition       int
	length           int64 // of typeFixed
	children         int64
	converted        int64 // -1 if absent
	scale, precision int64
	logical          int64 // the number of the logical type; 0 if absent
	unsigned         bool  // of an integer type
	width            int64 // of an integer type in bits; 0 otherwise
}

// piece is a column of a row group: a column chunk.
type piece struct {
	codec        int
	values       int64 // nulls included
	uncompressed int64
	compressed   int64
	start        int64 // offset of the first page
	nulls        int64 // -1 if unknown
	unencoded    int64 // bytes of byte arrays; -1 if unknown
	dictionary   bool  // some pages may have dictionary indexes
	elsewhere    bool  // in another file, or encrypted
}

// rowGroup is the columns of some rows.
type rowGroup struct {
	first, rows int64
	pieces      []piece
}

// metadata has the used parts of a footer.
type metadata struct {
	elements []element
	groups   []rowGroup
	rows     int64
	classes  map[string][]string // as in table.Table
}

const magic = "PAR1"

// Is reports whether a file with these first bytes (4 or more) is Parquet.
func Is(head []byte) bool {
	return len(head) >= 4 && (string(head[:4]) == magic || string(head[:4]) == "PARE")
}

// readFooter reads the footer of a file.
func readFooter(r io.ReaderAt, size int64) (*metadata, error) {
	if size < 12 {
		return nil, fmt.Errorf("%d bytes are too few for Parquet", size)
	}
	tail := make([]byte, 8)
	if _, err := r.ReadAt(tail, size-8); err != nil && err != io.EOF {
		return nil, err
	}
	if string(tail[4:]) == "PARE" {
		return nil, errors.New("the footer is encrypted: write the file without encryption")
	}
	if string(tail[4:]) != magic {
		return nil, errors.New("the file does not end as Parquet does: it is truncated or damaged")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-12 || n > maxFooter {
		return nil, fmt.Errorf("offset %d: a footer of %d bytes, in a file of %d (at most %d are read)", size-8, n, size, maxFooter)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-8-n); err != nil && err != io.EOF {
		return nil, err
	}
	m, err := parseFooter(b)
	if err != nil {
		return nil, fmt.Errorf("offset %d: footer: %w", size-8-n, err)
	}
	return m, m.check(size)
}

func parseFooter(b []byte) (*metadata, error) {
	m, t, pieces := new(metadata), &thrift{b: b}, 0
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.list(thriftStruct, func() {
				if len(m.elements) == maxNodes {
					t.fail(fmt.Errorf("more than %d columns and structs", maxNodes))
					return
				}
				m.elements = append(m.elements, t.element())
			})
		case id == 3 && kind == thriftI64:
			m.rows = t.int()
		case id == 4 && kind == thriftList:
			t.list(thriftStruct, func() {
				if len(m.groups) == maxGroups {
					t.fail(fmt.Errorf("more than %d row groups", maxGroups))
					return
				}
				g := t.rowGroup(&pieces)
				if n := len(m.groups); n > 0 {
					g.first = m.groups[n-1].first + m.groups[n-1].rows
				}
				if g.rows < 0 || g.rows > math.MaxInt64-g.first {
					t.fail(fmt.Errorf("row group %d: %d rows", len(m.groups), g.rows))
				}
				m.groups = append(m.groups, g)
			})
		case id == 5 && kind == thriftList:
			t.list(thriftStruct, func() {
				if key, value := t.keyValue(); string(key) == table.HuggingFaceKey {
					m.classes = table.HuggingFaceClasses(value)
				}
			})
		default:
			return false
		}
		return true
	})
	return m, t.err
}

// check compares the row groups with the schema and the size of the file.
func (m *metadata) check(size int64) error {
	leaves := 0
	for _, e := range m.elements {
		if e.physical >= 0 {
			leaves++
		}
	}
	total := int64(0)
	for i, g := range m.groups {
		total += g.rows
		if len(g.pieces) != leaves {
			return fmt.Errorf("row group %d: %d columns, but the schema has %d", i, len(g.pieces), leaves)
		}
		for j := range g.pieces {
			p := &g.pieces[j]
			if p.elsewhere {
				return fmt.Errorf("row group %d: column %d is encrypted or in another file", i, j)
			}
			if g.rows == 0 && p.values == 0 {
				continue // nothing is read, and writers leave offsets out
			}
			if p.start < 4 || p.compressed < 0 || p.uncompressed < 0 || p.values < 0 || p.start > size-8 || p.compressed > size-8-p.start {
				return fmt.Errorf("row group %d: column %d: %d bytes at offset %d, in a file of %d", i, j, p.compressed, p.start, size)
			}
		}
	}
	if total > table.MaxChunks*table.MaxChunkRows {
		return fmt.Errorf("%d rows: at most %d are read", total, int64(table.MaxChunks*table.MaxChunkRows))
	}
	if total != m.rows {
		return fmt.Errorf("the row groups have %d rows, but the footer says %d", total, m.rows)
	}
	return nil
}

// keyValue reads an entry of the metadata of a file, which aliases the footer.
func (t *thrift) keyValue() (key, value []byte) {
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			key = t.binary()
		case id == 2 && kind == thriftBinary:
			value = t.binary()
		default:
			return false
		}
		return true
	})
	return key, value
}

func (t *thrift) element() element {
	e := element{physical: -1, converted: -1}
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			if e.physical = int(t.int()); e.physical < 0 || e.physical > typeFixed {
				t.fail(fmt.Errorf("physical type %d", e.physical))
			}
		case id == 2 && kind == thriftI32:
			e.length = t.int()
		case id == 3 && kind == thriftI32:
			e.repetition = int(t.int())
		case id == 4 && kind == thriftBinary:
			name := t.binary()
			if len(name) > maxNameLen {
				t.fail(fmt.Errorf("a column name of %d bytes: at most %d are read", len(name), maxNameLen))
			}
			e.name = string(name)
		case id == 5 && kind == thriftI32:
			e.children = t.int()
		case id == 6 && kind == thriftI32:
			e.converted = t.int()
		case id == 7 && kind == thriftI32:
			e.scale = t.int()
		case id == 8 && kind == thriftI32:
			e.precision = t.int()
		case id == 10 && kind == thriftStruct:
			t.logical(&e)
		default:
			return false
		}
		return true
	})
	return e
}

// logical reads the union of logical types.
func (t *thrift) logical(e *element) {
	t.structure(func(id int64, kind byte) bool {
		e.logical = id
		switch {
		case kind != thriftStruct:
			return false
		case id == logicalDecimal:
			t.structure(func(id int64, kind byte) bool {
				switch {
				case id == 1 && kind == thriftI32:
					e.scale = t.int()
				case id == 2 && kind == thriftI32:
					e.precision = t.int()
				default:
					return false
				}
				return true
			})
		case id == logicalInteger:
			e.unsigned = true // unless a field below marks it as signed
			t.structure(func(id int64, kind byte) bool {
				switch {
				case id == 1 && kind == thriftByte:
					e.width = int64(t.byte())
				case id == 2:
					e.unsigned = kind == thriftFalse
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
}

func (t *thrift) rowGroup(pieces *int) rowGroup {
	g := rowGroup{}
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			t.list(thriftStruct, func() {
				if *pieces++; *pieces > maxPieces || *pieces > len(t.b)/minPiece {
					t.fail(fmt.Errorf("%d columns in all row groups: more than %d, or than fit into the footer", *pieces, maxPieces))
					return
				}
				g.pieces = append(g.pieces, t.piece())
			})
		case id == 3 && kind == thriftI64:
			g.rows = t.int()
		default:
			return false
		}
		return true
	})
	return g
}

func (t *thrift) piece() piece {
	p := piece{nulls: -1, unencoded: -1}
	data, dictionary := int64(0), int64(0)
	t.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			p.elsewhere = p.elsewhere || len(t.binary()) > 0
		case (id == 8 || id == 9) && kind != thriftStop:
			p.elsewhere = true
			return false
		case id == 3 && kind == thriftStruct:
			t.structure(func(id int64, kind byte) bool {
				switch {
				case id == 2 && kind == thriftList:
					t.list(thriftI32, func() {
						e := t.int()
						p.dictionary = p.dictionary || e == encodingDictionary || e == encodingPlainDictionary
					})
				case id == 4 && kind == thriftI32:
					p.codec = int(t.int())
				case id == 5 && kind == thriftI64:
					p.values = t.int()
				case id == 6 && kind == thriftI64:
					p.uncompressed = t.int()
				case id == 7 && kind == thriftI64:
					p.compressed = t.int()
				case id == 9 && kind == thriftI64:
					data = t.int()
				case id == 11 && kind == thriftI64:
					dictionary = t.int()
				case id == 12 && kind == thriftStruct:
					t.number(3, &p.nulls)
				case id == 16 && kind == thriftStruct:
					t.number(1, &p.unencoded)
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	if p.start = data; dictionary > 0 && dictionary < data {
		p.start = dictionary
	}
	return p
}

// number reads the i64 of one field of a struct.
func (t *thrift) number(field int64, v *int64) {
	t.structure(func(id int64, kind byte) bool {
		if id != field || kind != thriftI64 {
			return false
		}
		*v = t.int()
		return true
	})
}
