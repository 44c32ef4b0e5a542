package imagefile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/bmp"
	"github.com/tfrec/tfrec/internal/codec/png/pngtest"
	"github.com/tfrec/tfrec/internal/dev/imagetest"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// orientedPNG adds a chunk eXIf after IHDR.
func orientedPNG(data []byte, orientation int) []byte {
	const end = 8 + 12 + 13 // of IHDR
	exif := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[19] = byte(orientation)
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(exif))), "eXIf"...)
	chunk = append(chunk, exif...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return bytes.Join([][]byte{data[:end], chunk, data[end:]}, nil)
}

// TestDeepPNG: all 16 bits of the colours of a PNG are kept, whatever its colour type, interlaced,
// transparent or turned.
func TestDeepPNG(t *testing.T) {
	r := torture.Rand(t)
	c := newCodec(t, CodecOptions{})
	for _, spec := range pngtest.All(func() (int, int) { return 1 + r.IntN(50), 1 + r.IntN(20) }) {
		file := spec.Encode(r)
		orientation := 1 + r.IntN(8)
		data, info, err := c.AppendDeepPNG([]byte("before"), orientedPNG(file, orientation))
		if info.Deep != (spec.Depth == 16) || info.Deep != (err == nil) {
			t.Fatalf("deep: %t, %v; %+v", info.Deep, err, spec)
		}
		if err != nil {
			continue
		}
		got, err := png.Decode(bytes.NewReader(data[len("before"):]))
		if err != nil {
			t.Fatal(err)
		}
		if gray := got.ColorModel() == color.Gray16Model; gray != (info.Channels == 1) || !gray && got.ColorModel() != color.RGBA64Model {
			t.Fatalf("%d channels come back as %T; %+v", info.Channels, got, spec)
		}
		stored, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		samples := bitmap.Image{}
		samples.Reset(spec.Width, spec.Height, 6)
		for y := range spec.Height {
			for x := range spec.Width {
				p := samples.Row(y)[6*x:]
				v := color.NRGBA64Model.Convert(stored.At(x, y)).(color.NRGBA64)
				for i, v := range []uint16{v.R, v.G, v.B} {
					binary.BigEndian.PutUint16(p[2*i:], v)
				}
			}
		}
		var want bitmap.Image
		bitmap.Orient(&want, &samples, orientation)
		for y := range want.Height {
			for x := range want.Width {
				r, g, b, _ := got.At(x, y).RGBA()
				p := want.Row(y)[6*x:]
				if w := [3]uint32{uint32(p[0])<<8 | uint32(p[1]), uint32(p[2])<<8 | uint32(p[3]), uint32(p[4])<<8 | uint32(p[5])}; [3]uint32{r, g, b} != w {
					t.Fatalf("%v at %d,%d, want %v; orientation %d, %+v", [3]uint32{r, g, b}, x, y, w, orientation, spec)
				}
			}
		}
	}
}

// TestDeepErrors: only images of more than 8 bits become PNGs of 16, and damage is found.
func TestDeepErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := newCodec(t, CodecOptions{})
	deep := (&pngtest.Spec{Width: 20, Height: 20, Depth: 16, Color: pngtest.RGBA}).Encode(r)
	for name, data := range map[string][]byte{
		"cut": deep[:len(deep)/2], "not an image": []byte("text"),
		"a JPEG": imagetest.Picture(t, "made-ok-160x88.jpg"), "8 bits": (&pngtest.Spec{Width: 20, Height: 20, Depth: 8, Color: pngtest.RGB}).Encode(r),
	} {
		if out, _, err := c.AppendDeepPNG([]byte("x"), data); err == nil || string(out) != "x" {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
		}
	}
	if _, _, err := newCodec(t, CodecOptions{Background: new([3]uint8)}).AppendDeepPNG(nil, deep); err == nil {
		t.Error("a background was ignored")
	}
}

// TestDeepBMP: samples of 10 bits are scaled to 16.
func TestDeepBMP(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	pixels := binary.LittleEndian.AppendUint32(nil, 1023<<20|512<<10|1)
	data, info, err := c.AppendDeepPNG(nil, bmpFile(1, 1, 32, bmp.Bitfields, []uint32{1023 << 20, 1023 << 10, 1023}, nil, pixels))
	if err != nil || !info.Deep {
		t.Fatal(info, err)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.At(0, 0), (color.RGBA64{65535, 32800, 64, 65535}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
