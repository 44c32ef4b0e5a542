package csvscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

const testdata = "../../../testdata/csv/"

// write puts text into a file and returns its path.
func write(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// open opens a table that must be fine.
func open(t testing.TB, path string, opts Options) *Source {
	t.Helper()
	s, err := Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// scan scans a table that must be fine.
func scan(t testing.TB, s *Source) *Table {
	t.Helper()
	table, err := s.Scan(t.Context(), ScanOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// rows reads a whole table back by its chunks: fields by column name, and the
// errors of bad rows.
func rows(t testing.TB, s *Source, table *Table) (good []map[string]string, bad []error) {
	t.Helper()
	tok := NewTokenizer(s.Dialect(), len(s.Header()))
	var buf []byte
	for _, c := range table.Chunks {
		data, err := s.ReadChunk(t.Context(), buf, c)
		if err != nil {
			t.Fatal(err)
		}
		buf = data
		n := int64(0)
		for tok.Reset(data, c.FirstLine); tok.Next(); n++ {
			if tok.Bad() {
				bad = append(bad, tok.Err())
				continue
			}
			row := map[string]string{}
			for i, name := range s.Header() {
				row[name] = string(tok.Field(i))
			}
			good = append(good, row)
		}
		if n != c.Rows {
			t.Fatalf("a chunk of %d rows, said to have %d", n, c.Rows)
		}
	}
	if int64(len(good)) != table.Rows-table.Bad || int64(len(bad)) != table.Bad {
		t.Fatalf("%d good and %d bad rows; the table says %d rows, %d bad", len(good), len(bad), table.Rows, table.Bad)
	}
	return good, bad
}

func TestSpectrum(t *testing.T) {
	paths, err := filepath.Glob(testdata + "spectrum/csvs/*.csv")
	if err != nil || len(paths) < 12 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		if name == "location_coordinates" {
			continue // its JSON has another telephone number
		}
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(testdata + "spectrum/json/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var want []map[string]string
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			s := open(t, path, Options{})
			got, bad := rows(t, s, scan(t, s))
			if bad != nil {
				t.Fatal(bad)
			}
			for _, rows := range [][]map[string]string{got, want} {
				for _, row := range rows {
					for k, v := range row {
						// The line ends of its JSON aren't those of its CSV.
						row[k] = strings.ReplaceAll(v, "\r\n", "\n")
					}
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// TestOdd says of each odd table what comes out: names, kinds, rows, or why not.
func TestOdd(t *testing.T) {
	for _, test := range []struct {
		file, want string
	}{
		{"bare-quote.csv", `, [id:int64 text:bytes] 3 rows, bad: line 3: text after a closing quote in field 2`},
		{"bom-crlf.csv", `, [id:int64 name:bytes] 2 rows`},
		{"booleans.csv", `, [id:int64 b:bytes] 8 rows`},
		{"comments.csv", `, [# made by a spectrometer:bytes] 5 rows, bad: line 3: wrong number of fields: 2, 1 too many; line 4: wrong number of fields: 2, 1 too many; line 6: wrong number of fields: 2, 1 too many`},
		{"cr-only.csv", `, [id:int64 name:bytes] 2 rows`},
		{"dates.csv", `, [id:int64 d:bytes] 7 rows`},
		{"duplicate-headers.csv", `bad header: columns 1, 4 all named "id"; columns 2, 3 all named "name"; name the 4 columns with CSVOptions.Columns`},
		{"emoji.csv", `, [id:int64 name:bytes] 3 rows`},
		{"empty-header.csv", `bad header: columns 1, 3 without a name; name the 4 columns with CSVOptions.Columns`},
		{"empty.csv", `the file is empty`},
		{"floats.csv", `, [id:int64 x:bytes] 16 rows`},
		{"formula.csv", `, [id:int64 v:bytes] 3 rows`},
		{"header-only.csv", `, [id:bytes name:bytes price:bytes] 0 rows`},
		{"header-only-no-newline.csv", `, [id:bytes name:bytes price:bytes] 0 rows`},
		{"huge-ints.csv", `, [id:int64 n:bytes] 12 rows`},
		{"invalid-utf8.csv", `, [id:int64 name:bytes] 3 rows`},
		{"latin1.csv", `, [id:int64 city:bytes price:bytes] 2 rows`},
		{"leading-space.csv", `, [id:int64 name:bytes x:float] 2 rows, bad: line 3: text after a closing quote in field 2`},
		{"missing-values.csv", `, [id:int64 a:float b:bytes c:bytes] 5 rows`},
		{"mixed-line-ends.csv", `, [id:int64 name:bytes] 3 rows`},
		{"mixed-type.csv", `, [id:int64 v:bytes] 1003 rows`},
		{"no-last-newline.csv", `, [id:int64 name:bytes] 2 rows`},
		{"nul-bytes.csv", `, [id:int64 name:bytes] 2 rows`},
		{"odd-headers.csv", ", [a b:int64 c,d:int64 e\nf:int64 café:int64 x/y:int64 1:int64 A B:int64] 1 rows"},
		{"one-column.csv", `, [text:bytes] 3 rows`},
		{"only-bom.csv", `the file is empty`},
		{"only-newlines.csv", `the file is empty`},
		{"pipe.csv", `| [id:int64 name:bytes] 2 rows`},
		{"quoted-newlines.csv", `, [id:int64 text:bytes] 4 rows`},
		{"ragged.csv", `, [a:int64 b:int64 c:int64] 4 rows, bad: line 3: wrong number of fields: 2, 1 too few; line 4: wrong number of fields: 4, 1 too many`},
		{"semicolon.csv", `; [id:int64 name:bytes price:bytes] 2 rows`},
		{"tab.tsv", "\t [id:int64 name:bytes note:bytes] 2 rows"},
		{"unterminated-quote.csv", `line 3: a quote opens here and is never closed`},
		{"utf16le-bom.csv", `not UTF-8 or another encoding that contains ASCII: it is UTF-16: convert it with: iconv -f UTF-16`},
		{"../strange.csv", `line 1: text after a closing quote in field 1`},
		{"../uspop-null.csv", `, [City:bytes State:bytes Population:int64 Latitude:float Longitude:float] 100 rows`},
		{"../uspop-latin1.csv", `, [City:bytes State:bytes Population:int64 Latitude:float Longitude:float] 100 rows`},
		{"../../demo/penguins.csv", `, [species:bytes island:bytes bill_length_mm:float bill_depth_mm:float flipper_length_mm:int64 body_mass_g:int64 sex:bytes year:int64] 344 rows`},
		{"../../demo/online-retail.csv", `, [InvoiceNo:bytes StockCode:bytes Description:bytes Quantity:int64 InvoiceDate:bytes UnitPrice:float CustomerID:int64 Country:bytes] 999 rows`},
	} {
		t.Run(test.file, func(t *testing.T) {
			if got := describe(t, testdata+"odd/"+test.file); !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func describe(t *testing.T, path string) string {
	message := func(err error) string {
		return strings.TrimPrefix(err.Error(), path+": ")
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		return message(err)
	}
	defer s.Close()
	table, err := s.Scan(t.Context(), ScanOptions{Workers: 1})
	if err != nil {
		return message(err)
	}
	_, bad := rows(t, s, table)
	var columns []string
	for i, name := range s.Header() {
		columns = append(columns, name+":"+table.Columns[i].Kind().String())
	}
	text := fmt.Sprintf("%c %v %d rows", s.Dialect().Delimiter, columns, table.Rows)
	for i, err := range bad {
		text += []string{"; ", ", bad: "}[min(1, max(0, 1-i))] + message(err)
	}
	return text
}

func TestChunksChangeOnlyWhereTheBytesDo(t *testing.T) {
	text := manyRows()
	table := func() *Table {
		s := open(t, write(t, "t.csv", text), Options{})
		return scan(t, s)
	}
	before := table()
	at := before.Chunks[1].Offset + 5000
	copy(text[at+int64(bytes.Index(text[at:], []byte("a note"))):], "B NOTE")
	after := table()
	var changed []int
	for i := range after.Chunks {
		if after.Chunks[i] != before.Chunks[i] {
			changed = append(changed, i)
		}
	}
	if !slices.Equal(changed, []int{1}) {
		t.Errorf("chunks %v changed, want 1", changed)
	}
}

func TestReadChunkNoticesChange(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		text := []byte("a,b\n1,2\n3,4\n")
		pack := func(text []byte) []byte {
			if !compressed {
				return text
			}
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write(text)
			w.Close()
			return b.Bytes()
		}
		path := write(t, "t.csv", pack(text))
		s := open(t, path, Options{})
		table := scan(t, s)
		if data, err := s.ReadChunk(t.Context(), nil, table.Chunks[0]); err != nil || string(data) != "1,2\n3,4\n" {
			t.Fatalf("%q, %v", data, err)
		}
		for _, change := range []string{"a,b\n1,2\n3,5\n", "a,b\n1,2\n"} {
			os.WriteFile(path, pack([]byte(change)), 0o666)
			s := open(t, path, Options{})
			if _, err := s.ReadChunk(t.Context(), nil, table.Chunks[0]); !errors.Is(err, ErrChanged) {
				t.Errorf("compressed %v, %q: %v", compressed, change, err)
			}
		}
		if _, err := s.ReadChunk(t.Context(), nil, Chunk{Len: math.MaxInt64}); !errors.Is(err, ErrChanged) {
			t.Errorf("a huge chunk: %v", err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(bytes.Repeat([]byte("a,b\n1,2\n"), 1000))
	w.Close()
	for _, test := range []struct {
		name, text string
		opts       Options
		want       error
		message    string
	}{
		{"zip", "PK\x03\x04 more", Options{}, ErrFormat, "a zip archive"},
		{"parquet", "PAR1 more", Options{}, ErrFormat, "Parquet"},
		{"utf16 without a mark", "a\x00,\x00b\x00", Options{}, ErrEncoding, "UTF-16LE -t UTF-8"},
		{"utf32", "\xff\xfe\x00\x00a\x00\x00\x00", Options{}, ErrEncoding, "UTF-32"},
		{"names", "a,b\n1,2\n", Options{Columns: []string{"a"}}, ErrHeader, "2 columns, but CSVOptions.Columns names 1"},
		{"same names", "1,2\n", Options{NoHeader: true, Columns: []string{"a", "a"}}, ErrHeader, `columns 1, 2 all named "a"`},
		{"latin1 name", "a,m\xfc\n1,2\n", Options{}, ErrHeader, "not UTF-8"},
		{"long name", "a," + strings.Repeat("b", maxName+1) + "\n", Options{}, ErrHeader, "column 2 with a name of 65537 bytes"},
		{"quote in header", "a,\"b\n1,2\n", Options{}, ErrOpenQuote, "line 1:"},
		{"blank before an open quote", "\n\r\na,\"b\n1,2\n", Options{}, ErrOpenQuote, "line 3:"},
		{"text after a quote in header", "a,\"b\"c\n1,2\n", Options{}, ErrAfterQuote, "line 1:"},
		{"delimiter", "a,b\n", Options{Delimiter: '"'}, nil, "can't be a delimiter"},
		{"row limit", "a,b\n", Options{MaxRow: 7}, nil, "longest row"},
		{"gzip header", "\x1f\x8b", Options{}, nil, "cut short"},
		{"gzip header", gz.String()[:30], Options{}, nil, "cut short"},
	} {
		path := write(t, "t.csv", []byte(test.text))
		_, err := Open(t.Context(), path, test.opts)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want %q", test.name, err, test.message)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func TestColumnsReplaceHeader(t *testing.T) {
	path := write(t, "t.csv", []byte("a,a\n1,2\n"))
	for _, test := range []struct {
		noHeader bool
		rows     int
	}{{false, 1}, {true, 2}} {
		s := open(t, path, Options{NoHeader: test.noHeader, Columns: []string{"x", "y"}})
		got, _ := rows(t, s, scan(t, s))
		if len(got) != test.rows || got[len(got)-1]["y"] != "2" {
			t.Errorf("no header %v: %v", test.noHeader, got)
		}
	}
}

// TestSharedTables reads the larger collection next to the checkout, if it exists.
func TestSharedTables(t *testing.T) {
	root := "../../../../shared/data/csv"
	if _, err := os.Stat(root); err != nil {
		t.Skip("the shared tables are not beside the checkout")
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".json" {
			return err
		}
		n++
		describe(t, path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text = text[:min(len(text), 100_000)]
		for _, size := range []int{7, 100, 4096} {
			checkText(t, text, ',', 0, size)
		}
		return nil
	})
	if err != nil || n < 50 {
		t.Errorf("%d tables, %v", n, err)
	}
}
