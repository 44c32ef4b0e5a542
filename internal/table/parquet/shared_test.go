package parquet

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/tabletest"
)

// largeRow is a row whose columns fill large pages, each in its way.
type largeRow struct {
	ID    int64    `parquet:"id"`
	Plain []byte   `parquet:"plain,optional"`
	Dict  []byte   `parquet:"dict,dict"`
	Delta []byte   `parquet:"delta,delta"`
	Text  string   `parquet:"text"`
	List  [][]byte `parquet:"list,list"`
}

// TestLargePages reads the chunks of pages of 17 MiB and more in random order, by several goroutines,
// with and without compression: they have the rows that were written, and a page that holds all of them
// is decoded once.
func TestLargePages(t *testing.T) {
	race.Skip(t)
	for _, seed := range torture.Sample(t, 2, torture.Seeds(5, 50)) {
		rng := rand.New(rand.NewPCG(seed, 7))
		codec := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd}[rng.IntN(3)]
		column := rng.IntN(5)
		rows := make([]largeRow, 30+rng.IntN(20))
		large := func() []byte {
			b := make([]byte, (17<<20)/len(rows)+rng.IntN(1<<18))
			for i := 0; i < len(b); i += 3 { // it compresses by a half
				b[i] = byte('a' + rng.IntN(26))
			}
			for i, c := range b {
				if c == 0 {
					b[i] = 'x'
				}
			}
			return b
		}
		for i := range rows {
			r := &rows[i]
			r.ID = int64(i)
			value := large()
			switch column {
			case 0:
				if r.Plain = value; rng.IntN(8) == 0 {
					r.Plain = nil
				}
			case 1:
				r.Dict = value
			case 2:
				r.Delta = value
			case 3:
				r.Text = string(value)
			case 4:
				r.List = [][]byte{value[:len(value)/3], nil, value[len(value)/3:]}
			}
		}
		groups := 1 + rng.IntN(2)
		data := write(t, rows, parquet.PageBufferSize(32<<20), parquet.Compression(codec), parquet.MaxRowsPerRowGroup(int64(len(rows)/groups+1)))
		src, err := Open(t.Context(), tabletest.Write(t, "t.parquet", data))
		if err != nil {
			t.Fatal(err)
		}
		tab, err := src.Scan(t.Context(), table.ScanOptions{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		rng.Shuffle(len(tab.Chunks), func(i, j int) { tab.Chunks[i], tab.Chunks[j] = tab.Chunks[j], tab.Chunks[i] })
		var largest int64
		var seen atomic.Int64
		read := func(workers int) {
			g, ctx := errgroup.WithContext(t.Context())
			g.SetLimit(workers)
			for chunks := range slices.Chunk(tab.Chunks, len(tab.Chunks)/workers+1) {
				g.Go(func() error {
					var b table.Batch
					for _, c := range chunks {
						if err := src.Read(ctx, c, tab.Columns, &b); err != nil {
							return err
						}
						for i := range b.Rows {
							seen.Add(1)
							checkLargeRow(t, &b, i, &rows[c.FirstRow+int64(i)])
						}
					}
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		read(3)
		slices.SortFunc(tab.Chunks, func(a, b table.Chunk) int { return int(a.FirstRow - b.FirstRow) })
		for _, c := range tab.Chunks {
			largest = max(largest, c.Bytes)
		}
		if largest > 5*table.ChunkBytes {
			t.Errorf("seed %d: a chunk of %d bytes", seed, largest)
		}
		kept := func() (pages []*page) {
			for _, p := range src.shared.last {
				pages = append(pages, p.page)
			}
			return pages
		}
		before := kept()
		read(1)
		if after := kept(); groups == 1 && (len(before) == 0 || !slices.Equal(before, after)) {
			t.Errorf("seed %d: column %d: of %d pages, some were decoded again", seed, column, len(before))
		}
		if want := int64(2 * len(rows)); seen.Load() != want {
			t.Errorf("seed %d: %d rows, want %d", seed, seen.Load(), want)
		}
		if err := src.Close(); err != nil || src.shared.last != nil {
			t.Errorf("seed %d: %d pages are kept after Close: %v", seed, len(src.shared.last), err)
		}
	}
}

// checkLargeRow compares a row of a batch with what was written.
func checkLargeRow(t *testing.T, b *table.Batch, row int, want *largeRow) {
	t.Helper()
	var got largeRow
	for i := range b.Columns {
		v := &b.Columns[i]
		first, end := v.Span(row)
		switch {
		case !v.Has(row):
		case v.Kind == table.Int64:
			got.ID = v.Ints[first]
		case i == 1:
			got.Plain = v.Byte(first)
		case i == 2:
			got.Dict = v.Byte(first)
		case i == 3:
			got.Delta = v.Byte(first)
		case i == 4:
			got.Text = string(v.Byte(first))
		default:
			for ; first < end; first++ {
				got.List = append(got.List, v.Byte(first))
			}
		}
	}
	join := func(list [][]byte) string {
		var b strings.Builder
		for _, x := range list {
			b.Write(x)
			b.WriteByte('|')
		}
		return b.String()
	}
	if got.ID != want.ID || string(got.Plain) != string(want.Plain) || string(got.Dict) != string(want.Dict) || string(got.Delta) != string(want.Delta) ||
		got.Text != want.Text || join(got.List) != join(want.List) {
		t.Errorf("row %d has other values", want.ID)
	}
}

// TestSharedPagesAreBounded puts pages of random sizes of some columns to use: those that are kept are
// the last ones used, of each column its last, and have keptPages bytes together or are one.
func TestSharedPagesAreBounded(t *testing.T) {
	rng := torture.Rand(t)
	var s sharedPages
	last := map[[2]int]int64{}
	for range 2000 {
		leaf, dictionary := rng.IntN(6), rng.IntN(2)
		size := largePage + rng.Int64N(keptPages)
		if rng.IntN(3) > 0 {
			size /= 8
		}
		p := s.of(leaf, dictionary == 1, size)
		last[[2]int{leaf, dictionary}] = size
		total := int64(0)
		for _, p := range s.last {
			is := 0
			if p.dictionary {
				is = 1
			}
			if total += p.size; last[[2]int{p.leaf, is}] != p.size {
				t.Fatalf("column %d has %d bytes", p.leaf, p.size)
			}
		}
		if n := len(s.last); s.last[n-1] != p || total > keptPages && n > 1 {
			t.Fatalf("%d pages of %d bytes are kept", n, total)
		}
	}
}
