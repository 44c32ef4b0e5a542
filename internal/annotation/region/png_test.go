package region

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"testing"
)

// decodePNG returns the samples of a PNG, whose checksums the decoder holds to its contents.
func decodePNG(t testing.TB, data []byte) *image.Gray {
	t.Helper()
	im, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	gray, ok := im.(*image.Gray)
	if !ok {
		t.Fatalf("%T, want 8 bits of gray", im)
	}
	return gray
}

func TestAppendPNG(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 3000 {
		w, h := 1+rng.IntN(1+rng.IntN(1200)), 1+rng.IntN(30)
		mask := make([]uint8, w*h)
		for y := range h {
			row := mask[y*w:][:w]
			if y > 0 && rng.IntN(2) == 0 {
				copy(row, mask[(y-1)*w:])
				continue
			}
			for range rng.IntN(3) { // some rows have no run, or one that overlaps the other
				begin := rng.IntN(w)
				for x := begin; x < begin+1+rng.IntN(w-begin); x++ {
					row[x] = 1
				}
			}
			for range rng.IntN(2) * rng.IntN(w) {
				row[rng.IntN(w)] ^= 1
			}
		}
		before := []byte("before")
		data := AppendPNG(before, mask, w, h)
		got := decodePNG(t, data[len(before):])
		if got.Rect != image.Rect(0, 0, w, h) || !bytes.Equal(got.Pix, mask) || !bytes.HasPrefix(data, before) {
			t.Fatalf("%d x %d: %v, other pixels: %v", w, h, got.Rect, mask)
		}
	}
}

// Runs and rows of all lengths around the limits of deflate.
func TestAppendPNGOfLongRuns(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 700}, {2, 300}, {maxDistance - 2, 3}, {maxDistance - 1, 3}, {maxDistance, 3}, {3 * maxDistance, 3}, {2000, 1500}} {
		w, h := size[0], size[1]
		for _, fill := range []func(x, y int) bool{
			func(x, y int) bool { return false },
			func(x, y int) bool { return true },
			func(x, y int) bool { return x >= w/2 },
			func(x, y int) bool { return x < y },
			func(x, y int) bool { return (x+y)%2 == 0 },
		} {
			mask := make([]uint8, w*h)
			for at := range mask {
				if fill(at%w, at/w) {
					mask[at] = 1
				}
			}
			if got := decodePNG(t, AppendPNG(nil, mask, w, h)); !bytes.Equal(got.Pix, mask) {
				t.Errorf("%d x %d: other pixels", w, h)
			}
		}
	}
	for n := range 1200 {
		mask := make([]uint8, 1500)
		for x := range n {
			mask[x] = 1
		}
		if got := decodePNG(t, AppendPNG(nil, mask, len(mask), 1)); !bytes.Equal(got.Pix, mask) {
			t.Errorf("a run of %d: other pixels", n)
		}
		if got := decodePNG(t, AppendPNG(nil, mask[:n/2+1], 1, n/2+1)); !bytes.Equal(got.Pix, mask[:n/2+1]) {
			t.Errorf("a column of %d: other pixels", n/2+1)
		}
	}
}

func BenchmarkAppendPNG(b *testing.B) {
	const w, h = 640, 480
	mask := make([]uint8, w*h)
	for y := range h {
		for x := range w {
			if dx, dy := x-250, y-200; dx*dx+dy*dy < 100*100 {
				mask[y*w+x] = 1
			}
		}
	}
	var dst []byte
	b.SetBytes(w * h)
	for b.Loop() {
		dst = AppendPNG(dst[:0], mask, w, h)
	}
	b.ReportMetric(float64(len(dst)), "bytes")
}
