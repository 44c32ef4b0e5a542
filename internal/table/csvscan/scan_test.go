package csvscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/textfile"
)

// manyRows is a table of several chunks with every kind of oddity.
func manyRows() []byte {
	var b bytes.Buffer
	b.WriteString("id,x,note,code\n")
	for i := range 80000 {
		fmt.Fprintf(&b, "%d,%d.5,", i, i%7)
		switch i % 10 {
		case 0:
			fmt.Fprintf(&b, "\"a \"\"quoted\"\" note,\n%d\",%d\n", i, i)
		case 1:
			b.WriteString("NA,1\r\n")
		case 2:
			b.WriteString("x\n\n")
		default:
			fmt.Fprintf(&b, "a note,%d\n", i)
		}
		if i == 70003 {
			b.WriteString("7,1e60,last,007\n7, 40.7505681,true, NA\n")
		}
	}
	return b.Bytes()
}

func TestScanIsTheSameForAnyWorkersAndCompression(t *testing.T) {
	text := manyRows()
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(text[:1000])
	w.Close()
	w.Reset(&gz) // a file of two members
	w.Write(text[1000:])
	w.Close()
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(text)
	z.Close()

	dir := t.TempDir()
	path := filepath.Join(dir, "t") // one name, so that all results are equal
	var want *Table
	for _, file := range []struct {
		content     []byte
		compression textfile.Compression
	}{{text, textfile.None}, {gz.Bytes(), textfile.Gzip}, {zst.Bytes(), textfile.Zstd}} {
		if err := os.WriteFile(path, file.content, 0o666); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, Options{})
		if s.Compression() != file.compression || s.Size() != int64(len(file.content)) {
			t.Errorf("compression %s and size %d, want %s and %d", s.Compression(), s.Size(), file.compression, len(file.content))
		}
		for _, workers := range []int{1, 2, 7} {
			last := int64(0)
			got, err := s.Scan(t.Context(), ScanOptions{Workers: workers, Progress: func(n int64) { last = n }})
			if err != nil {
				t.Fatal(err)
			}
			if last != int64(len(text)) || got.Bytes != last {
				t.Errorf("progress ended at %d and the table at %d, want %d", last, got.Bytes, len(text))
			}
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s with %d workers differs:\n%+v\n%+v", file.compression, workers, got, want)
			}
		}
		good, bad := rows(t, s, want)
		if len(good) != 72002 || len(bad) != 8000 {
			t.Fatalf("%d good and %d bad rows", len(good), len(bad))
		}
	}
	if want.Rows != 80002 || want.Bad != 8000 || want.Blank != 8000 || len(want.Chunks) < 2 {
		t.Errorf("table: %d rows, %d bad, %d blank, %d chunks", want.Rows, want.Bad, want.Blank, len(want.Chunks))
	}
	x, code := want.Columns[1], want.Columns[3]
	line := 1 + int64(bytes.Count(text[:bytes.Index(text, []byte("1e60"))], []byte("\n")))
	if x.Kind() != KindFloat || x.Lossy != 1 || x.FirstLossy.Text != "1e60" || x.FirstRounded != (Value{path, line + 1, " 40.7505681"}) {
		t.Errorf("x: %+v", x)
	}
	if code.FirstText != (Value{path, line, "007"}) || code.Reason != "leading zeros" || x.FirstLossy.Line != line || code.Padded != 1 {
		t.Errorf("code: %+v, want line %d", code, line)
	}
}

