package imagefile

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/bmp"
	"github.com/tfrec/tfrec/internal/codec/jpeg"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/codec/tiff"
)

// Info describes an image by its header.
type Info struct {
	Format        sniff.Format
	Width, Height int // in pixels, as stored: before orientation
	Channels      int // 1 or 3: the channels of Decode if 0 is requested
	// Orientation is EXIF's: 1 upright, 2 mirrored, 3 upside down, 4 upside down and mirrored, 5 to
	// 8 on their sides; 1 if the image has no valid orientation.
	Orientation int
	// Keepable reports whether this is an RGB or grayscale JPEG or PNG without transparency, of any
	// depth, in a coding that every decoder reads: its bytes may be stored unchanged.
	Keepable bool
	// Deep reports whether samples have more than 8 bits. Decode returns the upper 8 of them, and
	// [Codec.AppendDeepPNG] 16.
	Deep bool
	// Floats reports whether samples are floats. Decode converts them to 8 bits by
	// [CodecOptions.FloatRange].
	Floats bool
	// Alpha reports whether the image has an alpha channel or a transparent colour: some pixels may
	// be transparent.
	Alpha bool
	// Mask reports whether [Codec.DecodeMask] reads the image: a grayscale PNG with 8 bits a sample
	// or less and no transparency, or a PNG with a palette.
	Mask bool
	// Usual reports, from the header alone, whether backends with a decoder may decode the image: a
	// JPEG of up to 67 million pixels (2^26), baseline in one scan or progressive, 8 bits, gray or
	// YCbCr with subsampling 420, 422, 440 or 444, with its own Huffman tables and 8-bit
	// quantisation tables, of any orientation. The codec decodes all others: other formats, 411 and
	// odd subsamplings, CMYK, YCCK and stored RGB, arithmetic coding, frames of motion JPEG.
	Usual bool

	tensorFlow bool  // see TensorFlow
	planar     bool  // a JPEG whose planes the decoder gives as they are
	memory     int64 // see Memory
}

// Oriented is the size that decoding gives: Width and Height, exchanged for an image on its side.
func (i Info) Oriented() (w, h int) {
	if i.Orientation >= 5 {
		return i.Height, i.Width
	}
	return i.Width, i.Height
}

// Memory is about the most bytes that [Codec.Decode] needs at full size with any decoder, including
// the result but not the file. It grows with the pixels: docs/security.md has the bytes a pixel of
// each format.
func (i Info) Memory() int64 { return i.memory }

// TensorFlow reports whether tf.io.decode_image opens images of this kind: JPEG, PNG, GIF, WebP
// without an animation, and uncompressed BMP of 8, 24 or 32 bits a pixel that ends with its pixels.
func (i Info) TensorFlow() bool { return i.tensorFlow }

// How many pixels an image may have for each byte of its file, in addition to a quarter of
// [CodecOptions.MaxPixels]. Deflate makes 8,256 pixels of one bit each of a byte, fax coding a row
// of a bit. JPEG, whose data have a bit for each block at least, has a rule of its own.
const (
	pixelsPerByte    = 1 << 13
	pixelsPerFaxByte = 1 << 16
)

// header holds everything that is read before the pixels.
type header struct {
	Info
	jpeg    jpeg.Header
	png     pngHeader
	webp    webpFile
	bmp     bmp.Header
	tiff    tiff.Header
	perByte int64 // the most pixels per byte of the file; 0: no limit
}

// Stat reads an image's header. It needs little memory, and checks the limits on sides and pixels.
// Errors wrap one of the package's sentinels.
func (c *Codec) Stat(data []byte) (Info, error) {
	h, err := c.header(data)
	return h.Info, err
}

func (c *Codec) header(data []byte) (h header, err error) {
	h = header{Info: Info{Format: sniff.Sniff(data), Channels: 3, Orientation: 1}, perByte: pixelsPerByte}
	defer sniff.Recovered(h.Format, &err)
	switch h.Format {
	case sniff.JPEG:
		h.perByte = 0
		err = h.statJPEG(data)
		if err == nil {
			_, h.planar = c.jpeg.Planes(&h.jpeg)
			_, h.Usual = h.jpeg.Usual()
			h.Usual = h.Usual && int64(h.Width)*int64(h.Height) <= maxUsual
		}
	case sniff.PNG:
		err = h.statPNG(data)
	case sniff.GIF:
		err = h.statGIF(data)
	case sniff.BMP:
		h.bmp, err = bmp.Stat(data)
		h.Width, h.Height, h.Alpha, h.Deep = h.bmp.Width, h.bmp.Height, h.bmp.Alpha, h.bmp.HasDeep
	case sniff.WebP:
		err = h.statWebP(data)
	case sniff.TIFF:
		err = h.statTIFF(data)
	default:
		return h, fmt.Errorf("%w: %s", sniff.ErrNotImage, sniff.Describe(data))
	}
	if err == nil {
		err = c.checkSize(&h, len(data))
	}
	if err == nil {
		h.memory = h.decodeMemory(len(data))
		h.tensorFlow = h.opensInTensorFlow(len(data))
	}
	return h, err
}

