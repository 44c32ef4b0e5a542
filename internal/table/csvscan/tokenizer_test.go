package csvscan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestTokenizer(t *testing.T) {
	for _, test := range []struct {
		name, text string
		delim      byte
		columns    int
		want       []string // rows as LINE:field|field, with ! before a bad one
		blank      int64
	}{
		{"plain", "1,2,3\n4,5,6\n", ',', 3, []string{"1:1|2|3", "2:4|5|6"}, 0},
		{"no last newline", "1,2\n3,4", ',', 2, []string{"1:1|2", "2:3|4"}, 0},
		{"empty last field", "1,\n2,", ',', 2, []string{"1:1|", "2:2|"}, 0},
		{"only delimiters", ",,\n", ',', 3, []string{"1:||"}, 0},
		{"crlf", "1,2\r\n3,4\r\n", ',', 2, []string{"1:1|2", "2:3|4"}, 0},
		{"lone cr", "1,2\r3,4\r", ',', 2, []string{"1:1|2", "2:3|4"}, 0},
		{"mixed ends", "1,2\r\n3,4\r5,6\n", ',', 2, []string{"1:1|2", "2:3|4", "3:5|6"}, 0},
		{"quotes", `"a","b ""c"" d",""` + "\n", ',', 3, []string{`1:a|b "c" d|`}, 0},
		{"only doubled quotes", `"""","""a"""` + "\n", ',', 2, []string{`1:"|"a"`}, 0},
		{"newlines in quotes", "\"a\nb\",\"c\r\nd\re\"\n1,2\n", ',', 2, []string{"1:a\nb|c\r\nd\re", "5:1|2"}, 0},
		{"delimiter in quotes", "\"a,b\",c\n", ',', 2, []string{"1:a,b|c"}, 0},
		{"bare quote", "5\" disk,a\"b\"\n", ',', 2, []string{"1:5\" disk|a\"b\""}, 0},
		{"text after quote", "\"a\" b,c\n1,2\n", ',', 2, []string{"!1:text after a closing quote in field 1: double the quotes inside a quoted field", "2:1|2"}, 0},
		{"quote after quote", "\"a\"b\"c,d\n", ',', 2, []string{"!1:text after a closing quote in field 1: double the quotes inside a quoted field"}, 0},
		{"too few", "1\n2,3\n", ',', 2, []string{"!1:wrong number of fields: 1, 1 too few", "2:2|3"}, 0},
		{"too many", "1,2,3,4\n2,3\n", ',', 2, []string{"!1:wrong number of fields: 4, 2 too many", "2:2|3"}, 0},
		{"blank lines", "\n1,2\n\n\r\n3,4\n\n", ',', 2, []string{"2:1|2", "5:3|4"}, 4},
		{"blank line in one column", "a\n\nb\n\"\"\n", ',', 1, []string{"1:a", "2:", "3:b", "4:"}, 0},
		{"a space is no blank line", "1,2\n \n", ',', 2, []string{"1:1|2", "!2:wrong number of fields: 1, 1 too few"}, 0},
		{"tab", "a\tb c\n\"d\te\"\tf\n", '\t', 2, []string{"1:a|b c", "2:d\te|f"}, 0},
		{"tabs and other controls in text", "a\tb\x00\x0b\x0c,c\x0e\n", ',', 2, []string{"1:a\tb\x00\x0b\x0c|c\x0e"}, 0},
		{"long fields", strings.Repeat("x", 100) + "," + strings.Repeat("y", 7) + "\n", ',', 2, []string{"1:" + strings.Repeat("x", 100) + "|" + strings.Repeat("y", 7)}, 0},
		{"high bytes", "M\xfcnchen\x8d\x8a,\xac\xff\n", ',', 2, []string{"1:M\xfcnchen\x8d\x8a|\xac\xff"}, 0},
		{"high delimiter", "a\xa7b\n", 0xa7, 2, []string{"1:a|b"}, 0},
		{"open quote", "1,2\n3,\"4\n5,6\n", ',', 2, []string{"1:1|2", "!2:a quote opens here and is never closed"}, 0},
		{"nothing", "", ',', 2, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			tok := NewTokenizer(Dialect{Delimiter: test.delim}, test.columns)
			var got []string
			for tok.Reset([]byte(test.text), 1); tok.Next(); {
				line := string(rune('0'+tok.Line())) + ":"
				if tok.Bad() {
					err := new(Error)
					if !errors.As(tok.Err(), &err) || err.Line != tok.Line() {
						t.Fatalf("error %v", tok.Err())
					}
					got = append(got, "!"+line+err.Err.Error())
					continue
				}
				if tok.Err() != nil {
					t.Fatalf("a good row with error %v", tok.Err())
				}
				var fields []string
				for i := range tok.Len() {
					fields = append(fields, string(tok.Field(i)))
				}
				got = append(got, line+strings.Join(fields, "|"))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if tok.Blank() != test.blank {
				t.Errorf("%d blank lines, want %d", tok.Blank(), test.blank)
			}
			for _, size := range []int{1, 2, 3, 5, 8, 16, 64} {
				checkText(t, []byte(test.text), test.delim, test.columns, size)
			}
		})
	}
}

func TestTokenizerDoesNotAllocate(t *testing.T) {
	text := []byte(strings.Repeat("1,2.5,\"a \"\"b\"\"\",text\n", 100))
	tok := NewTokenizer(Dialect{Delimiter: ','}, 4)
	n := testing.AllocsPerRun(10, func() {
		for tok.Reset(text, 1); tok.Next(); {
			if tok.Bad() || len(tok.Field(2)) != 5 {
				t.Fatal("bad row")
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// comparable says whether encoding/csv means the same by text: it drops \r at
// line ends inside quotes, knows no lone \r, and refuses bare quotes.
func comparable(text []byte) bool {
	if bytes.IndexByte(text, '\r') >= 0 {
		return false
	}
	rows, _ := plainRows(text, ',', 0)
	for _, row := range rows {
		if row.fault != faultNone {
			return false
		}
	}
	return true
}

// checkStandard holds the Tokenizer to encoding/csv.
func checkStandard(t *testing.T, text []byte) {
	r := csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	tok := NewTokenizer(Dialect{Delimiter: ','}, 0)
	tok.Reset(text, 1)
	for {
		want, err := r.Read()
		if errors.Is(err, csv.ErrBareQuote) {
			return
		}
		if err != nil && err != io.EOF {
			t.Fatalf("encoding/csv: %v", err)
		}
		if tok.Next() != (err == nil) {
			t.Fatalf("rows end at line %d, not where encoding/csv says: %v", tok.Line(), err)
		}
		if err != nil {
			return
		}
		var got []string
		for i := range tok.Len() {
			got = append(got, string(tok.Field(i)))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("line %d: %q, encoding/csv says %q", tok.Line(), got, want)
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "\"a\n\"\"b\",c\r\nd,\r\re\"f,\"g\"h\n", "\n\n1\r\n,\n", "\"", "a,\"b\n1", ",\n\",\"", "aaaaaaaaaaaaaaaaaaaa,\tb\x0b\n",
	} {
		for _, columns := range []byte{0, 1, 2} {
			f.Add([]byte(text), byte(','), columns, byte(4))
			f.Add([]byte(strings.ReplaceAll(text, ",", "\t")), byte('\t'), columns, byte(1))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, delim, columns, size byte) {
		if !(Dialect{Delimiter: delim}).valid() {
			return
		}
		checkText(t, text, delim, int(columns%5), max(1, int(size)))
		if delim == ',' && comparable(text) {
			checkStandard(t, text)
		}
		sniff(text, size%2 == 0)
	})
}
