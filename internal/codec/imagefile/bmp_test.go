package imagefile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/bmp"
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
		"8 bits":           bmpFile(2, 2, 8, bmp.PlainRGB, nil, colors, []byte{2, 3, 0, 0, 0, 1, 0, 0}),
		"8 bits top down":  bmpFile(2, -2, 8, bmp.PlainRGB, nil, colors, []byte{0, 1, 0, 0, 2, 3, 0, 0}),
		"4 bits":           bmpFile(2, 2, 4, bmp.PlainRGB, nil, colors, []byte{0x23, 0, 0, 0, 0x01, 0, 0, 0}),
		"24 bits":          bmpFile(2, 2, 24, bmp.PlainRGB, nil, nil, []byte{255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0}),
		"24 bits unpadded": bmpFile(2, 2, 24, bmp.PlainRGB, nil, nil, []byte{255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0}),
		"32 bits":          bmpFile(2, 2, 32, bmp.PlainRGB, nil, nil, []byte{255, 0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 0, 0, 255, 0, 0}),
		"5-5-5":            bmpFile(2, 2, 16, bmp.PlainRGB, nil, nil, []byte{0x1F, 0, 0xFF, 0x7F, 0, 0x7C, 0xE0, 0x03}),
		"5-6-5":            bmpFile(2, 2, 16, bmp.Bitfields, []uint32{0xF800, 0x7E0, 0x1F}, nil, []byte{0x1F, 0, 0xFF, 0xFF, 0, 0xF8, 0xE0, 0x07}),
		"runs of 8":        bmpFile(2, 2, 8, bmp.RLE8, nil, colors, []byte{1, 2, 1, 3, 0, 0, 1, 0, 1, 1, 0, 1}),
		"runs of 4":        bmpFile(2, 2, 4, bmp.RLE4, nil, colors, []byte{2, 0x23, 0, 0, 2, 0x01, 0, 1}),
		"runs, no end":     bmpFile(2, 2, 4, bmp.RLE4, nil, colors, []byte{2, 0x23, 0, 0, 2, 0x01}),
		"runs and a jump":  bmpFile(2, 2, 8, bmp.RLE8, nil, colors, []byte{1, 2, 1, 3, 0, 0, 0, 2, 1, 0, 1, 1, 0, 1}),
	} {
		var im bitmap.Image
		if _, err := newCodec(t, CodecOptions{}).Decode(&im, data, DecodeOptions{}); err != nil || !bytes.Equal(im.Pix, want) {
			t.Errorf("%s: %v, %v", name, im.Pix, err)
		}
	}
}

// TestBMPRuns: images in run lengths come out as they went in, however a writer divides them into
// runs, jumps and uncompressed pixels, and ends rows and the image.
func TestBMPRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	c := newCodec(t, CodecOptions{})
	for i := range 2000 {
		nibbles := i%2 == 1
		depth, compression, word := 8, uint32(bmp.RLE8), 4
		if nibbles {
			depth, compression, word = 4, bmp.RLE4, 8
		}
		w, h := 1+r.IntN(40), 1+r.IntN(8)
		if i%50 == 0 {
			w = 600
		}
		var palette []byte
		for k := range 1 << depth {
			palette = append(palette, byte(k), byte(k*3), byte(k*5), 0)
		}
		rows := make([][]byte, h) // from the bottom
		for y := range rows {
			rows[y] = make([]byte, w)
			for x := range rows[y] {
				switch {
				case x > 0 && r.IntN(3) > 0:
					rows[y][x] = rows[y][x-1]
				case r.IntN(3) > 0:
					rows[y][x] = byte(r.IntN(1 << depth))
				}
			}
		}
		writer := runWriter{Rand: r, nibbles: nibbles, magick: i%4 < 2}
		for y, row := range rows {
			if writer.magick { // ImageMagick writes runs up to the padding, and ends the last row, too
				row = append(bytes.Clone(row), make([]byte, (word-w%word)%word)...)
			}
			writer.row(row, y == h-1)
		}
		if writer.magick || r.IntN(2) == 0 {
			writer.out = append(writer.out, 0, 1)
		}
		var im bitmap.Image
		if _, err := c.Decode(&im, bmpFile(int32(w), int32(h), uint16(depth), compression, nil, palette, writer.out), DecodeOptions{}); err != nil {
			t.Fatalf("%dx%d, %d bits, %x: %v", w, h, depth, writer.out, err)
		}
		for y := range h {
			for x, v := range rows[h-1-y] {
				if got := im.Row(y)[3*x:][:3]; !bytes.Equal(got, []byte{v * 5, v * 3, v}) {
					t.Fatalf("%dx%d, %d bits: %v at %d,%d, want index %d", w, h, depth, got, x, y, v)
				}
			}
		}
	}
}

// runWriter writes run lengths at random.
type runWriter struct {
	*rand.Rand
	nibbles, magick bool
	out             []byte
}

// row writes a row; the end of the last one may be left out.
func (w *runWriter) row(row []byte, last bool) {
	for len(row) > 0 {
		zeros := 0
		for zeros < len(row) && zeros < 255 && row[zeros] == 0 {
			zeros++
		}
		switch how := w.IntN(4); {
		case w.magick:
			w.run(&row, 255)
		case how == 0 && zeros > 0:
			w.out = append(w.out, 0, 2, byte(zeros), 0)
			row = row[zeros:]
		case how == 1 && len(row) >= 3:
			n := 3 + w.IntN(min(len(row), 255)-2)
			w.out = append(w.out, 0, byte(n))
			from := len(w.out)
			w.pack(row[:n])
			if (len(w.out)-from)%2 != 0 {
				w.out = append(w.out, 0)
			}
			row = row[n:]
		default:
			w.run(&row, 1+w.IntN(255))
		}
	}
	if w.magick || !last || w.IntN(2) == 0 {
		w.out = append(w.out, 0, 0)
	}
}

// run writes a run of at most some pixels: of one index, or two in turn.
func (w *runWriter) run(row *[]byte, most int) {
	in := *row
	period := 1
	if w.nibbles && len(in) > 1 {
		period = 2
	}
	n := 1
	for n < len(in) && n < most && (n < period || in[n] == in[n-period]) {
		n++
	}
	value := in[0]
	if w.nibbles {
		value = in[0]<<4 | in[min(1, len(in)-1)]
	}
	w.out = append(w.out, byte(n), value)
	*row = in[n:]
}

// pack writes pixels as they are.
func (w *runWriter) pack(row []byte) {
	if !w.nibbles {
		w.out = append(w.out, row...)
		return
	}
	for ; len(row) > 0; row = row[min(2, len(row)):] {
		b := row[0] << 4
		if len(row) > 1 {
			b |= row[1]
		}
		w.out = append(w.out, b)
	}
}

// TestBMPRunsLeaveTheImage: only the padding of a row may have runs beyond its end.
func TestBMPRunsLeaveTheImage(t *testing.T) {
	c := newCodec(t, CodecOptions{})
	for runs, ok := range map[string]bool{
		"\x08\x01\x00\x01": true, "\x09\x01\x00\x01": false, "\x05\x01\x04\x01\x00\x01": false,
		"\x00\x02\x08\x00\x00\x01": true, "\x00\x02\x09\x00\x00\x01": false, "\x00\x02\x00\x02\x00\x01": false,
	} {
		_, err := c.Decode(new(bitmap.Image), bmpFile(5, 1, 8, bmp.RLE8, nil, make([]byte, 1024), []byte(runs)), DecodeOptions{})
		if (err == nil) != ok {
			t.Errorf("%x: %v", runs, err)
		}
	}
}
