package tables

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Types of columns whose texts become numbers. A text that is none is a fault of its row.
const (
	// TypeBool stores 1 for true, t, yes, y, on and 1, and 0 for false, f, no, n, off and 0, in any case.
	TypeBool ColumnType = "bool" // int64
	// TypeDate stores the days since 1970-01-01 of a date of ISO 8601, such as 2024-02-29, or of the layout
	// that follows after a colon, in the form of package time: "date:02.01.2006".
	TypeDate ColumnType = "date" // int64
	// TypeTime stores the microseconds since 1970-01-01 00:00 UTC of a time of ISO 8601, such as
	// 2024-02-29T12:30:00+01:00, or of a layout as for TypeDate. Without a zone it is in UTC.
	TypeTime ColumnType = "time" // int64
	// TypeNumber stores a number with thousands separators, a currency, a percent sign (a hundredth) or in
	// parentheses (negative): "$1,234.50". "number:," has a decimal comma: "1.234,50 €".
	TypeNumber ColumnType = "number" // float
)

// Stored returns the type of the values in records: int64, float or bytes.
func (t ColumnType) Stored() ColumnType {
	switch base, _, _ := strings.Cut(string(t), ":"); ColumnType(base) {
	case TypeBool, TypeDate, TypeTime:
		return TypeInt64
	case TypeNumber:
		return TypeFloat
	}
	return t
}

// isText reports whether texts of a column of the type become numbers.
func (t ColumnType) isText() bool { return t.Stored() != t }

// KindOf returns the kind that a column of a type is read as: text, if its values are made from that.
func KindOf(t ColumnType) table.Kind {
	if t.isText() {
		return table.Bytes
	}
	return kindOfType[t]
}

// textRule makes a number of a text, an integer or a float as the type says. It reports false for a text
// that is none.
type textRule func(text []byte) (integer int64, float float64, ok bool)

// rule returns what reads the texts of a column of the type; nil if it is stored as it is.
func (t ColumnType) rule() (textRule, error) {
	base, layout, given := strings.Cut(string(t), ":")
	switch ColumnType(base) {
	case TypeBool:
		if !given {
			return parseBoolText, nil
		}
	case TypeNumber:
		if !given || layout == "." {
			return numberRule('.', ","), nil
		}
		if layout == "," {
			return numberRule(',', "."), nil
		}
		return nil, fmt.Errorf("type %q: want number, or number:, for a decimal comma", t)
	case TypeDate:
		return dateRule(layout, given)
	case TypeTime:
		return timeRule(layout, given)
	default:
		return nil, nil
	}
	return nil, fmt.Errorf("type %q: want bool alone", t)
}

var boolTexts = map[string]int64{"true": 1, "t": 1, "yes": 1, "y": 1, "on": 1, "1": 1, "false": 0, "f": 0, "no": 0, "n": 0, "off": 0, "0": 0}

func parseBoolText(text []byte) (int64, float64, bool) {
	v, ok := boolTexts[strings.ToLower(string(bytes.TrimSpace(text)))]
	return v, 0, ok
}

// checkLayout returns an error for a layout that has none of parts.
func checkLayout(t ColumnType, layout string, parts ...string) error {
	for _, part := range parts {
		if strings.Contains(layout, part) {
			return nil
		}
	}
	return fmt.Errorf("type %s: layout %q: write the date 2 January 2006, and the time 15:04:05, in it: date:02.01.2006, time:2006-01-02 15:04", t, layout)
}

func dateRule(layout string, given bool) (textRule, error) {
	if !given {
		layout = time.DateOnly
	}
	if err := checkLayout(TypeDate, layout, "2006", "06"); err != nil {
		return nil, err
	}
	return func(text []byte) (int64, float64, bool) {
		at, err := time.Parse(layout, string(bytes.TrimSpace(text)))
		return daysSince(at), 0, err == nil
	}, nil
}

// daysSince returns the days from 1970-01-01 to a time in UTC.
func daysSince(at time.Time) int64 {
	seconds := at.Unix()
	days := seconds / 86400
	if seconds%86400 < 0 {
		days--
	}
	return days
}

// isoLayouts are the forms of ISO 8601 that TypeTime reads: with T or a space, with seconds and fractions or
// without, with a zone or in UTC.
var isoLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -0700",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

func timeRule(layout string, given bool) (textRule, error) {
	layouts := isoLayouts
	if given {
		if err := checkLayout(TypeTime, layout, "15", "3", "2006", "06"); err != nil {
			return nil, err
		}
		layouts = []string{layout}
	}
	return func(text []byte) (int64, float64, bool) {
		s := string(bytes.TrimSpace(text))
		for _, layout := range layouts {
			if at, err := time.Parse(layout, s); err == nil {
				return at.UnixMicro(), 0, true
			}
		}
		return 0, 0, false
	}, nil
}

// numberRule reads numbers with a decimal separator and others of thousands: one of grouping, spaces or
// apostrophes.
func numberRule(decimal byte, grouping string) textRule {
	return func(text []byte) (int64, float64, bool) {
		plain, percent, ok := plainNumber(string(text), decimal, grouping)
		if !ok {
			return 0, 0, false
		}
		v, ok := csvscan.ParseFloat64([]byte(plain))
		if percent {
			v /= 100
		}
		return 0, v, ok
	}
}

// plainNumber removes currencies, the percent sign and separators of thousands from a number.
func plainNumber(s string, decimal byte, grouping string) (plain string, percent, ok bool) {
	s = strings.TrimSpace(s)
	negative := false
	if inside, found := strings.CutPrefix(s, "("); found {
		if s, found = strings.CutSuffix(inside, ")"); !found {
			return "", false, false
		}
		negative = true
	}
	strip := func(r rune) bool { return unicode.Is(unicode.Sc, r) || unicode.IsSpace(r) }
	s = strings.TrimFunc(s, strip)
	if rest, found := strings.CutSuffix(s, "%"); found {
		s, percent = strings.TrimSpace(rest), true
	}
	if rest, found := strings.CutPrefix(s, "-"); found {
		if negative {
			return "", false, false
		}
		s, negative = strings.TrimFunc(rest, strip), true
	}
	whole, fraction, hasFraction := strings.Cut(s, string(decimal))
	whole, ok = ungroup(whole, grouping)
	if !ok || strings.ContainsFunc(fraction, func(r rune) bool { return !('0' <= r && r <= '9' || r == 'e' || r == 'E' || r == '-' || r == '+') }) {
		return "", false, false
	}
	plain = whole
	if hasFraction {
		plain += "." + fraction
	}
	if negative {
		plain = "-" + plain
	}
	return plain, percent, true
}

// ungroup removes separators of thousands, which are all one character, with three digits after each.
func ungroup(s, grouping string) (string, bool) {
	at := strings.IndexFunc(s, func(r rune) bool {
		return strings.ContainsRune(grouping, r) || r == '\'' || r == '’' || unicode.IsSpace(r)
	})
	if at < 0 {
		return s, true
	}
	separator, _ := utf8.DecodeRuneInString(s[at:])
	groups := strings.Split(s, string(separator))
	for i, group := range groups {
		if _, err := strconv.ParseUint(group, 10, 64); err != nil || i > 0 && len(group) != 3 || i == 0 && len(strings.TrimPrefix(group, "+")) > 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}
