package table

import (
	"fmt"
	"maps"
	"unicode/utf8"
)

// ColumnStats are properties of a column that only its rows reveal, not its schema.
type ColumnStats struct {
	Missing      int64
	Fewest, Most int  // values of a row that has some
	Seen         bool // some row has
	NotText      bool // some bytes are not UTF-8
	Distinct     map[string]struct{}
}

// Add adds n rows. It checks bytes for UTF-8 if text is set, and keeps the different values if
// distinct is set.
func (s *ColumnStats) Add(v *Values, n int, text, distinct bool) error {
	for row := range n {
		if !v.Has(row) {
			s.Missing++
			continue
		}
		first, end := v.Span(row)
		if !s.Seen {
			s.Fewest, s.Most, s.Seen = end-first, end-first, true
		}
		s.Fewest, s.Most = min(s.Fewest, end-first), max(s.Most, end-first)
		if !distinct || v.Kind == Unknown {
			continue
		}
		for i := first; i < end; i++ {
			if err := s.addDistinct(v.Text(i)); err != nil {
				return err
			}
		}
	}
	for i := 0; text && !s.NotText && i < len(v.Ends); i++ {
		s.NotText = !utf8.Valid(v.Byte(i))
	}
	return nil
}

// AddValue adds a value of kind Bytes to those that are looked at, without a row.
func (s *ColumnStats) AddValue(value []byte, text, distinct bool) error {
	s.NotText = s.NotText || text && !utf8.Valid(value)
	if !distinct {
		return nil
	}
	return s.addDistinct(string(value))
}

func (s *ColumnStats) addDistinct(value string) error {
	if s.Distinct == nil {
		s.Distinct = map[string]struct{}{}
	}
	if s.Distinct[value] = struct{}{}; len(s.Distinct) > MaxDistinct {
		return ErrDistinct
	}
	return nil
}

// Merge adds what other rows of the column show.
func (s *ColumnStats) Merge(o *ColumnStats) {
	s.Missing += o.Missing
	s.NotText = s.NotText || o.NotText
	switch {
	case !o.Seen:
	case !s.Seen:
		s.Fewest, s.Most, s.Seen = o.Fewest, o.Most, true
	default:
		s.Fewest, s.Most = min(s.Fewest, o.Fewest), max(s.Most, o.Most)
	}
	if s.Distinct == nil {
		s.Distinct = o.Distinct
		return
	}
	maps.Copy(s.Distinct, o.Distinct)
}

// Length is the number of values of each row that has some; 0 if it varies.
func (s *ColumnStats) Length() int {
	if s.Fewest != s.Most {
		return 0
	}
	return s.Most
}

// ErrDistinct means that a column has more than MaxDistinct values.
var ErrDistinct = fmt.Errorf("more than %d different values", MaxDistinct)
