package sample

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/set/shares"
)

// MixtureOf returns the mixture of a draw; nil without one. It shares the Partners.
func MixtureOf(d augment.Draw) *augment.Mixture {
	for _, s := range d.Steps {
		if s, ok := s.(augment.Mixture); ok {
			return &s
		}
	}
	return nil
}

// ring holds the images of a split in the order of hashes of their keys. The partner of a variant is
// the image that follows the variant's own hash. So an image that is added or removed only changes
// the variants whose hashes are between it and the image before it.
type ring []ringImage

type ringImage struct {
	hash  uint64
	image int32
}

// AddRing adds the ring of the next split, without images that the listing rejected.
func (s *Set) AddRing(images []int32) {
	h := shares.NewHasher(s.Options.Seed, shares.ForPartner)
	var r ring
	for _, i := range images {
		if p := &s.Images[i]; p.Bad() == nil {
			r = append(r, ringImage{h.Key(p.Path), i})
		}
	}
	slices.SortFunc(r, func(a, b ringImage) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.image, b.image))
	})
	s.rings = append(s.rings, r)
}

// after returns the image that follows a hash and is not the given one, unless that is alone.
func (r ring) after(hash uint64, not int32) int32 {
	at, _ := slices.BinarySearchFunc(r, hash, func(e ringImage, hash uint64) int { return cmp.Compare(e.hash, hash) })
	for i := range r {
		if e := r[(at+i)%len(r)]; e.image != not {
			return e.image
		}
	}
	return not
}

// Partners returns the images that are mixed into a sample.
func (s *Set) Partners(m Sample) []int32 {
	pic := &s.Images[m.Image]
	if m.Copy == 0 || len(s.rings) == 0 || pic.Bad() != nil {
		return nil
	}
	n := s.Options.Augment.Policy.Partners(s.Options.Seed, pic.Path, int(m.Copy))
	h := shares.NewHasher(s.Options.Seed, shares.ForPartner)
	images := make([]int32, n)
	for k := range images {
		key := pic.Path + "\x00" + strconv.Itoa(int(m.Copy)) + "\x00" + strconv.Itoa(k)
		images[k] = s.rings[s.SplitOf(int(m.Image))].after(h.Key(key), m.Image)
	}
	return images
}

// Needs appends the images that a sample is made from, its own first; none if the listing rejected
// it.
func (s *Set) Needs(images []int32, m Sample) []int32 {
	if s.Images[m.Image].Bad() != nil {
		return images
	}
	return append(append(images, m.Image), s.Partners(m)...)
}

// StoresMixture reports whether records have the labels of what they are mixed of: in a set with
// mixtures, if each image has labels of its own.
func (s *Set) StoresMixture() bool {
	return s.Options.Augment.Mixes() && (s.WritesLabels() || s.Carried != nil && s.Carried.Labels && s.Carried.Counted)
}
