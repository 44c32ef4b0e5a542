package tiff

import (
	"encoding/binary"
	"slices"

	"golang.org/x/image/ccitt"

	"github.com/tfrec/tfrec/internal/codec/bitmap"
	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/sniff"
	"github.com/tfrec/tfrec/internal/optname"
)

// Values of TIFF fields that describe pixels (TIFF 6.0).
const (
	WhiteIsZero = 0 // photometric interpretations
	BlackIsZero = 1
	RGB         = 2
	Palette     = 3
	CMYK        = 5

	None       = 1 // compressions
	Group3     = 3
	Group4     = 4
	LZW        = 5
	Deflate    = 8
	DeflateOld = 32946
	PackBits   = 32773

	FaxTwoDimensions = 1 << 0 // options of group 3
	FaxFill          = 1 << 2 // each end of a line ends with a byte

	Whole  = 1 // sample formats
	signed = 2
	Float  = 3

	Difference      = 2 // of predictors: horizontal
	FloatDifference = 3

	noAlpha      = 0 // kinds of the sample after the colours
	Associated   = 1 // alpha, which the colours are multiplied by
	Unassociated = 2
)

// file describes the position and the storage of a TIFF file's pixels. They are in strips or
// tiles, called blocks here.
type file struct {
	data  []byte
	order binary.ByteOrder

	width, height           int // of the image
	tiled                   bool
	blockWidth, blockHeight int // strips are as wide as the image
	across, down            int // blocks
	offsets, sizes          numbers
	compression             int
	faxOrder                ccitt.Order

	photometric   int
	bits, samples int // of a sample, of a pixel
	float         *Range
	predictor     int // 0: none
	alpha         int
	palette       [256][4]byte
	colors        int // of palette
}

// Limits on tiles. According to the specification, their sides are multiples of 16; smaller ones
// would take longer to start than to decode. All tiles of an image together, which may extend
// beyond it, may have maxTilePadding times its pixels, and freeTilePixels.
const (
	minTileSide    = 16
	maxTilePadding = 16
	freeTilePixels = 1 << 24
)

// Header holds what the first directory states of an image.
type Header struct {
	Width, Height, Orientation, Channels int
	Alpha, Deep, Floats                  bool
	// Fax reports whether the pixels are in fax coding, which makes a row of a bit.
	Fax bool
}

// Stat reads the first directory.
func Stat(data []byte) (h Header, err error) {
	d, ok := Open(data)
	if !ok {
		return h, sniff.Damaged(sniff.TIFF, "no directory")
	}
	h.Width, h.Height = d.Number(TagWidth, 0), d.Number(TagHeight, 0)
	h.Orientation, h.Channels = d.orientation(), 3
	photometric, samples := d.Number(TagPhotometric, WhiteIsZero), d.Number(TagSamples, 1)
	if photometric <= BlackIsZero && samples <= 2 {
		h.Channels = 1
	}
	h.Alpha = d.alpha(photometric, samples) != noAlpha
	format := d.Number(TagFormat, Whole)
	h.Deep = d.Number(TagBits, 1) == 16 && format == Whole
	h.Floats = format == Float
	c := d.Number(TagCompression, None)
	h.Fax = c == Group3 || c == Group4
	return h, nil
}

// Options are how the pixels of a TIFF file are decoded.
type Options struct {
	Channels   int       // 1 or 3
	Deep       bool      // samples of 16 bits
	Background *[3]uint8 // nil drops alpha
	Floats     *Range    // nil does not support floats
}

// Decode decodes an image whose header was read.
func Decode(dst *bitmap.Image, data []byte, h *Header, o Options) error {
	d, ok := Open(data)
	if !ok {
		return sniff.Damaged(sniff.TIFF, "no directory")
	}
	t := file{data: data, order: d.order, width: h.Width, height: h.Height}
	if err := t.readPixelFormat(&d, o.Floats); err != nil {
		return err
	}
	if err := t.readLayout(&d); err != nil {
		return err
	}
	pixel := o.Channels
	if o.Deep {
		pixel *= 2
	}
	dst.Reset(h.Width, h.Height, pixel)
	return t.decode(dst, o)
}