// checkSize holds the size of an image to the limits.
func (c *Codec) checkSize(h *header, bytes int) error {
	w, ht := h.Width, h.Height
	if w <= 0 || ht <= 0 {
		return sniff.Damaged(h.Format, "its size is %dx%d", w, ht)
	}
	if w > bitmap.MaxSourceSide || ht > bitmap.MaxSourceSide {
		return fmt.Errorf("%w: %dx%d, and no side may have over %d", sniff.ErrTooManyPixels, w, ht, bitmap.MaxSourceSide)
	}
	high, n := bits.Mul64(uint64(w), uint64(ht))
	if high != 0 || n > uint64(c.maxPixels) {
		return fmt.Errorf("%w: %dx%d are %d, the limit is %d", sniff.ErrTooManyPixels, w, ht, n, c.maxPixels)
	}
	if h.perByte == 0 {
		return nil
	}
	// Neither term overflows: a file is below 2^40 bytes.
	if most := max(c.maxPixels, DefaultMaxPixels)/4 + h.perByte*int64(bytes); int64(n) > most {
		return fmt.Errorf("%w: %dx%d are %d, and a file of %d bytes may have %d: a quarter of the limit, and %d for each byte",
			sniff.ErrTooManyPixels, w, ht, n, bytes, most, h.perByte)
	}
	return nil
}

// decodeMemory is [Info.Memory] for a file of that size.
func (h *header) decodeMemory(bytes int) int64 {
	n := int64(h.Width) * int64(h.Height)
	perPixel := int64(3) // the result
	if h.Orientation != 1 {
		perPixel += 3 // before it is turned upright
	}
	switch h.Format {
	case sniff.JPEG:
		return n*perPixel + h.jpeg.Memory() + int64(bytes) // the data without stuffing
	case sniff.PNG:
		return n*perPixel + h.png.memory()
	case sniff.GIF:
		perPixel += 2 // the frame and the screen
	case sniff.BMP:
		if h.bmp.RunLengths() {
			perPixel++
		}
	case sniff.WebP:
		return n*(perPixel+h.webp.perPixel()) + h.webp.perFile(int64(bytes))
	}
	return n * perPixel
}

// opensInTensorFlow is [Info.TensorFlow] for a file of that size.
func (h *header) opensInTensorFlow(bytes int) bool {
	switch h.Format {
	case sniff.JPEG, sniff.PNG, sniff.GIF:
		return true
	case sniff.WebP:
		return !h.webp.animated // on which TensorFlow 2.21 aborts
	case sniff.BMP:
		return h.bmp.Plain(bytes)
	}
	return false
}

func (h *header) statJPEG(data []byte) error {
	var err error
	if h.jpeg, err = jpeg.ParseHeader(data); err != nil {
		return err
	}
	h.Width, h.Height, h.Channels = h.jpeg.Width, h.jpeg.Height, h.jpeg.Channels()
	h.Orientation = tiff.Orientation(h.jpeg.Exif)
	h.Keepable = h.jpeg.Huffman() && h.jpeg.ColorSpace <= jpeg.ColorRGB
	return nil
}

func (h *header) statPNG(data []byte) error {
	p := data[len(sniff.PNGSignature):]
	if len(p) < 8+13+4 || string(p[4:8]) != "IHDR" || binary.BigEndian.Uint32(p) != 13 {
		return sniff.Damaged(sniff.PNG, "no header chunk")
	}
	w, ht := binary.BigEndian.Uint32(p[8:]), binary.BigEndian.Uint32(p[12:])
	if w > 1<<31-1 || ht > 1<<31-1 {
		return sniff.Damaged(sniff.PNG, "its size is %dx%d", w, ht)
	}
	h.Width, h.Height = int(w), int(ht)
	bits, kind := p[16], p[17] // kind: 1 palette, 2 colour, 4 alpha
	if kind&2 == 0 {
		h.Channels = 1
	}
	h.Alpha = kind&4 != 0
	h.png = pngHeader{width: int64(w), bits: int64(bits) * [8]int64{1, 1, 3, 1, 2, 2, 4, 4}[kind&7]}
	for p = p[8+13+4:]; len(p) >= 12; {
		n := int64(binary.BigEndian.Uint32(p))
		if n > int64(len(p)-12) {
			break // decoding will report it
		}
		switch string(p[4:8]) {
		case "tRNS":
			h.Alpha = true
		case "eXIf":
			h.Orientation = tiff.Orientation(p[8 : 8+n])
		}
		p = p[12+n:]
	}
	h.Keepable, h.Deep = (kind == 0 || kind == 2) && !h.Alpha, bits == 16
	h.Mask = kind == 3 || h.Keepable && kind == 0 && !h.Deep
	return nil
}

func (h *header) statTIFF(data []byte) (err error) {
	if h.tiff, err = tiff.Stat(data); err != nil {
		return err
	}
	h.Width, h.Height, h.Orientation, h.Channels = h.tiff.Width, h.tiff.Height, h.tiff.Orientation, h.tiff.Channels
	h.Alpha, h.Deep, h.Floats = h.tiff.Alpha, h.tiff.Deep, h.tiff.Floats
	if h.tiff.Fax {
		h.perByte = pixelsPerFaxByte
	}
	return nil
}

func (h *header) statGIF(data []byte) error {
	if len(data) < 13 {
		return sniff.Damaged(sniff.GIF, "the file has %d bytes only", len(data))
	}
	h.Width, h.Height = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	h.Alpha = true
	return nil
}

// maxUsual is the largest image, in pixels, that is left to the decoders of backends. It is the
// same on every machine: the decoder of an image must not depend on the memory available.
const maxUsual = 1 << 26
