package png

import (
	"bytes"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
)

// FuzzFilter compares the assembly with the reference implementation, for pixels of all sizes. Nothing
// after a row may be written.
func FuzzFilter(f *testing.F) {
	f.Add(bytes.Repeat([]byte{1, 200, 3, 255, 0, 90, 128}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, n := range []int{1, 2, 3, 4, 6, 8} {
			size := len(data) / 2 / n * n
			if size == 0 {
				continue
			}
			src, above := data[:size], data[size:2*size]
			for filter := byte(none); filter <= paeth; filter++ {
				got, want := bytes.Repeat([]byte{77}, size+40), bytes.Repeat([]byte{77}, size+40)
				unfilter(filter, got[:size], src, above, n)
				unfilterPlain(filter, want[:size], src, above, n)
				if !bytes.Equal(got, want) {
					t.Errorf("filter %d of pixels of %d bytes: %v and %v gave %v, want %v", filter, n, src, above, got, want)
				}
			}
		}
	})
}

// TestFilters undoes each filter of rows of all lengths.
func TestFilters(t *testing.T) { eachFilter(t, testFilters) }

func testFilters(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 6, 8} {
		for pixels := 1; pixels < 80; pixels++ {
			row, above := make([]byte, n*pixels), make([]byte, n*pixels)
			for i := range row {
				row[i], above[i] = byte(i*i*7+i*3), byte(i*i*5+i*11)
			}
			for filter := byte(none); filter <= paeth; filter++ {
				got := bytes.Repeat([]byte{77}, len(row)+40)
				unfilter(filter, got[:len(row)], pngtest.ApplyFilter(filter, row, above, n), above, n)
				if !bytes.Equal(got[:len(row)], row) || !bytes.Equal(got[len(row):], bytes.Repeat([]byte{77}, 40)) {
					t.Fatalf("filter %d, %d pixels of %d bytes: %v, want %v", filter, pixels, n, got, row)
				}
			}
		}
	}
}
