package augment

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// bmpFile makes a file with a header of 40 bytes.
func bmpFile(w, h int32, depth uint16, compression uint32, masks []uint32, palette []byte, pixels []byte) []byte {
	le := binary.LittleEndian
	b := append([]byte("BM"), make([]byte, 12)...)
	b = le.AppendUint32(b, 40)
	b = le.AppendUint32(b, uint32(w))
	b = le.AppendUint32(b, uint32(h))
	b = le.AppendUint16(le.AppendUint16(b, 1), depth)
	b = le.AppendUint32(b, compression)
	b = append(b, make([]byte, 12)...)
	b = le.AppendUint32(b, uint32(len(palette)/4))
	b = append(b, 0, 0, 0, 0)
	for _, m := range masks {
		b = le.AppendUint32(b, m)
	}
	b = append(b, palette...)
	le.PutUint32(b[10:], uint32(len(b)))
	return append(b, pixels...)
}

// TestBMP reads images made here, one for each layout.
func TestBMP(t *testing.T) {
	colors := []byte{0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0} // red, green, blue, white
	red, green, blue, white := []byte{255, 0, 0}, []byte{0, 255, 0}, []byte{0, 0, 255}, []byte{255, 255, 255}
	want := bytes.Join([][]byte{red, green, blue, white}, nil) // 2x2, the upper row first
	for name, data := range map[string][]byte{
		"8 bits":           bmpFile(2, 2, 8, bmpRGB, nil, colors, []byte{2, 3, 0, 0, 0, 1, 0, 0}),
		"8 bits top down":  bmpFile(2, -2, 8, bmpRGB, nil, colors, []byte{0, 1, 0, 0, 2, 3, 0, 0}),
		"4 bits":           bmpFile(2, 2, 4, bmpRGB, nil, colors, []byte{0x23, 0, 0, 0, 0x01, 0, 0, 0}),
		"24 bits":          bmpFile(2, 2, 24, bmpRGB, nil, nil, []byte{255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0}),
		"24 bits unpadded": bmpFile(2, 2, 24, bmpRGB, nil, nil, []byte{255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0}),
		"32 bits":          bmpFile(2, 2, 32, bmpRGB, nil, nil, []byte{255, 0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 0, 0, 255, 0, 0}),
		"5-5-5":            bmpFile(2, 2, 16, bmpRGB, nil, nil, []byte{0x1F, 0, 0xFF, 0x7F, 0, 0x7C, 0xE0, 0x03}),
		"5-6-5":            bmpFile(2, 2, 16, bmpBitfields, []uint32{0xF800, 0x7E0, 0x1F}, nil, []byte{0x1F, 0, 0xFF, 0xFF, 0, 0xF8, 0xE0, 0x07}),
		"runs of 8":        bmpFile(2, 2, 8, bmpRLE8, nil, colors, []byte{1, 2, 1, 3, 0, 0, 1, 0, 1, 1, 0, 1}),
		"runs of 4":        bmpFile(2, 2, 4, bmpRLE4, nil, colors, []byte{2, 0x23, 0, 0, 2, 0x01, 0, 1}),
		"runs, no end":     bmpFile(2, 2, 4, bmpRLE4, nil, colors, []byte{2, 0x23, 0, 0, 2, 0x01}),
		"runs and a jump":  bmpFile(2, 2, 8, bmpRLE8, nil, colors, []byte{1, 2, 1, 3, 0, 0, 0, 2, 1, 0, 1, 1, 0, 1}),
	} {
		var im Image
		if _, err := newCodec(t, CodecOptions{}).Decode(&im, data, DecodeOptions{}); err != nil || !bytes.Equal(im.Pix, want) {
			t.Errorf("%s: %v, %v", name, im.Pix, err)
		}
	}
}
