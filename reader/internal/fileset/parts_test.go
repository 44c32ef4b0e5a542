package fileset

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// grid yields file lengths of many shapes.
func grid(yield func(lengths []int) bool) {
	for files := range 7 {
		for records := range 9 {
			for shape := range 3 {
				lengths := make([]int, files+1)
				for i := range lengths {
					switch shape {
					case 0:
						lengths[i] = records
					case 1:
						lengths[i] = records * i % 5
					case 2:
						lengths[i] = max(0, records-3*i)
					}
				}
				if !yield(lengths) {
					return
				}
			}
		}
	}
}

// Whatever the files, the workers and the division, the parts are a partition. Parts that have to
// be even all have the same length, and drop or repeat no more than needed.
func TestPartsAreAPartition(t *testing.T) {
	for lengths := range grid {
		counts := make([]int64, len(lengths))
		total := 0
		for i, n := range lengths {
			counts[i] = int64(n)
			total += n
		}
		for workers := 1; workers <= 6; workers++ {
			for _, byFile := range []bool{false, true} {
				for ends := pipeline.UnevenKeep; ends <= pipeline.UnevenPad; ends++ {
					name := fmt.Sprintf("%v, %d workers, by file %v, ends %d", lengths, workers, byFile, ends)
					checkParts(t, name, counts, total, workers, byFile, ends)
				}
			}
		}
	}
}

func checkParts(t *testing.T, name string, counts []int64, total, workers int, byFile bool, ends pipeline.Uneven) {
	seen := map[[2]int64]int{}
	var sizes []int
	padded := 0
	for w := range workers {
		parts := divideRecords(counts, w, workers, ends)
		if byFile {
			parts, _ = DivideFiles(counts, w, workers, ends)
			if ends == pipeline.UnevenKeep { // Set.makePieces needs no counts for it
				parts = nil
				for i := w; i < len(counts); i += workers {
					parts = append(parts, stretch{file: i, to: counts[i]})
				}
			}
		}
		size := 0
		for _, p := range parts {
			if p.from < 0 || p.to > counts[p.file] || p.from > p.to {
				t.Fatalf("%s: a stretch %+v", name, p)
			}
			size += int(p.to - p.from)
			for n := p.from; n < p.to; n++ {
				if p.pad {
					padded++
				} else {
					seen[[2]int64{int64(p.file), n}]++
				}
			}
		}
		sizes = append(sizes, size)
	}
	for at, n := range seen {
		if n != 1 {
			t.Fatalf("%s: record %v comes %d times", name, at, n)
		}
	}
	least, most := slices.Min(sizes), slices.Max(sizes)
	switch {
	case ends != pipeline.UnevenDrop && len(seen) != total:
		t.Errorf("%s: %d of %d records", name, len(seen), total)
	case ends != pipeline.UnevenKeep && least != most:
		t.Errorf("%s: parts of %v records", name, sizes)
	case ends == pipeline.UnevenKeep && padded > 0:
		t.Errorf("%s: padded", name)
	case !byFile && most-least > 1:
		t.Errorf("%s: parts of %v records", name, sizes)
	case !byFile && ends == pipeline.UnevenDrop && total-len(seen) >= workers:
		t.Errorf("%s: only %d of %d records", name, len(seen), total)
	case !byFile && ends == pipeline.UnevenPad && padded >= workers:
		t.Errorf("%s: %d records twice", name, padded)
	}
}
