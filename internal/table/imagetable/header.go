package imagetable

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Header is the interpretation of the first row of a table.
type Header int

// The ways to take the first row.
const (
	KnownHeader Header = iota // it names columns that are given or known, or the table is typed
	FoundHeader               // it is a header, as the rows below are unlike it
	NoHeader                  // it is a row like all others
)

// Header returns how the first row was taken.
func (t *Table) Header() Header { return t.found }

// fewRows is the number of rows to examine to interpret the first row.
const fewRows = 200

// isPath reports whether a cell is the path of an image: of one that is there, or by its name.
func (o *Options) isPath(cell string) bool { return o.isImage(cell) || o.like(cell) }

// isImage reports whether there is an image at the path in a cell.
func (o *Options) isImage(cell string) bool {
	return o.IsImage != nil && cell != "" && o.IsImage(o.withSuffix(cell))
}

// like reports whether a cell is meant to be the path of an image.
func (o *Options) like(cell string) bool {
	return o.LikeImage != nil && cell != "" && o.LikeImage(cell)
}

// columnOf returns the column, other than taken, with the paths of images in most rows: of existing
// images or, if there are none, of images by their names; -1 without such a column.
func (t *Table) columnOf(rows [][]string, taken int) int {
	for _, is := range []func(string) bool{t.o.isImage, t.o.like} {
		best, most := -1, 0
		for c := range t.fields {
			n := 0
			for _, row := range rows {
				if c < len(row) && is(row[c]) {
					n++
				}
			}
			if c != taken && n > most {
				best, most = c, n
			}
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}

// isHeader reports whether the first row, none of whose cells is the path of an image or a known
// name, is a header: it has a word above numbers, or words that do not occur below, or the numbers
// of the columns, while other rows have paths of images.
func (t *Table) isHeader(rows [][]string) bool {
	words, repeated, numbered := true, false, true
	for c, name := range t.header {
		if name = strings.TrimSpace(name); name == "" {
			continue // as pandas names the index
		}
		numbers, texts := 0, 0
		for _, row := range rows {
			if c >= len(row) || isMissing(row[c]) {
				continue
			}
			cell := strings.TrimSpace(row[c])
			if repeated = repeated || cell == name; isNumber(cell) {
				numbers++
			} else {
				texts++
			}
		}
		switch number := isNumber(name); {
		case !number && !isMissing(name) && numbers > 0 && texts == 0:
			return true
		case number:
			words = false
			numbered = numbered && texts > 0 && (name == strconv.Itoa(c) || t.header[0] == "" && name == strconv.Itoa(c-1))
		default:
			numbered = false
		}
	}
	return (words && !repeated || numbered) && t.columnOf(rows, -1) >= 0
}

func isNumber(cell string) bool {
	_, ok := csvscan.ParseFloat64([]byte(cell))
	return ok
}

func isMissing(cell string) bool {
	return slices.Contains(csvscan.DefaultMissing, strings.TrimSpace(cell))
}