// readPixelFormat reads the format of a pixel. Floats become samples if their range is known.
func (t *file) readPixelFormat(d *Directory, floats *Range) error {
	t.photometric = d.Number(TagPhotometric, WhiteIsZero)
	bits := d.numbers(TagBits)
	t.bits, t.samples = d.Number(TagBits, 1), d.Number(TagSamples, max(1, bits.len()))
	if bits.len() > 1 && bits.len() != t.samples {
		return sniff.Damaged(sniff.TIFF, "%d samples a pixel, and the bits of %d", t.samples, bits.len())
	}
	for i := range bits.len() {
		if bits.at(i) != t.bits {
			return sniff.Unsupported(sniff.TIFF, "samples of %d and of %d bits", t.bits, bits.at(i))
		}
	}
	if err := t.readFormat(d, floats); err != nil {
		return err
	}
	if t.samples > 1 && d.Number(TagPlanar, 1) != 1 {
		return sniff.Unsupported(sniff.TIFF, "each sample in a plane of its own")
	}
	switch p := d.Number(TagPredictor, 1); {
	case !HasPredictor(d.Number(TagCompression, None)): // others don't look at it, as libtiff
	case p == Difference && t.float == nil && (t.bits == 8 || t.bits == 16), p == FloatDifference && t.float != nil:
		t.predictor = p
	case p != 1:
		return sniff.Unsupported(sniff.TIFF, "predictor %d with samples of %d bits", p, t.bits)
	}
	if t.alpha = d.alpha(t.photometric, t.samples); t.alpha > Unassociated {
		return sniff.Unsupported(sniff.TIFF, "extra samples of kind %d", t.alpha)
	}
	ok := false
	switch t.photometric {
	case WhiteIsZero, BlackIsZero:
		switch {
		case t.float != nil:
			ok = t.samples == 1
		case t.samples == 2:
			ok = t.photometric == BlackIsZero && (t.bits == 8 || t.bits == 16)
		default:
			ok = t.samples == 1 && slices.Contains([]int{1, 2, 4, 8, 16}, t.bits)
		}
		if ok && t.bits <= 8 {
			t.setGrays()
		}
	case RGB:
		ok = t.samples == 3 && t.float != nil || (t.samples == 3 || t.samples == 4) && (t.bits == 8 || t.bits == 16)
	case Palette:
		ok = t.samples == 1 && slices.Contains([]int{1, 2, 4, 8}, t.bits)
		t.readPalette(d)
	case CMYK:
		ok = t.samples == 4 && t.bits == 8
	}
	if !ok {
		return sniff.Unsupported(sniff.TIFF, "photometric interpretation %d with %d samples of %d bits", t.photometric, t.samples, t.bits)
	}
	return nil
}

// readFormat reads the format of a sample. t.bits must be set.
func (t *file) readFormat(d *Directory, floats *Range) error {
	formats := d.numbers(TagFormat)
	if formats.len() == 0 {
		return nil
	}
	format := formats.at(0)
	for i := range formats.len() {
		if f := formats.at(i); f != format {
			return sniff.Unsupported(sniff.TIFF, "samples of formats %d and %d", format, f)
		}
	}
	switch format {
	case Whole:
		return nil
	case signed:
		return sniff.Unsupported(sniff.TIFF, "signed samples: the file does not say which of them are black and white")
	case Float:
		if t.bits != 32 && t.bits != 64 {
			return sniff.Unsupported(sniff.TIFF, "floats of %d bits", t.bits)
		}
		if floats == nil {
			return sniff.Unsupported(sniff.TIFF, "samples are floats, and the file does not say which of them are black and white (%s does)", optname.CodecOptionsFloatRange)
		}
		t.float = floats
		return nil
	}
	return sniff.Unsupported(sniff.TIFF, "sample format %d", format)
}

// HasPredictor reports whether the file can store differences with this compression.
func HasPredictor(compression int) bool {
	return compression == LZW || compression == Deflate || compression == DeflateOld
}

// alpha returns the kind of the sample after the colours of a pixel. If the file does not state it,
// as OpenCV's files do not, it is alpha, as in Pillow.
func (d *Directory) alpha(photometric, samples int) int {
	if samples == 2 || samples == 4 && photometric == RGB {
		return d.Number(TagExtra, Unassociated)
	}
	return noAlpha
}

// readPalette reads the colour map: the reds, then the greens, then the blues, of 16 bits each.
func (t *file) readPalette(d *Directory) {
	n := d.numbers(TagColorMap)
	t.colors = min(n.len()/3, len(t.palette))
	for i := range t.colors {
		recolor.SetPixel(t.palette[i][:], byte(n.at(i)>>8), byte(n.at(t.colors+i)>>8), byte(n.at(2*t.colors+i)>>8), 255)
	}
}

