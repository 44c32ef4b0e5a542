package tables

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTextTypes(t *testing.T) {
	for _, c := range []struct {
		typ   ColumnType
		texts string // separated by |
		want  any    // of each of them; nil: it is none
	}{
		{"bool", "true|TRUE|t|Yes|y|on|1| 1 ", int64(1)}, {"bool", "false|F|no|N|off|0", int64(0)}, {"bool", "2|-1|ja||yes no|1.0", nil},
		{"date", "1970-01-01", int64(0)}, {"date", "2024-02-29", int64(19782)}, {"date", "1969-12-31", int64(-1)}, {"date", "0001-01-01", int64(-719162)},
		{"date", "2023-02-29|29.02.2024|2024-2-9|2024-02-29T00:00:00|", nil},
		{"date:02.01.2006", "29.02.2024", int64(19782)}, {"date:02.01.2006", "2024-02-29|31.04.2024", nil}, {"date:1/2/06", "2/29/24", int64(19782)},
		{"time", "1970-01-01T00:00:01Z|1970-01-01 00:00:01|1970-01-01T01:00:01+01:00|1970-01-01T00:00:01.000000", int64(1_000_000)},
		{"time", "1970-01-02|1970-01-02T00:00|1970-01-02 00:00", int64(86_400_000_000)}, {"time", "1969-12-31T23:59:59.5Z", int64(-500_000)}, {"time", "24:00|2024-02-30T00:00:00Z|now", nil},
		{"time:02.01.2006 15:04", "01.01.1970 00:01", int64(60_000_000)},
	} {
		for text := range strings.SplitSeq(c.texts, "|") {
			rule, err := c.typ.rule()
			if err != nil {
				t.Fatal(c.typ, err)
			}
			got, _, ok := rule([]byte(text))
			if ok != (c.want != nil) || ok && any(got) != c.want {
				t.Errorf("%s of %q is %v, %v; want %v", c.typ, text, got, ok, c.want)
			}
		}
	}
	for _, c := range []struct{ typ, text, want string }{
		{"number", "1234.5", "1234.5"}, {"number", "1,234.5", "1234.5"}, {"number", "$1,234.50", "1234.5"}, {"number", "€ 1,234.5", "1234.5"}, {"number", "1'234.5", "1234.5"},
		{"number", "1 234.5 ", "1234.5"}, {"number", "12%", "0.12"}, {"number", "(5)", "-5"}, {"number", "-$5", "-5"}, {"number", "$-5", "-5"}, {"number", "1e3", "1000"},
		{"number", "-1,234,567", "-1.234567e+06"}, {"number", ".5", "0.5"}, {"number", "+7", "7"},
		{"number", "1,23", ""}, {"number", "1,2345", ""}, {"number", "1234,567", ""}, {"number", "1,234.5,6", ""}, {"number", "5 USD", ""}, {"number", "", ""}, {"number", "(-5)", ""}, {"number", "(5", ""}, {"number", "1.2.3", ""}, {"number", "--5", ""}, {"number", "1,,234", ""},
		{"number:,", "1.234,50 €", "1234.5"}, {"number:,", "0,5", "0.5"}, {"number:,", "1.234", "1234"}, {"number:,", "1,234.5", ""}, {"number:,", "1 234,5", "1234.5"}, {"number:.", "1,234.5", "1234.5"},
	} {
		rule, err := ColumnType(c.typ).rule()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, v, ok := rule([]byte(c.text)); ok {
			got = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if got != c.want {
			t.Errorf("%s of %q is %s, want %s", c.typ, c.text, got, c.want)
		}
	}
	for _, s := range []string{"bool:x", "number:;", "date:", "date:monday", "time:x", "int32", "int64:x", ""} {
		if typ, err := ParseColumnType(s); err == nil {
			t.Errorf("%q is %q", s, typ)
		}
	}
}

// TestTextsComeBack writes random times and numbers in the forms that are read.
func TestTextsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		at := time.UnixMicro(rng.Int64N(8e15) - 4e15).UTC()
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		for typ, c := range map[ColumnType]struct {
			text string
			want int64
		}{
			"date": {at.Format(time.DateOnly), day.Unix() / 86400}, "date:02.01.2006": {at.Format("02.01.2006"), day.Unix() / 86400},
			"time": {at.In(time.FixedZone("", (rng.IntN(27)-13)*1800)).Format("2006-01-02T15:04:05.000000Z07:00"), at.UnixMicro()},
		} {
			rule, err := typ.rule()
			if err != nil {
				t.Fatal(err)
			}
			if got, _, ok := rule([]byte(c.text)); !ok || got != c.want {
				t.Errorf("%s of %q is %d, %v; want %d", typ, c.text, got, ok, c.want)
			}
		}
		cents := rng.Int64N(1e12) - 5e11
		whole, fraction, sign := max(cents, -cents)/100, max(cents, -cents)%100, ""
		if cents < 0 {
			sign = "-"
		}
		digits := strconv.FormatInt(whole, 10)
		grouped := ""
		for i, c := range digits {
			if i > 0 && (len(digits)-i)%3 == 0 {
				grouped += ","
			}
			grouped += string(c)
		}
		text := fmt.Sprintf("%s$%s.%02d", sign, grouped, fraction)
		if _, got, ok := numberRule('.', ",")([]byte(text)); !ok || got != float64(cents)/100 {
			t.Errorf("%q is %v, %v", text, got, ok)
		}
	}
}
