package png

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// encoderBytes are the hashes of the files that TestEncoderBytes makes, by the bits of a sample.
var encoderBytes = map[int]string{
	8:  "f2c28f9f69f89deb752cd8feb5d931bfc15717f50ec88a45aaf3cbd225f52be9",
	16: "4eea05ea449edd07e2431af24c77528d50444647ac7286156a4c03248b4c79a8",
}

// TestEncoderBytes holds the encoder to the bytes that it made when it got its name: sets are updated
// by it. With other bytes it is another encoder, with another EncoderName and hash.
func TestEncoderBytes(t *testing.T) { eachFilter(t, testEncoderBytes) }

func testEncoderBytes(t *testing.T) {
	race.Skip(t)
	for depth, want := range encoderBytes {
		if got := hashOfFiles(t, depth); got != want {
			t.Errorf("%s makes files of %d bits with the hash %s, want %s", EncoderName, depth, got, want)
		}
	}
}

func hashOfFiles(t *testing.T, depth int) string {
	state := uint32(1)
	next := func() byte { // of a generator that no release of Go changes
		state = state*1664525 + 1013904223
		return byte(state >> 24)
	}
	kinds := []func(x, y int) byte{
		func(x, y int) byte { return byte(x/2+y) + next()&3 },
		func(x, y int) byte { return byte((x/9 + y/5) * 50) },
		func(int, int) byte { return next() },
		func(int, int) byte { return next() >> 7 },
		func(x, y int) byte { return byte(x * y >> 5) },
		func(int, int) byte { return 0 },
	}
	sum := sha256.New()
	var e Encoder
	var file []byte
	for _, side := range [][2]int{{1, 1}, {3, 40}, {97, 61}, {500, 375}, {2000, 9}} {
		for _, channels := range []int{1, 3} {
			for _, kind := range kinds {
				im := Pixels{Width: side[0], Height: side[1], Channels: channels, Depth: depth}
				im.Stride = im.Width * im.pixelBytes()
				for y := range im.Height {
					for x := range im.Stride {
						im.Pix = append(im.Pix, kind(x, y))
					}
				}
				var err error
				if file, err = e.Append(file[:0], im); err != nil {
					t.Fatal(err)
				}
				sum.Write(file)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
