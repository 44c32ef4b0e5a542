package csvscan

import (
	"math"
	"slices"
	"strings"
)

// DefaultMissing are the spellings of a missing value that are known by
// default. NaN is none of them: it is a float.
var DefaultMissing = []string{"", "NA", "N/A", "NULL", "null"}

// IsMissing reports whether a cell of a column of integers or names may be a missing value: one of
// DefaultMissing, or NaN, which pandas and NumPy write for one. Blanks around it do not count.
func IsMissing(cell string) bool {
	cell = strings.TrimSpace(cell)
	return slices.Contains(DefaultMissing, cell) || IsNaN([]byte(cell))
}

// IsNaN reports whether a field is a NaN, in any case and with or without a sign.
func IsNaN(field []byte) bool {
	v, ok := ParseFloat64(field)
	return ok && math.IsNaN(v)
}

// Missing recognises missing values. The zero value knows none. It is safe for concurrent use.
type Missing struct {
	tokens []string
	first  [256]bool // bytes that a token begins with
	empty  bool
}

// NewMissing returns a Missing that knows the tokens, spelt exactly; quotes
// around a field make no difference.
func NewMissing(tokens []string) *Missing {
	m := new(Missing)
	for _, t := range tokens {
		if t == "" {
			m.empty = true
			continue
		}
		m.tokens = append(m.tokens, t)
		m.first[t[0]] = true
	}
	return m
}

// IsPadded is Is for a column of numbers, where blanks around a field make no difference.
func (m *Missing) IsPadded(field []byte) bool { return m.Is(field) || m.Is(trimBlanks(field)) }

// Is reports whether the field is a missing value.
func (m *Missing) Is(field []byte) bool {
	if len(field) == 0 {
		return m.empty
	}
	return m.first[field[0]] && m.match(field)
}

func (m *Missing) match(field []byte) bool {
	for _, t := range m.tokens {
		if string(field) == t {
			return true
		}
	}
	return false
}
