package sample

import (
	"fmt"
	"math"
	"testing"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/set/shares"
)

// TestRing compares the ring with a search of all images, and counts how many variants an image
// more changes.
func TestRing(t *testing.T) {
	const n = 3000
	s := &Set{Options: &options.ImageOptions{}}
	var all []int32
	for i := range n {
		s.Images = append(s.Images, origin.Image{Path: fmt.Sprint(i)})
		all = append(all, int32(i))
	}
	s.AddRing(all[:n-1])
	s.AddRing(all)
	h := shares.NewHasher(0, shares.ForPartner)
	changed := 0
	for i := range int32(n - 1) {
		hash := h.Key(fmt.Sprint("variant", i))
		want, least := int32(-1), uint64(math.MaxUint64)
		for _, e := range s.rings[1] {
			if d := e.hash - hash; e.image != i && d <= least {
				want, least = e.image, d
			}
		}
		before, got := s.rings[0].after(hash, i), s.rings[1].after(hash, i)
		if got != want {
			t.Fatalf("after %x is %d, want %d", hash, got, want)
		}
		if got != before {
			if changed++; got != n-1 {
				t.Errorf("%d became %d, not the new image", before, got)
			}
		}
	}
	if changed > 12 {
		t.Errorf("%d variants of %d changed", changed, n)
	}
}
