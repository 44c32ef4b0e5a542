package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/pierrec/lz4/v4"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/tabletest"
)

var open = tabletest.As(Open)

// sample is a row with a column of each shape.
type sample struct {
	ID    int64    `parquet:"id"`
	Flag  bool     `parquet:"flag"`
	Small int32    `parquet:"small,delta"`
	X     float64  `parquet:"x,split"`
	Word  string   `parquet:"word,dict"`
	Name  string   `parquet:"name,delta"`
	Note  *string  `parquet:"note,optional"`
	Raw   []byte   `parquet:"raw"`
	Many  []int32  `parquet:"many"` // repeated, without a LIST
	Texts []string `parquet:"texts,list"`
	Place *place   `parquet:"place,optional"`
	Boxes []box    `parquet:"boxes,list"`
	Key   [16]byte `parquet:"key,uuid"`
}

type place struct {
	City string   `parquet:"city"`
	Lat  *float32 `parquet:"lat,optional"`
}

type box struct {
	X int32 `parquet:"x"`
	Y int64 `parquet:"y"`
}

func samples(n int) ([]sample, []string) {
	rows, texts := make([]sample, n), make([]string, n)
	for i := range rows {
		s := &rows[i]
		s.ID, s.Flag, s.Small, s.X = int64(i)-3, i%2 == 0, int32(-i*i), float64(i)/2
		s.Word, s.Name, s.Raw = []string{"red", "", "blau"}[i%3], fmt.Sprintf("row %03d", i), []byte{0xff, byte(i)}
		flag := i&1 ^ 1
		b := fmt.Sprintf("id=%d flag=%d small=%d x=%v word=%q name=%q", s.ID, flag, s.Small, s.X, s.Word, s.Name)
		if i%4 > 0 {
			note := fmt.Sprint(i)
			s.Note = &note
			b += fmt.Sprintf(" note=%q", note)
		}
		b += fmt.Sprintf(" raw=%q", s.Raw)
		for k := range i % 4 {
			s.Many, s.Texts, s.Boxes = append(s.Many, int32(k)), append(s.Texts, strings.Repeat("t", k)), append(s.Boxes, box{int32(i), int64(k)})
		}
		b += " many=" + fmt.Sprint(s.Many) + " texts=" + fmt.Sprintf("%q", s.Texts)
		if i%5 > 0 {
			s.Place = &place{City: "ż"}
			b += ` place/city="ż"`
			if lat := float32(i); i%5 > 1 {
				s.Place.Lat = &lat
				b += fmt.Sprintf(" place/lat=%v", lat)
			}
		}
		xs, ys := []int32{}, []int64{}
		for _, x := range s.Boxes {
			xs, ys = append(xs, x.X), append(ys, x.Y)
		}
		s.Key[3] = byte(i)
		texts[i] = b + fmt.Sprintf(" boxes/x=%v boxes/y=%v key=%q", xs, ys, s.Key[:])
	}
	return rows, texts
}

