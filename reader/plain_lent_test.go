package reader

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/readertest"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// Records that a store lends are those of the same files on disk, with damage and without, whatever
// their sizes, and stay what they are until their blocks are released, and no longer.
func TestBorrowedRecords(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	for i, sizes := range [][]int{{0, 1, 200, 3000, 60_000, 100_000}, {100_000}, {1, 5_000_000}, {300_000}} {
		var records [][]byte
		for size := 0; size < 10_000_000; {
			p := make([]byte, sizes[r.IntN(len(sizes))])
			for k := range min(len(p), 16) {
				p[k], p[len(p)-1-k] = byte(r.Uint32()), byte(r.Uint32())
			}
			records = append(records, p)
			size += len(p) + 1000
		}
		readertest.WriteFile(t, readertest.ShardPath(dir, i), tfrecord.CompressionNone, records...)
	}
	damaged := readertest.ShardPath(dir, 1)
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	data[150_000]++     // in a payload
	data[4*100_016+3]++ // in a length
	if err := os.WriteFile(damaged, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, url := inStore(t, dir)
	for _, cycle := range []int{1, 3} {
		for _, memory := range []int64{0, 16 << 20} {
			o := Options{Memory: memory, SkipBad: SkipBad{Count: 100}}
			want := readLate(t, open(t, dir, o).Interleave(cycle, 1))
			got := readLate(t, open(t, url, o).Interleave(cycle, 1))
			if !slices.Equal(got, want) || len(want) < 300 {
				t.Errorf("cycle %d, memory %d: %d records from the store, %d from the disk, or they differ", cycle, memory, len(got), len(want))
			}
		}
	}
}

// readLate reads a pipe, and looks at each block when three more have been read.
func readLate(t *testing.T, p Pipe) (all []string) {
	t.Helper()
	stream, err := p.Start(t.Context(), From{})
	if err != nil {
		t.Fatal(err)
	}
	var held []*pipeline.Block
	for {
		b, err := nextBlock(stream)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if held = append(held, b); len(held) > 3 {
			all = append(all, describe(held[0])...)
			held[0].Release()
			held = held[1:]
		}
	}
	if err := stream.Close(); err != nil { // blocks stay valid
		t.Fatal(err)
	}
	for _, b := range held {
		all = append(all, describe(b)...)
		b.Release()
	}
	return all
}

// describe returns what there is to know of a block's records.
func describe(b *pipeline.Block) (all []string) {
	for _, r := range b.Records {
		all = append(all, fmt.Sprintf("%d %d %d %x", r.File, r.Number, r.Offset, sha256.Sum256(r.Data)))
	}
	return all
}