func TestDistinct(t *testing.T) {
	s := open(t, write(t, "t.csv", []byte("a,b\nx,1\ny,2\nbad\nx,NA\n,1\n")), Options{})
	table, err := s.Scan(t.Context(), ScanOptions{Workers: 2, Distinct: []int{0, 1}})
	if want := [][]string{{"x", "y"}, {"1", "2", "NA"}}; err != nil || !reflect.DeepEqual(table.Distinct, want) {
		t.Errorf("%v, %v", table, err)
	}
	text := []byte("a,b\n")
	for i := range MaxDistinct + 1 {
		text = fmt.Appendf(text, "1,%d\n", i)
	}
	s = open(t, write(t, "t.csv", text), Options{})
	for _, workers := range []int{1, 3} {
		_, err = s.Scan(t.Context(), ScanOptions{Workers: workers, Distinct: []int{1}})
		if !errors.Is(err, ErrDistinct) || !strings.Contains(err.Error(), `column "b"`) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

func TestScanErrors(t *testing.T) {
	good := bytes.Repeat([]byte("1,\"2\n\"\n"), 400_000) // more than two chunks
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(append([]byte("a,b\n"), good...))
	w.Close()
	long := "3,\"" + strings.Repeat("x", 1<<20) + "\"\n"
	for _, test := range []struct {
		name, text string
		want       error
		message    string
	}{
		{"open quote", "a,b\n" + string(good) + "1,2\n3,\"4\n5,6\n", ErrOpenQuote, "line 800003:"},
		{"long row", "a,b\n" + string(good) + long, ErrRowTooLong, "line 800002:"},
		{"long row that goes on", "a,b\n" + string(good) + long[:len(long)-2] + string(good), ErrRowTooLong, "line 800002:"},
		{"cut gzip", gz.String()[:gz.Len()-5], nil, "cut short"},
	} {
		s := open(t, write(t, "t.csv", []byte(test.text)), Options{MaxRow: ChunkSize})
		_, err := s.Scan(t.Context(), ScanOptions{Workers: 2})
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.message) || !strings.HasPrefix(err.Error(), s.Name()+": ") {
			t.Errorf("%s: %v, want %q", test.name, err, test.message)
		}
	}
	s := open(t, write(t, "t.csv", append([]byte("a,b\n"), good...)), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Scan(ctx, ScanOptions{Workers: 2, Progress: func(int64) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestLongestRow(t *testing.T) {
	head := "a,b\n" + strings.Repeat("1,2\n", 100)
	for _, over := range []int{0, 1} {
		row := "1," + strings.Repeat("x", ChunkSize-3+over) + "\n"
		s := open(t, write(t, "t.csv", []byte(head+row+"3,4\n")), Options{MaxRow: ChunkSize})
		table, err := s.Scan(t.Context(), ScanOptions{})
		if over == 0 && (err != nil || table.Rows != 102) || over == 1 && !errors.Is(err, ErrRowTooLong) {
			t.Errorf("%d bytes over: %+v, %v", over, table, err)
		}
	}
}

func TestNotes(t *testing.T) {
	text := "mixed,zeros,all,big,plain,flag,far\n1,007,NA,1e300,x,True,Köln\n2.5,08,,1,y,False,K\xf6ln\nabc,9,NA,2,z, NA,K\xf6ln\n4,10,NA,3,w,true,x\n"
	s := open(t, write(t, "t.csv", []byte(text)), Options{})
	table := scan(t, s)
	for i, want := range []string{
		`column "mixed": not all of one kind (2 int64, 1 float, 1 text), so stored as bytes; the first that is not a plain number is at NAME line 4: "abc"; CSVOptions.Types mixed=float makes rows whose values are not numbers errors`,
		`column "zeros": not all of one kind (2 int64, 2 text), so stored as bytes; the first that is not a plain number is at NAME line 2: "007", a number with leading zeros; CSVOptions.Types zeros=float reads it as a number`,
		`column "all": no value in 4 rows: stored as bytes; CSVOptions.Types all=float gives another type`,
		`beyond_float: big (1 value, the first at NAME line 2: "1e300"; CSVOptions.Types big=bytes keeps them)`,
		``,
		`column "flag": true and false are stored as they are written, as bytes; CSVOptions.Types flag=int64 stores 1 and 0`,
		`not_utf8: far (2 values, the first at NAME line 3: "K\xf6ln")`,
	} {
		var a account.Account
		table.Columns[i].AccountForFloats(&a, s.Header()[i], optname.CSVOptionsTypes, "=bytes")
		table.Columns[i].AccountForText(&a, s.Header()[i])
		got := table.Columns[i].KindNote(s.Header()[i])
		for _, e := range a.Entries() {
			got += fmt.Sprintf("%s: %s", e.Reason, strings.Join(e.Names, " "))
		}
		if got = strings.ReplaceAll(got, s.Name(), "NAME"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMergeColumns(t *testing.T) {
	a := Column{Ints: 3}
	b := Column{Ints: 1, Texts: 2, FirstText: Value{"b", 7, "x"}, Lossy: 1, FirstLossy: Value{"b", 8, "1e99"}}
	c := Column{Texts: 1, FirstText: Value{"c", 1, "+1"}, Reason: "a plus sign", Missing: 5}
	a.Merge(&b)
	a.Merge(&c)
	want := Column{Ints: 4, Texts: 3, Missing: 5, FirstText: b.FirstText, Lossy: 1, FirstLossy: b.FirstLossy}
	if a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
}
