package imagefile

import (
	"encoding/binary"
	"image"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/codec/tiff"
	"github.com/tfrec/tfrec/internal/codec/webp"
)

// webpFile holds the parts of a WebP file that a still image needs (RFC 9649).
type webpFile struct {
	animated bool
	frame    []byte          // the chunks of the first frame, when animated
	at       image.Rectangle // where it continues the canvas
	alpha    bool
	lossless bool // or some part of it may be
}

// perPixel returns the bytes per pixel that decoding needs in addition to the result: the planes or
// pixels, a second time while a transform is undone or alpha is read, and the canvas of an
// animation.
func (w *webpFile) perPixel() int64 {
	n := int64(2)
	if w.alpha || w.lossless || w.animated {
		n = 8
	}
	if w.animated {
		n += 4
	}
	return n
}

// perFile returns the bytes that decoding needs regardless of the pixels: the first frame as a
// separate file, and the Huffman trees of lossless pixels, up to 2,600 groups of them.
func (w *webpFile) perFile(bytes int64) int64 {
	if w.alpha || w.lossless || w.animated {
		return bytes + min(256*bytes, 160<<20)
	}
	return bytes
}

func uint24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

func (h *header) statWebP(data []byte) error {
	list, err := webp.Content(data)
	if err != nil {
		return sniff.Damaged(sniff.WebP, "%v", err)
	}
	found, pixels := false, false
	for name, body := range webp.Chunks(list) {
		switch string(name) {
		case "VP8X":
			switch {
			case len(body) < 10:
				return sniff.Damaged(sniff.WebP, "the header is cut short")
			case found:
				return sniff.Damaged(sniff.WebP, "a second header, or one after the image data")
			}
			found = true
			h.webp.animated = body[0]&2 != 0
			h.webp.alpha = body[0]&16 != 0
			h.Width, h.Height = uint24(body[4:])+1, uint24(body[7:])+1
		case "ANMF":
			if h.webp.frame == nil && len(body) > 16 {
				x, y := 2*uint24(body), 2*uint24(body[3:])
				h.webp.at = image.Rect(x, y, x+uint24(body[6:])+1, y+uint24(body[9:])+1)
				h.webp.frame = body[16:]
			}
		case "VP8 ", "VP8L":
			if pixels { // the decoder stops at the first
				break
			}
			pixels = true
			w, ht, alpha := webpSize(string(name), body)
			if found && (w != h.Width || ht != h.Height) {
				return sniff.Damaged(sniff.WebP, "an image of %dx%d for a canvas of %dx%d", w, ht, h.Width, h.Height)
			}
			h.Width, h.Height, found = w, ht, w > 0
			h.webp.lossless = h.webp.lossless || string(name) == "VP8L"
			h.webp.alpha = h.webp.alpha || alpha
		case "EXIF":
			h.Orientation = tiff.Orientation(body)
		}
	}
	h.Alpha = h.webp.alpha
	if !found {
		return sniff.Damaged(sniff.WebP, "no image in it")
	}
	return nil
}

// webpSize reads the size from the head of the image data.
func webpSize(id string, body []byte) (w, h int, alpha bool) {
	if id == "VP8 " && len(body) >= 10 {
		return int(binary.LittleEndian.Uint16(body[6:]) & 0x3FFF), int(binary.LittleEndian.Uint16(body[8:]) & 0x3FFF), false
	}
	if id == "VP8L" && len(body) >= 5 {
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1, bits>>28&1 != 0
	}
	return 0, 0, false
}

func (c *Codec) decodeWebP(dst *bitmap.Image, data []byte, h *header, channels int) error {
	d := c.webp.Get().(*webp.Decoder)
	defer func() {
		if d.Held() <= KeptBytes {
			c.webp.Put(d)
		}
	}()
	if !h.webp.animated {
		m, err := d.Decode(data)
		if err != nil {
			return sniff.Damaged(sniff.WebP, "%v", err)
		}
		return c.convertWebP(dst, m, h, channels)
	}
	if h.webp.frame == nil || !h.webp.at.In(image.Rect(0, 0, h.Width, h.Height)) {
		return sniff.Damaged(sniff.WebP, "an animation without a first frame on its canvas")
	}
	file, ok := h.webp.still()
	if !ok {
		return sniff.Damaged(sniff.WebP, "the first frame is cut short or not as large as announced")
	}
	m, err := d.Decode(file)
	if err != nil {
		return sniff.Damaged(sniff.WebP, "first frame: %v", err)
	}
	canvas, err := c.onCanvas(m, h)
	if err != nil {
		return err
	}
	return c.convertWebP(dst, canvas, h, channels)
}

// convertWebP is convert, without alpha in between where only the colours are needed.
func (c *Codec) convertWebP(dst *bitmap.Image, m image.Image, h *header, channels int) error {
	if channels != 3 || c.background != nil {
		return c.convert(dst, m, h, channels)
	}
	if err := h.checkDecoded(m); err != nil {
		return err
	}
	var planes *image.YCbCr
	switch m := m.(type) {
	case *image.NRGBA:
		dst.Reset(h.Width, h.Height, 3)
		for y := range h.Height {
			recolor.FillRow(dst.Row(y), m.Pix[y*m.Stride:][:4*h.Width], 3)
		}
		return nil
	case *image.NYCbCrA:
		planes = &m.YCbCr
	case *image.YCbCr:
		planes = m
	}
	rows, err := jpeg.NewVideoRows(planes)
	if err != nil {
		return sniff.Unsupported(sniff.WebP, "%v", err)
	}
	dst.Reset(h.Width, h.Height, 3)
	for y := range h.Height {
		rows.RGB(dst.Row(y), y)
	}
	return nil
}

// still builds a file of only the first frame, for the decoder: up to its first image data, which
// must have the frame's size.
func (w *webpFile) still() (file []byte, ok bool) {
	var body []byte
	flags := byte(0)
	for name, chunk := range webp.Chunks(w.frame) {
		id := string(name)
		pixels := id == "VP8 " || id == "VP8L"
		switch {
		case pixels:
			x, y, _ := webpSize(id, chunk)
			ok = x == w.at.Dx() && y == w.at.Dy()
		case id == "ALPH":
			flags = 16
		default:
			continue
		}
		body = append(body, id...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(chunk)))
		body = append(body, chunk...)
		if len(chunk)&1 != 0 {
			body = append(body, 0)
		}
		if pixels {
			break
		}
	}
	file = []byte("RIFF\x00\x00\x00\x00WEBP")
	if flags != 0 {
		file = append(file, "VP8X\x0A\x00\x00\x00"...)
		x, y := uint32(w.at.Dx()-1), uint32(w.at.Dy()-1)
		file = append(file, flags, 0, 0, 0, byte(x), byte(x>>8), byte(x>>16), byte(y), byte(y>>8), byte(y>>16))
	}
	file = append(file, body...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file, ok
}

// onCanvas puts the first frame on the transparent canvas.
func (c *Codec) onCanvas(m image.Image, h *header) (image.Image, error) {
	canvas := image.Rect(0, 0, h.Width, h.Height)
	if h.webp.at == canvas {
		return m, nil
	}
	read, err := rowReader(m)
	if err != nil {
		return nil, sniff.Unsupported(sniff.WebP, "%v", err)
	}
	out := image.NewNRGBA(canvas)
	for y := range h.webp.at.Dy() {
		at := out.PixOffset(h.webp.at.Min.X, h.webp.at.Min.Y+y)
		read(out.Pix[at:at+4*h.webp.at.Dx()], y)
	}
	return out, nil
}
