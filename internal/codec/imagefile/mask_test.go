package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
)

// A mask has the classes that were stored, whatever the bits of a sample.
func TestDecodeMask(t *testing.T) {
	const width, height = 13, 11 // no multiples of what a byte has
	background := [3]uint8{9, 9, 9}
	for _, c := range []*Codec{newCodec(t, CodecOptions{}), newCodec(t, CodecOptions{Background: &background})} {
		for _, depth := range []int{1, 2, 4, 8} {
			for _, kind := range []byte{pngGray, pngPalette} {
				for _, interlaced := range []bool{false, true} {
					name := fmt.Sprintf("%d bits, type %d, interlaced %t", depth, kind, interlaced)
					want := make([]byte, width*height)
					for i := range want {
						want[i] = byte(i * 37 % (1 << depth))
					}
					var mask bitmap.Image
					info, err := c.DecodeMask(&mask, samplesPNG(width, want, depth, kind, interlaced))
					if err != nil || !info.Mask {
						t.Errorf("%s: %+v, %v", name, info, err)
						continue
					}
					if mask.Width != width || mask.Height != height || mask.Channels != 1 || !slices.Equal(mask.Pix, want) {
						t.Errorf("%s: %dx%dx%d %v; want %v", name, mask.Width, mask.Height, mask.Channels, mask.Pix, want)
					}
				}
			}
		}
	}
}

func TestDecodeMaskRefuses(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	var mask bitmap.Image
	for _, file := range []string{"made-gray.jpg", "pngsuite-basn0g16.png", "made-la.png", "made-rgba.png", "made-png-named.jpg", "made-gif-named.jpg", "pillow-g4_orientation_6.tif"} {
		info, err := c.DecodeMask(&mask, imagetest.Picture(t, file))
		if !errors.Is(err, sniff.ErrUnsupported) || info.Mask {
			t.Errorf("%s: %+v, %v; want it unsupported", file, info, err)
		}
	}
	whole := samplesPNG(64, make([]byte, 64*64), 8, pngPalette, false)
	for n := range whole[:len(whole)-12] { // decoders do not need the last chunk
		if _, err := c.DecodeMask(&mask, whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are accepted", n, len(whole))
		}
	}
}

// The color types of the PNGs of samplesPNG.
const (
	pngGray    = 0
	pngPalette = 3
)

// samplesPNG returns a PNG with one sample a pixel, as the specification has it.
func samplesPNG(width int, samples []byte, depth int, kind byte, interlaced bool) []byte {
	height := len(samples) / width
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, byte(depth), kind, 0, 0, 0)
	passes := [][4]int{{0, 0, 1, 1}} // the first column and row, and the steps between them
	if interlaced {
		header[len(header)-1] = 1
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	var data bytes.Buffer
	z := zlib.NewWriter(&data)
	for _, p := range passes {
		for y := p[1]; y < height; y += p[3] {
			row, free := []byte{0}, 0 // no filter
			for x := p[0]; x < width; x += p[2] {
				if free == 0 {
					row, free = append(row, 0), 8
				}
				free -= depth
				row[len(row)-1] |= samples[y*width+x] << free
			}
			z.Write(row)
		}
	}
	z.Close()
	out := []byte(sniff.PNGSignature)
	chunk := func(name string, data []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		body := append([]byte(name), data...)
		out = binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
	}
	chunk("IHDR", header)
	if kind == pngPalette {
		chunk("PLTE", bytes.Repeat([]byte{7, 50, 200}, 1<<depth)) // one color for all classes
	}
	chunk("IDAT", data.Bytes())
	chunk("IEND", nil)
	return out
}
