//go:build interop

package interop

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// judgedPNG is what Pillow says of a PNG.
type judgedPNG struct {
	Same    bool
	Size    int
	Seconds float64
}

// TestPNGsAreReadByPillow: Pillow reads the pixels that were encoded, and PNGs of photographs,
// drawings and masks are no larger than its own. The CPU times are reported.
func TestPNGsAreReadByPillow(t *testing.T) {
	judge := startScript(t, *python, "pngs.py")
	rnd := torture.Rand(t)
	kinds := map[string][]*augment.Image{"photographs": nil, "gray photographs": nil, "photographs at 224x224": nil}
	for _, path := range demoPhotographs(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, channels := range []int{3, 1} {
			c, err := augment.NewCodec(augment.CodecOptions{})
			if err != nil {
				t.Fatal(err)
			}
			im := new(augment.Image)
			if _, err := c.Decode(im, data, augment.DecodeOptions{Channels: channels}); err != nil {
				t.Fatal(err)
			}
			if channels == 1 {
				kinds["gray photographs"] = append(kinds["gray photographs"], im)
				continue
			}
			small := new(augment.Image)
			if err := augment.Resize(small, im, 224, 224, augment.Bilinear, true); err != nil {
				t.Fatal(err)
			}
			kinds["photographs"] = append(kinds["photographs"], im)
			kinds["photographs at 224x224"] = append(kinds["photographs at 224x224"], small)
		}
	}
	for range 10 {
		kinds["drawings"] = append(kinds["drawings"], drawn(rnd, 640, 480, 3, 256))
		kinds["masks"] = append(kinds["masks"], drawn(rnd, 500, 375, 1, 21))
	}
	for range 60 {
		im := new(augment.Image)
		im.Reset(1+rnd.IntN(40), 1+rnd.IntN(9), 1+2*rnd.IntN(2))
		for i := range im.Pix {
			im.Pix[i] = uint8(rnd.Uint32())
		}
		kinds["noise"] = append(kinds["noise"], im)
	}
	dir := t.TempDir()
	path, pixels := filepath.Join(dir, "x.png"), filepath.Join(dir, "x.bin")
	for kind, list := range kinds {
		ours, theirs, seconds := 0, 0, 0.0
		var cpu time.Duration
		for _, im := range list {
			begun := processTime(t)
			data, err := augment.AppendPNG(nil, im)
			cpu += processTime(t) - begun
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string][]byte{path: data, pixels: augment.AppendRaw(nil, im)} {
				if err := os.WriteFile(name, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var answer judgedPNG
			judge(t, map[string]any{"path": path, "pixels": pixels, "width": im.Width, "height": im.Height, "channels": im.Channels}, &answer)
			if !answer.Same {
				t.Fatalf("%s: %dx%dx%d: other pixels in Pillow", kind, im.Width, im.Height, im.Channels)
			}
			ours, theirs, seconds = ours+len(data), theirs+answer.Size, seconds+answer.Seconds
		}
		t.Logf("%s: %d bytes, Pillow %d (%.3f of that); %.1f times as fast by CPU time", kind, ours, theirs, float64(ours)/float64(theirs), seconds/cpu.Seconds())
		if kind != "noise" && ours > theirs {
			t.Errorf("%s: %d bytes, Pillow %d", kind, ours, theirs)
		}
	}
}

// demoPhotographs are the files of testdata/demo.
func demoPhotographs(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../../testdata/demo/photos/*/*.jpg")
	if err != nil || len(list) == 0 {
		t.Fatalf("no photographs: %v", err)
	}
	return list
}

// drawn is an image of rectangles and ellipses of few colours.
func drawn(rnd *rand.Rand, w, h, channels, colors int) *augment.Image {
	im := new(augment.Image)
	im.Reset(w, h, channels)
	for range 25 {
		x0, y0, a, b := rnd.IntN(w), rnd.IntN(h), 1+rnd.IntN(w/4), 1+rnd.IntN(h/4)
		round := rnd.IntN(2) == 0
		var color [3]uint8
		for i := range color {
			color[i] = uint8(rnd.IntN(colors))
		}
		for y := max(0, y0-b); y < min(h, y0+b); y++ {
			for x := max(0, x0-a); x < min(w, x0+a); x++ {
				dx, dy := float64(x-x0)/float64(a), float64(y-y0)/float64(b)
				if !round || dx*dx+dy*dy <= 1 {
					copy(im.Row(y)[x*channels:][:channels], color[:])
				}
			}
		}
	}
	return im
}

// processTime is the CPU time of this process.
func processTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
