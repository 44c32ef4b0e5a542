package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seenByTurbo are parts of what libjpeg-turbo says of damage. Its other warnings and refusals are
// of images that are odd and whole: of conditioning for arithmetic coding in an image without any,
// or of scan parameters that mean nothing in a sequential one.
var seenByTurbo = []string{"remature end of", "bad Huffman code", "extraneous bytes", "found marker"}

// addHostile adds the images that once made a fuzz target or a user fail.
func addHostile(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/hostile/*.jpg")
	if err != nil || len(files) == 0 {
		f.Fatal("no hostile images", err)
	}
	for _, file := range files {
		f.Add(read(f, file))
	}
}

// FuzzCheck feeds anything to the header parser and the check: errors wrap a sentinel,
// nothing panics, and libjpeg-turbo sees no damage in what passed.
func FuzzCheck(f *testing.F) {
	for _, name := range sound {
		if data := testImage(f, name); len(data) < 8<<10 {
			f.Add(data)
		}
	}
	addHostile(f)
	turbo := backends(f)["turbo"]
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHeader(data)
		if err == nil {
			err = Check(data, &h)
		}
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("%v wraps no sentinel", err)
			}
			return
		}
		if turbo == nil || h.Width*h.Height > 1<<20 || turbo.Supports(&h) != nil {
			return
		}
		says := fmt.Sprint(turboSays(turbo, data, &h))
		for _, damage := range seenByTurbo {
			if strings.Contains(says, damage) {
				t.Errorf("the check passed, and libjpeg-turbo says: %s", says)
			}
		}
	})
}

// FuzzDecode decodes anything: the verdict is that of the check, nothing panics, and what is
// sound comes out as libjpeg-turbo's, where that is installed and reads it.
func FuzzDecode(f *testing.F) {
	for _, file := range imageFiles(f) {
		if data := read(f, file); len(data) < 4<<10 {
			f.Add(data)
		}
	}
	addHostile(f)
	turbo := backends(f)["turbo"]
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHeader(data)
		if err != nil || ownSet.Supports(&h) != nil || h.Width*h.Height > 1<<18 {
			return
		}
		verdict := Check(data, &h)
		eachForm(ownSet, &h, func(r Request) {
			w, ht := h.Scaled(r.Denom)
			n := w * r.Format.Bytes()
			got, want := make([]byte, n*ht), make([]byte, n*ht)
			err := ownSet.Decode(got, n, data, &h, r)
			if fmt.Sprint(err) != fmt.Sprint(verdict) {
				t.Fatalf("the check says %v, the decoder %v", verdict, err)
			}
			if err != nil || wild(data, &h) {
				return
			}
			if turbo == nil {
				return
			}
			if _, ok := comparable(turbo, data); !ok || !turbo.Reduces(&h, r.Format, r.Denom) {
				return
			}
			if err := turbo.Decode(want, n, data, &h, r); errors.Is(err, ErrUnsupported) {
				return // odd, and not damaged in its eyes
			} else if err != nil {
				t.Fatalf("libjpeg-turbo says %v", err)
			}
			if largest, rms := distance(got, want); largest > 0 {
				t.Errorf("format %d at 1/%d: %.2f from libjpeg-turbo, %d at most", r.Format, r.Denom, rms, largest)
			}
		})
	})
}

// wild reports whether a sound image has a block that may be the one exception named in idct.go:
// all of whose rows are equal, with samples at the end of their range.
func wild(data []byte, h *Header) bool {
	c := takeChecker()
	c.reset(data, h)
	defer c.release()
	c.decoding = true
	for i := range c.planes[:h.N] {
		c.planes[i].aim(nil, 8)
	}
	_ = c.run()
	for _, p := range c.planes[:h.N] {
		for at := 0; at < len(p.pix); at += 8 {
			if at/p.pitch%8 != 0 {
				continue
			}
			first, equal := p.pix[at:][:8], true
			for y := 1; y < 8; y++ {
				equal = equal && bytes.Equal(first, p.pix[at+y*p.pitch:][:8])
			}
			if equal && (slices.Contains(first, 0) || slices.Contains(first, 255)) {
				return true
			}
		}
	}
	return false
}