// setGrays makes a palette of the levels of gray.
func (t *file) setGrays() {
	t.colors = 1 << t.bits
	for i := range t.colors {
		v := byte(i * 255 / (t.colors - 1))
		if t.photometric == WhiteIsZero {
			v = 255 - v
		}
		recolor.SetPixel(t.palette[i][:], v, v, v, 255)
	}
}

// readLayout finds the blocks, and returns an error if blocks would be decoded many times over.
func (t *file) readLayout(d *Directory) error {
	order := d.Number(TagFillOrder, 1)
	t.faxOrder = ccitt.MSB
	switch t.compression = d.Number(TagCompression, None); t.compression {
	case 0: // some writers' word for none
		t.compression = None
	case None, LZW, Deflate, DeflateOld, PackBits:
		if order != 1 {
			return sniff.Unsupported(sniff.TIFF, "fill order %d", order)
		}
	case Group3, Group4:
		if t.bits*t.samples != 1 {
			return sniff.Damaged(sniff.TIFF, "fax coding with %d samples of %d bits", t.samples, t.bits)
		}
		if options := d.Number(TagFax, 0); t.compression == Group3 && options&(FaxTwoDimensions|FaxFill) != 0 {
			return sniff.Unsupported(sniff.TIFF, "fax coding of group 3 with options %d: two dimensions, or lines filled up to whole bytes", options)
		}
		if order == 2 {
			t.faxOrder = ccitt.LSB
		}
	default:
		return sniff.Unsupported(sniff.TIFF, "compression %d", t.compression)
	}
	t.blockWidth, t.blockHeight = t.width, t.height
	if w := d.Number(TagTileWidth, 0); w != 0 {
		t.tiled, t.blockWidth, t.blockHeight = true, w, d.Number(TagTileHeight, 0)
		t.offsets, t.sizes = d.numbers(TagTileOffsets), d.numbers(TagTileSizes)
		if min(t.blockWidth, t.blockHeight) < minTileSide || max(t.blockWidth, t.blockHeight) > bitmap.MaxSourceSide {
			return sniff.Damaged(sniff.TIFF, "tiles of %dx%d", t.blockWidth, t.blockHeight)
		}
	} else {
		t.offsets, t.sizes = d.numbers(TagStripOffsets), d.numbers(TagStripSizes)
		if rows := d.Number(TagStripRows, 0); rows > 0 {
			t.blockHeight = min(rows, t.height)
		}
	}
	t.across, t.down = (t.width+t.blockWidth-1)/t.blockWidth, (t.height+t.blockHeight-1)/t.blockHeight
	// All sides are at most twice MaxSourceSide: no product overflows.
	if padded := int64(t.across*t.blockWidth) * int64(t.down*t.blockHeight); padded > maxTilePadding*int64(t.width)*int64(t.height)+freeTilePixels {
		return sniff.Damaged(sniff.TIFF, "%d tiles of %dx%d pixels for an image of %dx%d", t.across*t.down, t.blockWidth, t.blockHeight, t.width, t.height)
	}
	if n := t.across * t.down; t.offsets.len() < n || t.sizes.len() < n {
		return sniff.Damaged(sniff.TIFF, "%d blocks, and the offsets of %d and the sizes of %d", n, t.offsets.len(), t.sizes.len())
	}
	return t.checkOffsets()
}

// maxSharedData bounds the compressed data of all blocks together, as a multiple of the file's
// size. Whole files stay below 1; some writers round sizes up.
const maxSharedData = 2

// checkOffsets returns an error for blocks that share their data: decoding takes time for each
// compressed byte of each block, even for codes that yield no pixels.
func (t *file) checkOffsets() error {
	list := make([]int, 0, t.across*t.down)
	total := 0
	for i := range t.across * t.down {
		if size := len(t.block(i)); size > 0 {
			list = append(list, t.offsets.at(i))
			total += size
		}
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] {
			return sniff.Damaged(sniff.TIFF, "two blocks begin at byte %d", list[i])
		}
	}
	if t.compression != None && total > maxSharedData*len(t.data) {
		return sniff.Damaged(sniff.TIFF, "blocks overlap: %d bytes of compressed data in a file of %d", total, len(t.data))
	}
	return nil
}
