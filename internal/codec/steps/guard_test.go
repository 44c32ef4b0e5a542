//go:build linux && (amd64 || arm64) && !noasm

package steps

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/fit"
	"github.com/tfrec/tfrec/internal/codec/resample"
)

// guardedImage is a random image between two inaccessible pages, at their end or at their
// beginning: the assembly may read and write the image, and nothing around it.
func guardedImage(t *testing.T, r *rand.Rand, w, h, channels, stride int, atEnd bool) *bitmap.Image {
	t.Helper()
	n, page := stride*(h-1)+w*channels, unix.Getpagesize()
	room := (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, room+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+room:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	pix := all[page : page+n : page+n]
	if atEnd {
		pix = all[page+room-n : page+room : page+room]
	}
	for i := range pix {
		pix[i] = uint8(r.Uint32())
	}
	return &bitmap.Image{Pix: pix, Width: w, Height: h, Channels: channels, Stride: stride}
}

// TestGuard resizes and recolours images of all shapes within their memory.
func TestGuard(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	colors := []Step{Saturation{Factor: 1.5}, Hue{Factor: 0.3}, Grayscale{}, Contrast{Factor: 2}}
	for i := range 600 {
		w, h, toW, toH := 1+r.IntN(90), 1+r.IntN(30), 1+r.IntN(90), 1+r.IntN(30)
		switch i % 6 {
		case 0:
			toW = w // rows alone are weighed
		case 1:
			toH = h // columns alone
		case 2:
			w = 2 * toW // five taps
		}
		channels, atEnd := 1+2*r.IntN(2), i%4 > 0
		src := guardedImage(t, r, w, h, channels, w*channels+r.IntN(2)*5, atEnd)
		dst := guardedImage(t, r, toW, toH, channels, toW*channels, atEnd)
		spec := fit.ResizeSpec{Width: toW, Height: toH, Filter: resample.Filter(r.IntN(5)), NoAntialias: !(r.IntN(3) > 0)}
		if err := spec.Apply(dst, src, nil); err != nil {
			t.Fatal(err)
		}
		same := guardedImage(t, r, w, h, channels, w*channels, atEnd)
		if err := colors[i%len(colors)].apply(same, src, nil); err != nil {
			t.Fatal(err)
		}
	}
}
