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
	defaultNearDistance = 31 // what PDQ's authors consider the same image
)

// Hashes are looked up by bands: multi-index hashing (Norouzi, Punjani, Fleet: Fast Search in
// Hamming Space with Multi-Index Hashing, 2012). If two hashes differ in at most d bits, at least
// one of the 16 bands differs in at most d/16 bits, so every pair within the distance is found.
const (
	bands    = 16
	bandBits = 16
)

func band(h *[4]uint64, b int) uint16 { return uint16(h[b/4] >> (b % 4 * bandBits)) }

// maxCandidates limits the number of hashes that a hash is compared with per band: among thousands
// of almost identical images, all pairs would be too many.
const maxCandidates = 1 << 15

// nearSearch finds pairs of similar hashes.
type nearSearch struct {
	hashes   [][4]uint64
	distance int
	workers  int
}

// each calls found once for each pair of hashes within the distance, with j before i, and cut with
// each i that was not compared with all candidates. Both are called concurrently.
func (s *nearSearch) each(ctx context.Context, found func(i, j, distance int), cut func(i int)) error {
	radius := s.distance / bands
	var masks []uint16 // by which a band may differ
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

// bandIndex groups the hashes by the value of a band, each list in order. The lists are contiguous
// because fetching them takes most of the time.
type bandIndex struct {
	starts  []uint32 // start of the list of each value
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

// compare compares all hashes with value v in a band with the earlier ones in the list, and with
// hashes of larger values that differ little.
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
				continue // those are compared with this one
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

// firstBand returns the first band in which two hashes differ in at most radius bits.
func firstBand(g, h *[4]uint64, radius int) int {
	for b := range bands {
		if bits.OnesCount16(band(g, b)^band(h, b)) <= radius {
			return b
		}
	}
	return bands
}
