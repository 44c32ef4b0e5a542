package imagefile

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/bmp"
	"github.com/tfrec/tfrec/internal/codec/tiff"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// side of the images of TestMemory, in pixels: large compared with what decoding needs for any
// image.
const memorySide = 2048

// stillWebP makes a lossless WebP file of one colour.
func stillWebP(w, h int) []byte {
	body := []byte{0x2F, 0, 0, 0, 0, 0x88, 0x88, 0x08, 0, 0, 0, 0}
	binary.LittleEndian.PutUint32(body[1:], uint32(w-1)|uint32(h-1)<<14|0x10000000)
	file := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x0c\x00\x00\x00"), body...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// runsBMP makes a BMP file of rows of runs.
func runsBMP(w, h int) []byte {
	var rows []byte
	for range h {
		for x := 0; x < w; x += 255 {
			rows = append(rows, byte(min(255, w-x)), 1)
		}
		rows = append(rows, 0, 0)
	}
	file := make([]byte, 54+8)
	copy(file, "BM")
	for at, v := range map[int]int{10: len(file), 14: 40, 18: w, 22: h, 30: bmp.RLE8, 46: 2} {
		binary.LittleEndian.PutUint32(file[at:], uint32(v))
	}
	binary.LittleEndian.PutUint16(file[26:], 1)
	binary.LittleEndian.PutUint16(file[28:], 8)
	return append(append(file, rows...), 0, 1)
}

// smallGIF makes a GIF whose first frame is one pixel of a large screen.
func smallGIF(tb testing.TB, w, h int) []byte {
	tb.Helper()
	var out bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black, color.White})
	err := gif.EncodeAll(&out, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: image.Config{ColorModel: frame.Palette, Width: w, Height: h}})
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// largeImages are images of every kind that decoders take memory for in their own ways.
func largeImages(tb testing.TB) map[string][]byte {
	tb.Helper()
	const side = memorySide
	list := map[string][]byte{"WebP": stillWebP(side, side), "BMP": runsBMP(side, side), "GIF": smallGIF(tb, side, side)}
	all := image.Rect(0, 0, side, side)
	for name, m := range map[string]image.Image{
		"PNG, gray": image.NewGray(all), "PNG, gray of 16 bits": image.NewGray16(all), "PNG": image.NewRGBA(all), "PNG, alpha of 16 bits": image.NewNRGBA64(all),
		"PNG, palette": image.NewPaletted(all, color.Palette{color.Black, color.White}),
	} {
		var out bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, m); err != nil {
			tb.Fatal(err)
		}
		list[name] = out.Bytes()
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, s := range map[string]tiffSpec{
		"TIFF":                 {photometric: tiff.RGB, samples: 3, bits: 8, compression: tiff.Deflate},
		"TIFF of 16 bits":      {photometric: tiff.RGB, samples: 4, bits: 16, alpha: tiff.Associated, compression: tiff.LZW, blockHeight: 16},
		"TIFF, gray, in tiles": {samples: 1, bits: 8, compression: tiff.PackBits, tiled: true, blockWidth: 512, blockHeight: 512},
	} {
		s.order, s.width, s.height = binary.LittleEndian, side, side/4
		list[name] = s.write(r, func(x, y int) []uint32 { return []uint32{1, 2, 3, 4} })
	}
	c := newCodec(tb, CodecOptions{Decoder: "go"})
	for sub, im := range map[string]*bitmap.Image{"420": {Channels: 3}, "444": {Channels: 3}, "gray": {Channels: 1}} {
		im.Reset(side, side, im.Channels)
		data, err := c.AppendJPEG(nil, im, 90, sub)
		if err != nil {
			tb.Fatal(err)
		}
		list["JPEG "+sub] = data
		list["JPEG "+sub+", upside down"] = bytes.Replace(data, []byte{0xFF, 0xDB}, append([]byte("\xFF\xE1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x03\x00\x00\x00\x00\x00\x00"), 0xFF, 0xDB), 1)
	}
	return list
}

// TestMemory holds what decoding allocates to what Info.Memory says, and the CPU that it takes to
// what docs/security.md does.
func TestMemory(t *testing.T) {
	race.Skip(t)
	c := newCodec(t, CodecOptions{Decoder: "go"})
	for name, data := range largeImages(t) {
		t.Run(name, func(t *testing.T) {
			info, err := c.Stat(data)
			if err != nil {
				t.Fatal(err)
			}
			pixels := int64(info.Width * info.Height)
			allocated, cpu := cost(func() {
				if _, err := c.Decode(new(bitmap.Image), data, DecodeOptions{Channels: 3}); err != nil {
					t.Fatal(err)
				}
			})
			each := cpu / time.Duration(pixels)
			t.Logf("%.2f bytes and %v a pixel, %.2f said", float64(allocated)/float64(pixels), each, float64(info.Memory())/float64(pixels))
			if int64(allocated) > info.Memory()+info.Memory()/50+3<<20 {
				t.Errorf("%d bytes were allocated, Memory says %d", allocated, info.Memory())
			}
			if each > 200*time.Nanosecond {
				t.Errorf("%v a pixel", each)
			}
		})
	}
}

// TestLargeImagesAreGivenBack: what a large image made grow is not kept for the next one.
func TestLargeImagesAreGivenBack(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	large := c.takeScratch()
	large.Pix = make([]uint8, KeptBytes+1)
	c.keepScratch(large)
	for range 10 {
		if c.takeScratch() == large {
			t.Fatal("an image of over 64 MiB was kept")
		}
	}
}
