package csvscan

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

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
		"\x7fELF\x02\x01\x01\x00":    "a program",
	} {
		_, err := Open(t.Context(), write(t, "x", []byte(text)), Options{})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "x: not a CSV file but "+want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"a\x00b,c\n1,2\n", "\x01\n", "a,\x1c\n"} {
		if _, err := Open(t.Context(), write(t, "x", []byte(text)), Options{}); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "binary") {
			t.Errorf("%q: %v", text, err)
		}
	}
	open(t, write(t, "x.csv", []byte("a\x01b\n1\x012\n")), Options{Delimiter: 1})
	open(t, write(t, "x.csv", []byte("a,b\n1,\x01\n")), Options{})
	open(t, write(t, "x.csv", []byte("\x1b[1ma\x07,b\n1,2\n")), Options{})
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
