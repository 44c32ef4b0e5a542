package shard

import (
	"context"
	"math/bits"

	"golang.org/x/sync/errgroup"
)

// Distances of hashes.
const (
	// MaxNearDistance is the largest DeepOptions.NearDistance.
	MaxNearDistance     = 47
	defaultNearDistance = 31 // what PDQ's authors take for the same picture
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
// where thousands of pictures are almost the same, all pairs would be too many.
const maxCandidates = 1 << 15

// nearSearch finds for each hash those before it.
type nearSearch struct {
	hashes   [][4]uint64
	distance int
	workers  int
}

// each calls found with hash i and one before it, j, within the distance, each
// pair once, and cut with an i for which not all were compared. For one i they
// are called by one goroutine; for several by several at a time.
func (s *nearSearch) each(ctx context.Context, found func(i, j, distance int), cut func(i int)) error {
	radius := s.distance / bands
	var masks []uint16 // what a band may differ by
	for m := range 1 << bandBits {
		if bits.OnesCount16(uint16(m)) <= radius {
			masks = append(masks, uint16(m))
		}
	}
	starts := make([]uint32, 1<<bandBits+1)
	byBand := make([]uint32, len(s.hashes))
	for b := range bands {
		s.index(b, starts, byBand)
		var g errgroup.Group
		const block = 1024
		g.SetLimit(s.workers)
		for from := 0; from < len(s.hashes) && ctx.Err() == nil; from += block {
			g.Go(func() error {
				for i := from; i < min(from+block, len(s.hashes)); i++ {
					if s.lookUp(i, b, masks, starts, byBand, found) {
						cut(i)
					}
				}
				return ctx.Err()
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// index lists the hashes by the value of a band, each list in their order.
func (s *nearSearch) index(b int, starts, byBand []uint32) {
	clear(starts)
	for i := range s.hashes {
		starts[int(band(&s.hashes[i], b))+1]++
	}
	for v := 1; v < len(starts); v++ {
		starts[v] += starts[v-1]
	}
	next := append([]uint32(nil), starts...)
	for i := range s.hashes {
		v := band(&s.hashes[i], b)
		byBand[next[v]] = uint32(i)
		next[v]++
	}
}

// lookUp compares hash i with those before it that a band finds and none before
// that band did. It reports true when there were too many.
func (s *nearSearch) lookUp(i, b int, masks []uint16, starts, byBand []uint32, found func(i, j, distance int)) (cut bool) {
	h := &s.hashes[i]
	value := band(h, b)
	compared := 0
	for _, mask := range masks {
		v := int(value ^ mask)
		for _, j := range byBand[starts[v]:starts[v+1]] {
			if int(j) >= i {
				break
			}
			if compared++; compared > maxCandidates {
				return true
			}
			other := &s.hashes[j]
			if d := distance(h, other); d <= s.distance && firstBand(h, other, s.distance/bands) == b {
				found(i, int(j), d)
			}
		}
	}
	return false
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
