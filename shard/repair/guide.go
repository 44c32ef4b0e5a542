package repair

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// guide is the index of a damaged file: the original offsets of its frames. It distinguishes frames
// of the file from frames inside a damaged payload, and counts lost records. After inserted or
// missing bytes, all frames are shifted by the same amount, which is inferred from their sizes. A
// nil guide knows nothing.
type guide struct {
	entries []tfrecord.IndexEntry
	// lastOf is the number of the last entry of each size.
	lastOf map[int64]int
	next   int   // the first entry not accounted for
	shift  int64 // offset of a frame minus its offset in the index
	moved  bool  // the shift was inferred from a size
	fits   bool  // the index ends where the file does
}

// maxGuide limits the size of an index used as a guide, in bytes: it is held in memory, which takes
// up to ten times as much more.
const maxGuide = 256 << 20

// readGuide makes a guide from the index at path, of a file of the given size. It is
// nil if the index does not exist, is larger than maxGuide, is damaged, or has gaps.
func readGuide(ctx context.Context, path string, size int64) (g *guide, found bool, err error) {
	f, err := recordscan.Open(ctx, path)
	if storage.Missing(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() > maxGuide {
		return nil, true, err
	}
	in := &recordscan.Meter{Context: ctx, File: f}
	entries, err := tfrecord.ReadIndex(in, path)
	if in.Err != nil {
		return nil, true, in.Err
	}
	if err != nil {
		return nil, true, nil // the index itself is damaged
	}
	return newGuide(entries, size), true, nil
}

func newGuide(entries []tfrecord.IndexEntry, size int64) *guide {
	g := &guide{entries: entries, lastOf: make(map[int64]int)}
	var end int64
	for i, e := range entries {
		if e.Offset != end {
			return nil
		}
		end += e.Size
		g.lastOf[e.Size] = i
	}
	g.fits = end == size
	return g
}

// doubtful reports whether nothing has confirmed yet that the index belongs to this file.
func (g *guide) doubtful() bool { return g != nil && !g.fits && g.next == 0 }

// at returns the number of the entry whose frame begins at offset, or of the first one after it.
func (g *guide) at(offset int64) (number int, exact bool) {
	return slices.BinarySearchFunc(g.entries, offset-g.shift, func(e tfrecord.IndexEntry, offset int64) int {
		return cmp.Compare(e.Offset, offset)
	})
}

// behind returns where to continue after damage at offset, for which resynchronizing found next: at
// next if the index has a frame there; else at the first later frame that is intact in its place.
// If there is none, the frames may have shifted: then also at next.
func (g *guide) behind(in io.ReaderAt, f tfrecord.Framing, offset, next int64) (int64, error) {
	if g == nil {
		return next, nil
	}
	if _, exact := g.at(next); exact {
		return next, nil
	}
	i, _ := g.at(offset + 1)
	for i = max(i, g.next); i < len(g.entries); i++ {
		at := g.entries[i].Offset + g.shift
		v, err := f.CheckAt(in, at)
		if err != nil {
			return 0, err
		}
		if v == tfrecord.FrameWhole {
			return at, nil
		}
	}
	return next, nil
}

// takes reports whether an intact frame at offset belongs to the file, and how many frames before
// it were skipped. After damage it may have shifted.
func (g *guide) takes(offset, size int64, damaged bool) (passed int64, ours bool) {
	if g == nil {
		return 0, true
	}
	i, exact := g.at(offset)
	if !exact || g.entries[i].Size != size || i < g.next {
		if last, known := g.lastOf[size]; !(damaged || g.moved) || !known || last < g.next {
			return 0, false
		}
		i = g.nearest(i, size)
		g.shift, g.moved = offset-g.entries[i].Offset, true
	}
	if i != g.next && !damaged && !g.moved {
		return 0, false
	}
	passed = int64(i - g.next)
	g.next = i + 1
	return passed, true
}

// nearest returns the entry of that size nearest to entry i that is not accounted for yet. There
// must be one.
func (g *guide) nearest(i int, size int64) int {
	before, behind := min(i, len(g.entries))-1, max(i, g.next)
	for {
		if before >= g.next && g.entries[before].Size == size {
			return before
		}
		if behind < len(g.entries) && g.entries[behind].Size == size {
			return behind
		}
		before--
		behind++
	}
}

// upTo returns the number of unaccounted frames before the one that begins at offset; 0 if none
// begins there.
func (g *guide) upTo(offset int64) int64 {
	if g == nil {
		return 0
	}
	i, exact := g.at(offset)
	if !exact || i < g.next {
		return 0
	}
	passed := int64(i - g.next)
	g.next = i
	return passed
}

// rest returns the number of unaccounted frames.
func (g *guide) rest() int64 {
	if g == nil {
		return 0
	}
	return int64(len(g.entries) - g.next)
}
