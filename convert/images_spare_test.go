package convert

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/augment"
)

// restartJPEG makes a gray JPEG of 1024x1024 with a restart marker after each row of blocks. A block
// takes four bits: a DC difference of two bits, whose code is 0, and 0 for the end of the block.
func restartJPEG(r *rand.Rand) []byte {
	segment := func(marker byte, body ...byte) []byte {
		return append([]byte{0xFF, marker, 0, byte(len(body) + 2)}, body...)
	}
	const side = 1024
	one := append([]byte{1}, make([]byte, 15)...)
	out := bytes.Join([][]byte{{0xFF, 0xD8},
		segment(0xDB, append([]byte{0}, bytes.Repeat([]byte{9}, 64)...)...),
		segment(0xC0, 8, side>>8, side&255, side>>8, side&255, 1, 1, 0x11, 0),
		segment(0xC4, append(append([]byte{0x00}, one...), 2)...),
		segment(0xC4, append(append([]byte{0x10}, one...), 0)...),
		segment(0xDD, 0, side/8), segment(0xDA, 1, 1, 0, 0, 63, 0)}, nil)
	for row := range side / 8 {
		if row > 0 {
			out = append(out, 0xFF, 0xD0+byte((row-1)%8))
		}
		for range side / 16 {
			out = append(out, byte(r.Uint32())&0b0110_0110)
		}
	}
	return append(out, 0xFF, 0xD9)
}

// TestSpareWorkers: workers without a task help with large images, and the set stays the same.
func TestSpareWorkers(t *testing.T) {
	src := directories(t, 5)
	r := rand.New(rand.NewPCG(1, 2))
	put(t, src, "c0/large.jpg", restartJPEG(r))
	put(t, src, "c1/large.jpg", restartJPEG(r))
	for _, resize := range []augment.ResizeSpec{{}, {Square: 96}} {
		var want map[string]string
		for _, workers := range []int{1, 2, 6} {
			out := t.TempDir()
			o := ImageOptions{Options: Options{Shards: 1, Workers: workers}, Encode: EncodeSpec{Format: Raw}, Resize: resize}
			mustImages(t, src, out, o)
			got := contents(t, out)
			if want == nil {
				want = got
			}
			sameSet(t, got, want)
		}
	}
}