func write[T any](t testing.TB, rows []T, o ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, o...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestShapesAndCodecs(t *testing.T) {
	rows, want := samples(500)
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprint(codec, version), func(t *testing.T) {
				data := write(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(300), parquet.MaxRowsPerRowGroup(130))
				_, got := tabletest.Rows(t, open, tabletest.Write(t, "t.parquet", data), table.ScanOptions{})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestColumns(t *testing.T) {
	rows, _ := samples(5)
	tab, _ := tabletest.Rows(t, open, tabletest.Write(t, "t.parquet", write(t, rows)), table.ScanOptions{Distinct: "word"})
	want := map[string]table.Column{
		"id":        {Kind: table.Int64, Length: 1, Wide: true},
		"note":      {Kind: table.Bytes, Length: 1, Text: true, Missing: 2},
		"raw":       {Kind: table.Bytes, Length: 1},
		"texts":     {Kind: table.Bytes, List: true, Text: true},
		"place/lat": {Kind: table.Float, Length: 1, Missing: 2},
		"boxes/x":   {Kind: table.Int64, List: true, Wide: true},
	}
	for _, c := range tab.Columns {
		if w, ok := want[c.Name]; ok {
			if w.Name = c.Name; !cmp.Equal(c, w) {
				t.Errorf("%+v, want %+v", c, w)
			}
		}
	}
	if diff := cmp.Diff([]string{"", "blau", "red"}, tab.Distinct); diff != "" {
		t.Error(diff)
	}
}

func TestDecimals(t *testing.T) {
	type money struct {
		A int32   `parquet:"a,decimal(2:9)"`
		B int64   `parquet:"b,decimal(0:18)"`
		C [9]byte `parquet:"c,decimal(3:20)"`
	}
	rows := []money{{A: -1275, B: 7}, {A: 5, B: -1}}
	copy(rows[0].C[:], bytes.Repeat([]byte{0xff}, 9))
	rows[1].C[8] = 1
	at := tabletest.Write(t, "t.parquet", write(t, rows))
	if _, got := tabletest.Rows(t, open, at, table.ScanOptions{}); !cmp.Equal(got, []string{"a=-12.75 b=7 c=-0.001", "a=0.05 b=-1 c=0.001"}) {
		t.Error(got)
	}
	kinds := map[string]table.Kind{"a": table.Bytes, "b": table.Bytes, "c": table.Bytes}
	if _, got := tabletest.Rows(t, open, at, table.ScanOptions{Kinds: kinds}); !cmp.Equal(got, []string{`a="-12.75" b="7" c="-0.001"`, `a="0.05" b="-1" c="0.001"`}) {
		t.Error(got)
	}
}

func TestRefused(t *testing.T) {
	type unsigned struct {
		Huge uint64 `parquet:"huge"`
	}
	type nested struct {
		Lists []struct {
			Inner []int64 `parquet:"inner,list"`
		} `parquet:"lists,list"`
	}
	type mapped struct {
		Map map[string]int64 `parquet:"map"`
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"unsigned", `column "huge": row 2: 9223372036854775813 is above`, write(t, []unsigned{{1}, {2}, {1<<63 + 5}})},
		{"unsigned in a dictionary", `column "huge": row 1: 9223372036854775809 is above`, write(t, []struct {
			Huge uint64 `parquet:"huge,dict"`
		}{{1}, {1<<63 + 1}})},
		{"map", "a map does not fit", write(t, []mapped{{map[string]int64{"a": 1}}})},
		{"list of lists", "a list of lists", write(t, []nested{{}})},
		{"empty", "too few", nil},
		{"text", "does not end as Parquet does", []byte("a,b,c\n1,2,3\n4,5,6\n")},
		{"a footer of 4 GiB", "a footer of 4294967295 bytes", []byte("PAR1....\xff\xff\xff\xffPAR1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := tabletest.ReadAll(t.Context(), open, tabletest.Write(t, "t.parquet", c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// Numbers beyond the range of a float make their rows bad, and no others, in every encoding.
func TestLostFloats(t *testing.T) {
	type row struct {
		Plain float64   `parquet:"plain"`
		Dict  float64   `parquet:"dict,dict"`
		Split float64   `parquet:"split,split"`
		Null  *float64  `parquet:"null,optional"`
		List  []float64 `parquet:"list,list"`
	}
	rows := make([]row, 50)
	set := []func(r *row, x float64){
		func(r *row, x float64) { r.Plain = x }, func(r *row, x float64) { r.Dict = x }, func(r *row, x float64) { r.Split = x },
		func(r *row, x float64) { r.Null = &x }, func(r *row, x float64) { r.List = []float64{1, x, 2} },
	}
	names, want := []string{"plain", "dict", "split", "null", "list"}, map[int]string{}
	for i, lose := range set {
		rows[7*i].List = []float64{1, 2, 3}
		lose(&rows[9*i+3], -1e39)
		want[9*i+3] = fmt.Sprintf("bad: column %q: -1e+39 is outside of the range of a 32-bit float", names[i])
		lose(&rows[9*i+4], math.Inf(1))
	}
	_, got := tabletest.Rows(t, open, tabletest.Write(t, "t.parquet", write(t, rows, parquet.PageBufferSize(100), parquet.MaxRowsPerRowGroup(20))), table.ScanOptions{})
	for i := range rows {
		if strings.Contains(got[i], "bad: ") != (want[i] != "") || !strings.Contains(got[i], want[i]) {
			t.Errorf("row %d: %s, want %q", i, got[i], want[i])
		}
	}
}

// Columns that are not wanted may be anything, and are not read.
func TestUnwantedColumns(t *testing.T) {
	type row struct {
		A    int64            `parquet:"a"`
		Map  map[string]int64 `parquet:"m"`
		Last []struct {
			Inner []int64 `parquet:"inner,list"`
		} `parquet:"last,list"`
		Huge uint64 `parquet:"huge,dict"`
	}
	src, err := Open(t.Context(), tabletest.Write(t, "t.parquet", write(t, []row{{A: 5, Map: map[string]int64{"k": 1}, Huge: 1 << 63}})))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := src.Scan(t.Context(), table.ScanOptions{Wanted: func(name string) bool { return name == "a" }})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range tab.Columns {
		names = append(names, c.Name+" "+c.Unfit)
	}
	if got, want := fmt.Sprintf("%q", names), `["a " "m a map does not fit a feature" "last/inner a list of lists does not fit a feature" "huge "]`; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	var b table.Batch
	if err := src.Read(t.Context(), tab.Chunks[0], tab.Columns[:1], &b); err != nil || b.Columns[0].Ints[0] != 5 {
		t.Errorf("%v, %v", b.Columns, err)
	}
	if err := src.Read(t.Context(), tab.Chunks[0], tab.Columns[1:2], &b); err == nil || !strings.Contains(err.Error(), `column "m": a map`) {
		t.Error(err)
	}
}

// A null in a list makes its row bad, and no other.
func TestNullInList(t *testing.T) {
	one, two := int64(1), int64(2)
	type row struct {
		A []*int64 `parquet:"a,list" parquet-element:",optional"`
		B int64    `parquet:"b"`
	}
	schema := parquet.NewSchema("t", parquet.Group{"a": parquet.List(parquet.Optional(parquet.Leaf(parquet.Int64Type))), "b": parquet.Leaf(parquet.Int64Type)})
	data := write(t, []row{{[]*int64{&one}, 1}, {[]*int64{&one, nil, &two}, 2}, {nil, 3}, {[]*int64{&two, &one}, 4}}, schema)
	_, got := tabletest.Rows(t, open, tabletest.Write(t, "t.parquet", data), table.ScanOptions{})
	want := []string{"a=[1] b=1", `b=2 bad: column "a": a null inside a list, which a feature cannot hold`, "a=[] b=3", "a=[2 1] b=4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestKindsAndOtherColumns(t *testing.T) {
	type row struct {
		A int64   `parquet:"a"`
		B float64 `parquet:"b"`
		C uint64  `parquet:"c,dict"`
		D bool    `parquet:"d"`
	}
	at := tabletest.Write(t, "t.parquet", write(t, []row{{1, 0.5, math.MaxUint64, true}, {-2, 1, 7, false}}))
	src, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Scan(t.Context(), table.ScanOptions{Kinds: map[string]table.Kind{"b": table.Int64}}); err == nil || !strings.Contains(err.Error(), "float values cannot be read as int64") {
		t.Error(err)
	}
	_, got := tabletest.Rows(t, open, at, table.ScanOptions{Kinds: map[string]table.Kind{"a": table.Bytes, "c": table.Bytes, "d": table.Bytes}})
	if diff := cmp.Diff([]string{`a="1" b=0.5 c="18446744073709551615" d="1"`, `a="-2" b=1 c="7" d="0"`}, got); diff != "" {
		t.Error(diff)
	}
	// Of several tables merged: the column may be a list there, and there may be others.
	columns := []table.Column{{Name: "a", Kind: table.Float, List: true}, {Name: "of others", Kind: table.Bytes}}
	var b table.Batch
	if err := src.Read(t.Context(), table.Chunk{Rows: 2}, columns, &b); err != nil {
		t.Fatal(err)
	}
	if got := tabletest.Text(&b, columns); !cmp.Equal(got, []string{"a=[1]", "a=[-2]"}) || len(b.Columns[0].Splits) != 3 {
		t.Error(got, b.Columns[0].Splits)
	}
}

// Row groups of large values are cut into chunks of bounded size, and one of 5 MB is its own.
func TestChunksAreBounded(t *testing.T) {
	race.Skip(t)
	type row struct {
		Image []byte `parquet:"image"`
	}
	rows := make([]row, 40)
	for i := range rows {
		rows[i].Image = bytes.Repeat([]byte{byte(i)}, []int{0, 1 << 20, 5 << 20}[i/20+i%20/19])
	}
	at := tabletest.Write(t, "t.parquet", write(t, rows))
	tab, got := tabletest.Rows(t, open, at, table.ScanOptions{})
	if len(tab.Chunks) < 3 || len(got) != len(rows) {
		t.Errorf("%d chunks of %d rows", len(tab.Chunks), len(got))
	}
}

// Rows of very different sizes make chunks of bounded size, too, in pages and in a dictionary, and a
// scan does not expand the dictionary: it would have 60 GB.
func TestUnevenRows(t *testing.T) {
	race.Skip(t)
	type plain struct {
		Text string `parquet:"v"`
	}
	type dict struct {
		Text string `parquet:"v,dict"`
	}
	long := strings.Repeat("ä", 1<<19)
	for name, data := range map[string][]byte{
		"pages": func() []byte {
			rows := make([]plain, 30_000)
			for i := range 40 {
				rows[len(rows)-1-i].Text = long
			}
			return write(t, rows)
		}(),
		"dictionary": func() []byte {
			rows := make([]dict, 60_000)
			for i := range rows {
				rows[i].Text = []string{"", long}[i*2/len(rows)*(i%2)]
			}
			rows[7].Text = "\xff"
			return write(t, rows)
		}(),
	} {
		src, err := Open(t.Context(), tabletest.Write(t, "t.parquet", data))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tab, err := src.Scan(t.Context(), table.ScanOptions{Workers: 1})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 400<<20 {
			t.Errorf("%s: the scan took %d MiB", name, took>>20)
		}
		if tab.Columns[0].Text != (name == "pages") {
			t.Errorf("%s: %+v", name, tab.Columns[0])
		}
		var b table.Batch
		for i, c := range tab.Chunks {
			if name == "dictionary" && i%200 != 0 {
				continue
			}
			if err := src.Read(t.Context(), c, tab.Columns, &b); err != nil {
				t.Fatal(err)
			}
			if n := len(b.Columns[0].Data); n > 5*table.ChunkBytes {
				t.Errorf("%s: chunk %d of %d rows has %d bytes", name, i, c.Rows, n)
			}
		}
	}
}

// Timestamps of 96 bits that do not fit 64 make their rows bad, and no others.
func TestLostTimestamps(t *testing.T) {
	type row struct {
		Plain deprecated.Int96   `parquet:"plain"`
		Dict  deprecated.Int96   `parquet:"dict,dict"`
		List  []deprecated.Int96 `parquet:"list,list"`
	}
	good, far := deprecated.Int96{5, 0, 2440589}, deprecated.Int96{0, 0, 1 << 31}
	var rows []row
	var want []string
	for i := range 40 {
		r, lost := row{good, good, []deprecated.Int96{good, good}}, ""
		switch i % 7 {
		case 2:
			r.Plain, lost = far, "plain"
		case 4:
			r.Dict, lost = far, "dict"
		case 5:
			r.List, lost = []deprecated.Int96{good, far, good}, "list"
		}
		if rows = append(rows, r); lost != "" {
			want = append(want, fmt.Sprintf("bad: column %q: an INT96 timestamp 2145043060 days and 0 ns after 1970 does not fit 64 bits", lost))
		} else {
			want = append(want, "")
		}
	}
	_, got := tabletest.Rows(t, open, tabletest.Write(t, "t.parquet", write(t, rows, parquet.PageBufferSize(100))), table.ScanOptions{})
	for i := range got {
		if i < len(want) && !strings.HasSuffix(got[i], want[i]) || want[i] == "" && !strings.Contains(got[i], "dict=86400000000005 list=[86400000000005 86400000000005]") {
			t.Errorf("row %d: %s, want %s", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows", len(got))
	}
}

// Pages of LZ4 as Hadoop frames them, in blocks, and as blocks without a frame.
func TestHadoopLZ4(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		plain := bytes.Repeat([]byte("abcdefgh"), 1+rng.IntN(200))[:1+rng.IntN(8)]
		plain = bytes.Repeat(plain, 40+rng.IntN(400))
		var framed []byte
		blocks := 0
		for rest := plain; len(rest) > 0; blocks++ {
			n := min(len(rest), 64+rng.IntN(8000))
			packed := make([]byte, lz4.CompressBlockBound(n))
			size, err := lz4.CompressBlock(rest[:n], packed, nil)
			if err != nil || size == 0 {
				t.Fatal(size, err)
			}
			framed = binary.BigEndian.AppendUint32(framed, uint32(n))
			framed = binary.BigEndian.AppendUint32(framed, uint32(size))
			framed = append(framed, packed[:size]...)
			rest = rest[n:]
		}
		got, err := decompress(codecLZ4Hadoop, nil, framed, int64(len(plain)))
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("%d bytes in %d blocks: %v", len(plain), blocks, err)
		}
		if blocks == 1 {
			if got, err := decompress(codecLZ4Hadoop, nil, framed[8:], int64(len(plain))); err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("without a frame: %v", err)
			}
		}
		for _, n := range []int{0, 7, len(framed) - 1} {
			if _, err := decompress(codecLZ4Hadoop, nil, framed[:n], int64(len(plain))); err == nil {
				t.Fatalf("%d of %d bytes pass", n, len(framed))
			}
		}
	}
}

func TestChanged(t *testing.T) {
	rows, _ := samples(3)
	at := tabletest.Write(t, "t.parquet", write(t, rows))
	src, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := src.Scan(t.Context(), table.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at.Path(), write(t, rows[:2]), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := src.Read(t.Context(), tab.Chunks[0], tab.Columns, new(table.Batch)); !errors.Is(err, table.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
}

// little is a small file with most encodings.
func little(t testing.TB, o ...parquet.WriterOption) []byte {
	type row struct {
		A int64    `parquet:"a,delta"`
		B *string  `parquet:"b,optional,dict"`
		C []int32  `parquet:"c,list"`
		D string   `parquet:"d,delta"`
		E *float64 `parquet:"e,optional"`
	}
	b := "b"
	return write(t, []row{{A: 1, B: &b, C: []int32{1, 2}}, {A: 2, D: "dd"}, {A: 5, B: &b, C: []int32{3}, D: "de"}}, o...)
}

func TestDamaged(t *testing.T) {
	tabletest.Damaged(t, open, little(t))
	tabletest.Damaged(t, open, little(t, parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy)))
}

func FuzzParquet(f *testing.F) {
	tabletest.Fuzz(f, open, little(f), little(f, parquet.DataPageVersion(1), parquet.Compression(&parquet.Gzip)), little(f, parquet.Compression(&parquet.Zstd)))
}

// What a page claims is not allocated before its bytes arrive.
func TestClaimsCostNothing(t *testing.T) {
	for _, src := range [][]byte{[]byte("not compressed by any codec"), binary.AppendUvarint(nil, maxPage)} {
		for _, codec := range []int{codecGzip, codecBrotli, codecZstd, codecLZ4, codecSnappy, codecNone, 99} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := decompress(codec, nil, src, maxPage)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 4*stepSize {
				t.Errorf("codec %d: %d bytes, %v", codec, n, err)
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	type row struct {
		ID    int64     `parquet:"id"`
		X     float64   `parquet:"x"`
		Label string    `parquet:"label,dict"`
		Text  *string   `parquet:"text,optional"`
		V     []float32 `parquet:"v,list"`
	}
	rows := make([]row, 100_000)
	for i := range rows {
		text := fmt.Sprintf("row %d of the table", i)
		rows[i] = row{int64(i), float64(i) / 3, []string{"cat", "dog", "fish"}[i%3], &text, []float32{1, 2, 3, float32(i)}}
	}
	tabletest.Benchmark(b, open, write(b, rows, parquet.Compression(&parquet.Snappy)))
}
