package verify

import (
	"context"
	"math/bits"

	"golang.org/x/sync/errgroup"
)

// Distances of hashes.
const (
	// MaxNearDistance is the largest DeepOptions.NearDistance.
	MaxNearDistance     = 47
	defaultNearDistance = 31 // what PDQ's authors take for the same image
)

// Hashes are looked up by bands: multi-index hashing (Norouzi, Punjani, Fleet:
// Fast Search in Hamming Space with Multi-Index Hashing, 2012). Of two hashes
// that differ in no more than d bits one of the 16 bands differs in no more than
// d/16: whatever is within the distance is found.
const (
	bands    = 16
	bandBits = 16
)

func band(h *[4]uint64, b int) uint16 { return uint16(h[b/4] >> (b % 4 * bandBits)) }

// maxCandidates bounds with how many others a hash is compared through one band:
// where thousands of images are almost the same, all pairs would be too many.
const maxCandidates = 1 << 15

// nearSearch finds the pairs of hashes that are close.
type nearSearch struct {
	hashes   [][4]uint64
	distance int
	workers  int
}

// each calls found with two hashes within the distance, i behind j, each pair
// once, and cut with an i that was not compared with all. Several goroutines
// call them at a time.
func (s *nearSearch) each(ctx context.Context, found func(i, j, distance int), cut func(i int)) error {
	radius := s.distance / bands
	var masks []uint16 // what a band may differ by
	for m := range 1 << bandBits {
		if bits.OnesCount16(uint16(m)) <= radius {
			masks = append(masks, uint16(m))
		}
	}
	index := bandIndex{
		starts: make([]uint32, 1<<bandBits+1), numbers: make([]uint32, len(s.hashes)),
		hashes: make([][4]uint64, len(s.hashes)),
	}
	for b := range bands {
		index.fill(s.hashes, b)
		var g errgroup.Group
		g.SetLimit(s.workers)
		const block = 1 << 8
		for from := 0; from < 1<<bandBits && ctx.Err() == nil; from += block {
			g.Go(func() error {
				for v := from; v < from+block; v++ {
					if err := ctx.Err(); err != nil {
						return err
					}
					s.compare(&index, v, b, masks, found, cut)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// bandIndex is the hashes by the value of a band, each list in their order: close
// together in memory, for most of the time goes into fetching them.
type bandIndex struct {
	starts  []uint32 // of the list of each value
	numbers []uint32
	hashes  [][4]uint64
}

func (x *bandIndex) fill(hashes [][4]uint64, b int) {
	clear(x.starts)
	for i := range hashes {
		x.starts[int(band(&hashes[i], b))+1]++
	}
	for v := 1; v < len(x.starts); v++ {
		x.starts[v] += x.starts[v-1]
	}
	next := append([]uint32(nil), x.starts...)
	for i := range hashes {
		at := &next[band(&hashes[i], b)]
		x.numbers[*at], x.hashes[*at] = uint32(i), hashes[i]
		*at++
	}
}

// compare compares all hashes of a band's value with those before them in the
// list, and with those of the values above it that differ little.
func (s *nearSearch) compare(x *bandIndex, v, b int, masks []uint16, found func(i, j, distance int), cut func(i int)) {
	for k := x.starts[v]; k < x.starts[v+1]; k++ {
		h := &x.hashes[k]
		compared := 0
		for _, mask := range masks {
			w := v ^ int(mask)
			from, to := x.starts[w], x.starts[w+1]
			switch {
			case w == v:
				to = k
			case w < v:
				continue // they are compared with this one
			}
			if compared += int(to - from); compared > maxCandidates {
				cut(int(x.numbers[k]))
				break
			}
			for n := from; n < to; n++ {
				other := &x.hashes[n]
				if d := distance(h, other); d <= s.distance && firstBand(h, other, s.distance/bands) == b {
					i, j := x.numbers[k], x.numbers[n]
					found(int(max(i, j)), int(min(i, j)), d)
				}
			}
		}
	}
}

// firstBand is the first band in which two hashes differ in no more bits than
// the radius.
func firstBand(g, h *[4]uint64, radius int) int {
	for b := range bands {
		if bits.OnesCount16(band(g, b)^band(h, b)) <= radius {
			return b
		}
	}
	return bands
}
