package csvscan

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/klauspost/compress/gzip"

	"github.com/tfrec/tfrec/internal/dev/torture"
)

func TestOpenNamesWhatIsNoTable(t *testing.T) {
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	lines := strings.Repeat("{\"a\": 1, \"b\": \"x\"}\n", 20_000)
	for text, want := range map[string]string{
		lines:                        "JSON lines",
		"\ufeff\n" + lines[:60]:      "JSON lines",
		zipped(lines):                "JSON lines",
		"[{\"a\": 1}]\n":             "JSON",
		"\xff\xd8\xff\xe0 and more":  "a JPEG image",
		"\x89PNG\r\n\x1a\n":          "a PNG image",
		"\x89HDF\r\n\x1a\n123456":    "HDF5",
		"Obj\x01\x02\x16avro.schema": "Avro",
		"ORC\x08\x03\x10\x03":        "ORC",
		"\x80\x04\x95\x00\x00\x00":   "a pickle of Python",
		"\x7fELF\x02\x01\x01\x00":    "a program, which has no table: check the path",
		"MZ\x90\x00\x03\x00":         "a program, which",
		"%PDF-1.7\n":                 "a PDF: save its tables as CSV",
		zipOf(t, "[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"): "a spreadsheet of Excel: save it as CSV",
		zipOf(t, "docProps/app.xml", "xl/worksheets/sheet1.xml"):          "a spreadsheet of Excel: save it as CSV",
		zipOf(t, "mimetype", "content.xml"):                               "an OpenDocument spreadsheet: save it as CSV",
		zipOf(t, "a.npy", "b.npy"):                                        "NumPy arrays: ",
		zipOf(t, "excel/xl/a.csv", "b.csv"):                               "a zip archive: unpack it",
		"PK\x03\x04":                                                      "a zip archive: unpack it",
	} {
		_, err := Open(t.Context(), write(t, "x", []byte(text)), Options{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "x: not a CSV file but "+want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"a\x00b,c\n1,2\n", "\x01\n", "a,\x1c\n", "a\x7f,b\n", "\u0080a\n", "a,b\u009f\n1,2\n"} {
		if _, err := Open(t.Context(), write(t, "x", []byte(text)), Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "binary") {
			t.Errorf("%q: %v", text, err)
		}
	}
	open(t, write(t, "x.csv", []byte("a\x01b\n1\x012\n")), Options{Delimiter: 1})
	open(t, write(t, "x.csv", []byte("a,b\n1,\x01\n")), Options{})
	for _, text := range []string{"\x1b[1ma\x07,b\n1,2\n", "a\u200f,\u202bb\n1,2\n", "a\u00a0,\u00ad\n1,2\n", "a,b\n\x7f,\u0085\n"} {
		open(t, write(t, "x.csv", []byte(text)), Options{})
	}
	for _, text := range []string{"[a],[b]\n1,2\n", "{a}\n1\n", "[1],[2]\n[3],[4]\n"} {
		open(t, write(t, "x.csv", []byte(text)), Options{})
	}
	// Naming the columns says that it is a table.
	open(t, write(t, "x.csv", []byte("[1]\n[2]\n")), Options{NoHeader: true, Columns: []string{"list"}})
	// A name is not printed whole, however long it is.
	_, err := Open(t.Context(), write(t, "x", []byte("\xff"+strings.Repeat("a", 5000)+"\n")), Options{})
	if !errors.Is(err, ErrHeader) || len(err.Error()) > 300 {
		t.Errorf("%v", err)
	}
}

// zipOf returns a zip file with members of these names.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		m, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = m.Write([]byte("application/vnd.oasis.opendocument.spreadsheet"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestControlCharactersInHeaders puts characters of all kinds into headers: control characters but
// those from bell to carriage return and escape are refused, wherever they are.
func TestControlCharactersInHeaders(t *testing.T) {
	rng := torture.Rand(t)
	for range 300 {
		r := []rune{rune(rng.IntN(0x20)), 0x7f, rune(0x80 + rng.IntN(0x20)), rune(0x20 + rng.IntN(0x5f)), rune(0xa0 + rng.IntN(0x2000))}[rng.IntN(5)]
		name := strings.Repeat("n", rng.IntN(3)) + string(r) + strings.Repeat("m", rng.IntN(3))
		text := "first," + name + ",last\n1,2,3\n"
		accepted := !unicode.IsControl(r) || r >= 7 && r <= 13 || r == 0x1b
		_, err := Open(t.Context(), write(t, "x.csv", []byte(text)), Options{Delimiter: ','})
		if refused := err != nil && strings.Contains(err.Error(), "binary"); refused == accepted {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// appendPickle appends a random object as Python's pickle does with protocol 0, and returns the number
// of objects kept so far.
func appendPickle(b []byte, rng *rand.Rand, kept, depth int) ([]byte, int) {
	keep := func(text string) {
		b = fmt.Appendf(b, "%sp%d\n", text, kept)
		kept++
	}
	n := rng.IntN(4)
	kind := rng.IntN(11)
	if depth == 0 {
		kind %= 7
	}
	switch kind {
	case 0:
		b = fmt.Appendf(b, "I%d\n", rng.IntN(2000)-1000)
	case 1:
		b = fmt.Appendf(b, "F%v\n", rng.NormFloat64())
	case 2:
		b = append(b, []string{"I00\n", "I01\n", "N"}[rng.IntN(3)]...)
	case 3:
		b = fmt.Appendf(b, "L%d000000000000000000L\n", rng.Uint64())
	case 4:
		keep([]string{"Vtext, more\n", "V\\u000a\"x\n", "V\n", "Va.\n"}[rng.IntN(4)])
	case 5:
		keep([]string{"S'abc'\n", "S\"it's\"\n"}[rng.IntN(2)])
	case 6:
		if kept == 0 {
			return append(b, 'N'), kept
		}
		b = fmt.Appendf(b, "g%d\n", rng.IntN(kept))
	case 7:
		keep("(l")
		for range n {
			b, kept = appendPickle(b, rng, kept, depth-1)
			b = append(b, 'a')
		}
	case 8:
		keep("(d")
		for range n {
			b, kept = appendPickle(b, rng, kept, 0)
			b, kept = appendPickle(b, rng, kept, depth-1)
			b = append(b, 's')
		}
	case 9:
		b = append(b, '(')
		for range n {
			b, kept = appendPickle(b, rng, kept, depth-1)
		}
		keep("t")
	case 10:
		keep("cmy.module\nSome_class\n")
		b = append(b, '(')
		for range n {
			b, kept = appendPickle(b, rng, kept, depth-1)
		}
		keep("t")
		keep("R")
	}
	return b, kept
}

// TestPickles writes random objects as pickles of protocol 0, one or several, with line ends of
// Windows, and of more than a sample: all are named. Tables with rows that look like their lines are
// tables.
func TestPickles(t *testing.T) {
	for _, seed := range torture.Sample(t, 300, torture.Seeds(1000, 20_000)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		var text []byte
		for range 1 + rng.IntN(2) {
			text, _ = appendPickle(text, rng, 0, 3)
			text = append(text, '.')
		}
		if rng.IntN(4) == 0 {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		if seed%50 == 0 {
			list, kept := []byte("(lp0\n"), 1
			for len(list) < 2*sampleSize {
				list, kept = appendPickle(list, rng, kept, 3)
				list = append(list, 'a')
			}
			text = append(list, '.')
		}
		_, err := Open(t.Context(), write(t, "x", text), Options{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "a pickle of Python: write it as") {
			t.Errorf("%.200q: %v", text, err)
		}
		table := "N,V\n"
		for range 1 + rng.IntN(5) {
			cells := []string{"N", "(lp0", "I1", "a.", ".", "Vx", "cx", "F1.0", "S'x'", "p0", "(dp0", "1"}
			table += cells[rng.IntN(len(cells))] + "," + cells[rng.IntN(len(cells))] + "\n"
		}
		open(t, write(t, "x.csv", []byte(table)), Options{})
	}
	for _, text := range []string{"(lp0\n1\n", "I1\nI2\nI3\n", "Vienna\nVilnius\n", "city\nname\nParis\n", "a.\nb.\n", "Name.\nx.\n", "F1.0\nF2.0\n", "t\n1\n"} {
		open(t, write(t, "x.csv", []byte(text)), Options{})
	}
	open(t, write(t, "x.csv", []byte("I1\n.")), Options{NoHeader: true, Columns: []string{"x"}})
}

// Comments in front of a table change nothing but the numbers of its lines.
func TestComments(t *testing.T) {
	isComment := func(line []byte) bool { return bytes.HasPrefix(line, []byte("#")) }
	for _, seed := range torture.Sample(t, 60, torture.Seeds(200, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		end := []string{"\n", "\r\n"}[rng.IntN(2)]
		comments, lines, skipped := "", int64(0), int64(0)
		for range rng.IntN(4) {
			comments += []string{"# some words, and; more | of \"them", "#", ""}[rng.IntN(3)] + end
			lines++
		}
		for line := range strings.SplitSeq(comments, end) {
			if line != "" {
				skipped++
			}
		}
		table := "a,b" + end
		for i := range rng.IntN(3) {
			table += fmt.Sprintf("%d,#%d", i, i) + end
		}
		for _, o := range []Options{{Comment: isComment}, {Comment: isComment, NoHeader: true}} {
			s := open(t, write(t, "x.csv", []byte(comments+table)), o)
			plain := open(t, write(t, "x.csv", []byte(table)), o)
			got, want := listed(t, s), listed(t, plain)
			for i := range want {
				want[i].line += lines
			}
			if fmt.Sprint(got, s.Header(), s.Comments()) != fmt.Sprint(want, plain.Header(), skipped) {
				t.Errorf("%q: %v %v, %d comments; want %v %v, %d", comments+table, got, s.Header(), s.Comments(), want, plain.Header(), skipped)
			}
		}
	}
}

type listedRow struct {
	line   int64
	fields string
}

// listed reads the rows of a table.
func listed(t *testing.T, s *Source) (list []listedRow) {
	t.Helper()
	for tok, err := range s.Rows(t.Context()) {
		if err != nil || tok.Bad() {
			t.Fatal(err, tok.Err())
		}
		row := listedRow{line: tok.Line()}
		for i := range tok.Len() {
			row.fields += string(tok.Field(i)) + " "
		}
		list = append(list, row)
	}
	return list
}
