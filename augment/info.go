package augment

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/jpeg"
)

// Info is what a picture's header says.
type Info struct {
	Format        Format
	Width, Height int // in pixels, as stored: before orientation
	Channels      int // 1 or 3: what Decode gives when asked for 0
	// Orientation is EXIF's: 1 upright, 2 mirrored, 3 upside down, 4 that mirrored, 5 to 8
	// on their sides; 1 when the picture says nothing or nonsense.
	Orientation int
	// Keepable says that this is an RGB or grayscale JPEG or PNG with 8 bits a sample or less
	// and no transparency, in a coding that every decoder reads: its bytes may be stored as they are.
	Keepable bool

	alpha  bool // some pixels may be transparent
	planar bool // a JPEG whose planes the decoder gives as they are
	usual  bool // a JPEG that backends are asked to decode
}

// Oriented is the size that decoding gives: Width and Height, exchanged for a picture on its side.
func (i Info) Oriented() (w, h int) {
	if i.Orientation >= 5 {
		return i.Height, i.Width
	}
	return i.Width, i.Height
}

// header is what is read before pixels are.
type header struct {
	Info
	jpeg jpeg.Header
	png  int // bits a pixel
	webp webpFile
	bmp  bmpHeader
}

// Stat reads a picture's header. It takes no memory to speak of, and checks the limit on
// pixels. Errors wrap one of the package's sentinels.
func (c *Codec) Stat(data []byte) (Info, error) {
	h, err := c.header(data)
	return h.Info, err
}

func (c *Codec) header(data []byte) (header, error) {
	h := header{Info: Info{Format: Sniff(data), Channels: 3, Orientation: 1}}
	var err error
	switch h.Format {
	case JPEG:
		err = h.statJPEG(data)
		if err == nil {
			_, h.planar = c.jpeg.Planes(&h.jpeg)
			_, h.usual = h.jpeg.Usual()
			h.usual = h.usual && int64(h.Width)*int64(h.Height) <= maxCoded
		}
	case PNG:
		err = h.statPNG(data)
	case GIF:
		err = h.statGIF(data)
	case BMP:
		err = h.statBMP(data)
	case WebP:
		err = h.statWebP(data)
	case TIFF:
		err = h.statTIFF(data)
	default:
		return h, fmt.Errorf("%w: %s", ErrNotPicture, describe(data))
	}
	if err != nil {
		return h, err
	}
	if h.Width <= 0 || h.Height <= 0 {
		return h, damaged(h.Format, "its size is %dx%d", h.Width, h.Height)
	}
	if n := int64(h.Width) * int64(h.Height); n > c.maxPixels {
		return h, fmt.Errorf("%w: %dx%d are %d, the limit is %d", ErrTooManyPixels, h.Width, h.Height, n, c.maxPixels)
	}
	return h, nil
}

// describe says what there is in the place of a picture.
func describe(data []byte) string {
	switch n := min(len(data), 16); {
	case n == 0:
		return "the file is empty"
	case n < 3:
		return fmt.Sprintf("the file has %d bytes only", n)
	default:
		return fmt.Sprintf("it begins with %q", data[:n])
	}
}

func damaged(f Format, format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, named(f, fmt.Sprintf(format, args...)))
}

func unsupported(f Format, format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, named(f, fmt.Sprintf(format, args...)))
}

// named puts a format in front of a text, unless a decoder has done so.
func named(f Format, text string) string {
	prefix := string(f) + ": "
	return prefix + strings.TrimPrefix(text, prefix)
}

func (h *header) statJPEG(data []byte) error {
	var err error
	if h.jpeg, err = jpeg.ParseHeader(data); err != nil {
		return err
	}
	h.Width, h.Height, h.Channels = h.jpeg.Width, h.jpeg.Height, h.jpeg.Channels()
	h.Orientation = exifOrientation(h.jpeg.Exif)
	h.Keepable = h.jpeg.Huffman() && h.jpeg.ColorSpace <= jpeg.ColorRGB
	return nil
}

func (h *header) statPNG(data []byte) error {
	p := data[len(pngSignature):]
	if len(p) < 8+13+4 || string(p[4:8]) != "IHDR" || binary.BigEndian.Uint32(p) != 13 {
		return damaged(PNG, "no header chunk")
	}
	w, ht := binary.BigEndian.Uint32(p[8:]), binary.BigEndian.Uint32(p[12:])
	if w > 1<<31-1 || ht > 1<<31-1 {
		return damaged(PNG, "its size is %dx%d", w, ht)
	}
	h.Width, h.Height = int(w), int(ht)
	bits, kind := p[16], p[17] // kind: 1 palette, 2 colour, 4 alpha
	if kind&2 == 0 {
		h.Channels = 1
	}
	h.alpha = kind&4 != 0
	h.png = int(bits)
	switch kind {
	case 2:
		h.png *= 3
	case 4:
		h.png *= 2
	case 6:
		h.png *= 4
	}
	for p = p[8+13+4:]; len(p) >= 12; {
		n := int64(binary.BigEndian.Uint32(p))
		if n > int64(len(p)-12) {
			break // decoding will say so
		}
		switch string(p[4:8]) {
		case "tRNS":
			h.alpha = true
		case "eXIf":
			h.Orientation = exifOrientation(p[8 : 8+n])
		}
		p = p[12+n:]
	}
	h.Keepable = bits <= 8 && (kind == 0 || kind == 2) && !h.alpha
	return nil
}

func (h *header) statGIF(data []byte) error {
	if len(data) < 13 {
		return damaged(GIF, "the file has %d bytes only", len(data))
	}
	h.Width, h.Height = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	h.alpha = true
	return nil
}
