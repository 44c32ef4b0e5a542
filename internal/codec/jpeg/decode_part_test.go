package jpeg

import (
	"bytes"
	"errors"
	"image"
	"math/rand/v2"
	"testing"
)

// TestDecodePart decodes parts of images: the samples that the part has a share in are those
// of the whole, all others are left alone or theirs as well, and damage anywhere is still seen.
func TestDecodePart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name := range planarImages {
		data := testImage(t, name)
		h := header(t, data)
		for _, denom := range []int{1, 2, 4, 8} {
			whole := planesWith(t, ownSet, data, denom)
			for range 20 {
				x, y := r.IntN(h.Width), r.IntN(h.Height)
				part := image.Rect(x, y, x+1+r.IntN(h.Width-x), y+1+r.IntN(h.Height-y))
				for _, trusted := range []bool{false, true} {
					const guard = 173
					var got Planar
					for i := range got.Pix {
						got.Pix[i] = bytes.Repeat([]byte{guard}, 4*len(whole.Pix[i])+4096)
					}
					if err := ownSet.DecodePlanes(&got, data, h, Request{Denom: denom, Part: part, Trusted: trusted}); err != nil {
						t.Fatal(err)
					}
					samePart(t, name, &got, whole, part, denom, guard)
				}
			}
		}
	}
}

// samePart compares samples.
func samePart(t *testing.T, name string, got, whole *Planar, part image.Rectangle, denom int, guard byte) {
	t.Helper()
	for i := range got.Pix {
		w, ht := got.size(i)
		fx, fy := denom, denom
		if i > 0 {
			across, down := got.Sampling.Factors()
			fx, fy = fx*across, fy*down
		}
		share := image.Rect(part.Min.X/fx, part.Min.Y/fy, ceilDiv(part.Max.X, fx), ceilDiv(part.Max.Y, fy))
		for y := range ht {
			for x := range w {
				g, want := got.Pix[i][y*got.Stride[i]+x], whole.Pix[i][y*whole.Stride[i]+x]
				if g != want && (image.Pt(x, y).In(share) || g != guard) {
					t.Fatalf("%s at 1/%d, part %v: plane %d has %d at %d,%d, the whole %d", name, denom, part, i, g, x, y, want)
				}
			}
		}
	}
}

// TestDecodePartDamage: data after the part are checked unless the image is trusted.
func TestDecodePartDamage(t *testing.T) {
	data := testImage(t, "made-ok-160x88.jpg")
	h := header(t, data)
	cut := append(bytes.Clone(data[:len(data)-10]), 0xFF, markerEOI)
	r := Request{Denom: 1, Part: image.Rect(0, 0, 160, 40)}
	if err := ownSet.DecodePlanes(new(Planar), cut, h, r); !errors.Is(err, ErrDamaged) {
		t.Errorf("the end is missing: %v", err)
	}
	r.Trusted = true
	if err := ownSet.DecodePlanes(new(Planar), cut, h, r); err != nil {
		t.Errorf("the end is missing, but not wanted: %v", err)
	}
	r.Part.Max.Y = 88
	if err := ownSet.DecodePlanes(new(Planar), cut, h, r); !errors.Is(err, ErrDamaged) {
		t.Errorf("the end is missing and wanted: %v", err)
	}
}
