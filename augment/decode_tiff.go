package augment

import (
	"encoding/binary"
	"slices"

	"golang.org/x/image/ccitt"

	"github.com/tfrec/tfrec/internal/optname"
)

// Values of TIFF fields that describe pixels (TIFF 6.0).
const (
	tiffWhiteIsZero = 0 // photometric interpretations
	tiffBlackIsZero = 1
	tiffRGB         = 2
	tiffPalette     = 3
	tiffCMYK        = 5

	tiffNone       = 1 // compressions
	tiffGroup3     = 3
	tiffGroup4     = 4
	tiffLZW        = 5
	tiffDeflate    = 8
	tiffDeflateOld = 32946
	tiffPackBits   = 32773

	faxTwoDimensions = 1 << 0 // options of group 3
	faxFill          = 1 << 2 // each end of a line ends with a byte

	tiffWhole  = 1 // sample formats
	tiffSigned = 2
	tiffFloat  = 3

	tiffDifference      = 2 // of predictors: horizontal
	tiffFloatDifference = 3

	tiffNoAlpha      = 0 // kinds of the sample after the colours
	tiffAssociated   = 1 // alpha, which the colours are multiplied by
	tiffUnassociated = 2
)

// tiffFile describes the position and the storage of a TIFF file's pixels. They are in strips or
// tiles, called blocks here.
type tiffFile struct {
	data  []byte
	order binary.ByteOrder

	width, height           int // of the image
	tiled                   bool
	blockWidth, blockHeight int // strips are as wide as the image
	across, down            int // blocks
	offsets, sizes          tiffNumbers
	compression             int
	faxOrder                ccitt.Order

	photometric   int
	bits, samples int // of a sample, of a pixel
	float         *floatRange
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

// tiffHeader holds what the first directory states of an image.
type tiffHeader struct {
	width, height, orientation, channels int
	alpha, deep, floats                  bool
	// fax reports whether the pixels are in fax coding, which makes a row of a bit.
	fax bool
}

// statTIFF reads the first directory.
func statTIFF(data []byte) (h tiffHeader, err error) {
	d, ok := openTIFF(data)
	if !ok {
		return h, damaged(TIFF, "no directory")
	}
	h.width, h.height = d.number(tagWidth, 0), d.number(tagHeight, 0)
	h.orientation, h.channels = d.orientation(), 3
	photometric, samples := d.number(tagPhotometric, tiffWhiteIsZero), d.number(tagSamples, 1)
	if photometric <= tiffBlackIsZero && samples <= 2 {
		h.channels = 1
	}
	h.alpha = d.alpha(photometric, samples) != tiffNoAlpha
	format := d.number(tagFormat, tiffWhole)
	h.deep = d.number(tagBits, 1) == 16 && format == tiffWhole
	h.floats = format == tiffFloat
	c := d.number(tagCompression, tiffNone)
	h.fax = c == tiffGroup3 || c == tiffGroup4
	return h, nil
}

// tiffOptions are how the pixels of a TIFF file are decoded.
type tiffOptions struct {
	channels   int         // 1 or 3
	deep       bool        // samples of 16 bits
	background *[3]uint8   // nil drops alpha
	floats     *floatRange // nil does not support floats
}

// decodeTIFF decodes an image whose header was read.
func decodeTIFF(dst *Image, data []byte, h *tiffHeader, o tiffOptions) error {
	d, ok := openTIFF(data)
	if !ok {
		return damaged(TIFF, "no directory")
	}
	t := tiffFile{data: data, order: d.order, width: h.width, height: h.height}
	if err := t.readPixelFormat(&d, o.floats); err != nil {
		return err
	}
	if err := t.readLayout(&d); err != nil {
		return err
	}
	pixel := o.channels
	if o.deep {
		pixel *= 2
	}
	dst.Reset(h.width, h.height, pixel)
	return t.decode(dst, o)
}

// readPixelFormat reads the format of a pixel. Floats become samples if their range is known.
func (t *tiffFile) readPixelFormat(d *tiffDirectory, floats *floatRange) error {
	t.photometric = d.number(tagPhotometric, tiffWhiteIsZero)
	bits := d.numbers(tagBits)
	t.bits, t.samples = d.number(tagBits, 1), d.number(tagSamples, max(1, bits.len()))
	if bits.len() > 1 && bits.len() != t.samples {
		return damaged(TIFF, "%d samples a pixel, and the bits of %d", t.samples, bits.len())
	}
	for i := range bits.len() {
		if bits.at(i) != t.bits {
			return unsupported(TIFF, "samples of %d and of %d bits", t.bits, bits.at(i))
		}
	}
	if err := t.readFormat(d, floats); err != nil {
		return err
	}
	if t.samples > 1 && d.number(tagPlanar, 1) != 1 {
		return unsupported(TIFF, "each sample in a plane of its own")
	}
	switch p := d.number(tagPredictor, 1); {
	case !hasPredictor(d.number(tagCompression, tiffNone)): // others don't look at it, as libtiff
	case p == tiffDifference && t.float == nil && (t.bits == 8 || t.bits == 16), p == tiffFloatDifference && t.float != nil:
		t.predictor = p
	case p != 1:
		return unsupported(TIFF, "predictor %d with samples of %d bits", p, t.bits)
	}
	if t.alpha = d.alpha(t.photometric, t.samples); t.alpha > tiffUnassociated {
		return unsupported(TIFF, "extra samples of kind %d", t.alpha)
	}
	ok := false
	switch t.photometric {
	case tiffWhiteIsZero, tiffBlackIsZero:
		switch {
		case t.float != nil:
			ok = t.samples == 1
		case t.samples == 2:
			ok = t.photometric == tiffBlackIsZero && (t.bits == 8 || t.bits == 16)
		default:
			ok = t.samples == 1 && slices.Contains([]int{1, 2, 4, 8, 16}, t.bits)
		}
		if ok && t.bits <= 8 {
			t.setGrays()
		}
	case tiffRGB:
		ok = t.samples == 3 && t.float != nil || (t.samples == 3 || t.samples == 4) && (t.bits == 8 || t.bits == 16)
	case tiffPalette:
		ok = t.samples == 1 && slices.Contains([]int{1, 2, 4, 8}, t.bits)
		t.readPalette(d)
	case tiffCMYK:
		ok = t.samples == 4 && t.bits == 8
	}
	if !ok {
		return unsupported(TIFF, "photometric interpretation %d with %d samples of %d bits", t.photometric, t.samples, t.bits)
	}
	return nil
}

// readFormat reads the format of a sample. t.bits must be set.
func (t *tiffFile) readFormat(d *tiffDirectory, floats *floatRange) error {
	formats := d.numbers(tagFormat)
	if formats.len() == 0 {
		return nil
	}
	format := formats.at(0)
	for i := range formats.len() {
		if f := formats.at(i); f != format {
			return unsupported(TIFF, "samples of formats %d and %d", format, f)
		}
	}
	switch format {
	case tiffWhole:
		return nil
	case tiffSigned:
		return unsupported(TIFF, "signed samples: the file does not say which of them are black and white")
	case tiffFloat:
		if t.bits != 32 && t.bits != 64 {
			return unsupported(TIFF, "floats of %d bits", t.bits)
		}
		if floats == nil {
			return unsupported(TIFF, "samples are floats, and the file does not say which of them are black and white (%s does)", optname.CodecOptionsFloatRange)
		}
		t.float = floats
		return nil
	}
	return unsupported(TIFF, "sample format %d", format)
}

// hasPredictor reports whether the file can store differences with this compression.
func hasPredictor(compression int) bool {
	return compression == tiffLZW || compression == tiffDeflate || compression == tiffDeflateOld
}

// alpha returns the kind of the sample after the colours of a pixel. If the file does not state it,
// as OpenCV's files do not, it is alpha, as in Pillow.
func (d *tiffDirectory) alpha(photometric, samples int) int {
	if samples == 2 || samples == 4 && photometric == tiffRGB {
		return d.number(tagExtra, tiffUnassociated)
	}
	return tiffNoAlpha
}

// readPalette reads the colour map: the reds, then the greens, then the blues, of 16 bits each.
func (t *tiffFile) readPalette(d *tiffDirectory) {
	n := d.numbers(tagColorMap)
	t.colors = min(n.len()/3, len(t.palette))
	for i := range t.colors {
		setPixel(t.palette[i][:], byte(n.at(i)>>8), byte(n.at(t.colors+i)>>8), byte(n.at(2*t.colors+i)>>8), 255)
	}
}

// setGrays makes a palette of the levels of gray.
func (t *tiffFile) setGrays() {
	t.colors = 1 << t.bits
	for i := range t.colors {
		v := byte(i * 255 / (t.colors - 1))
		if t.photometric == tiffWhiteIsZero {
			v = 255 - v
		}
		setPixel(t.palette[i][:], v, v, v, 255)
	}
}

// readLayout finds the blocks, and returns an error if blocks would be decoded many times over.
func (t *tiffFile) readLayout(d *tiffDirectory) error {
	order := d.number(tagFillOrder, 1)
	t.faxOrder = ccitt.MSB
	switch t.compression = d.number(tagCompression, tiffNone); t.compression {
	case 0: // some writers' word for none
		t.compression = tiffNone
	case tiffNone, tiffLZW, tiffDeflate, tiffDeflateOld, tiffPackBits:
		if order != 1 {
			return unsupported(TIFF, "fill order %d", order)
		}
	case tiffGroup3, tiffGroup4:
		if t.bits*t.samples != 1 {
			return damaged(TIFF, "fax coding with %d samples of %d bits", t.samples, t.bits)
		}
		if options := d.number(tagFax, 0); t.compression == tiffGroup3 && options&(faxTwoDimensions|faxFill) != 0 {
			return unsupported(TIFF, "fax coding of group 3 with options %d: two dimensions, or lines filled up to whole bytes", options)
		}
		if order == 2 {
			t.faxOrder = ccitt.LSB
		}
	default:
		return unsupported(TIFF, "compression %d", t.compression)
	}
	t.blockWidth, t.blockHeight = t.width, t.height
	if w := d.number(tagTileWidth, 0); w != 0 {
		t.tiled, t.blockWidth, t.blockHeight = true, w, d.number(tagTileHeight, 0)
		t.offsets, t.sizes = d.numbers(tagTileOffsets), d.numbers(tagTileSizes)
		if min(t.blockWidth, t.blockHeight) < minTileSide || max(t.blockWidth, t.blockHeight) > MaxSourceSide {
			return damaged(TIFF, "tiles of %dx%d", t.blockWidth, t.blockHeight)
		}
	} else {
		t.offsets, t.sizes = d.numbers(tagStripOffsets), d.numbers(tagStripSizes)
		if rows := d.number(tagStripRows, 0); rows > 0 {
			t.blockHeight = min(rows, t.height)
		}
	}
	t.across, t.down = (t.width+t.blockWidth-1)/t.blockWidth, (t.height+t.blockHeight-1)/t.blockHeight
	// All sides are at most twice MaxSourceSide: no product overflows.
	if padded := int64(t.across*t.blockWidth) * int64(t.down*t.blockHeight); padded > maxTilePadding*int64(t.width)*int64(t.height)+freeTilePixels {
		return damaged(TIFF, "%d tiles of %dx%d pixels for an image of %dx%d", t.across*t.down, t.blockWidth, t.blockHeight, t.width, t.height)
	}
	if n := t.across * t.down; t.offsets.len() < n || t.sizes.len() < n {
		return damaged(TIFF, "%d blocks, and the offsets of %d and the sizes of %d", n, t.offsets.len(), t.sizes.len())
	}
	return t.checkOffsets()
}

// maxSharedData bounds the compressed data of all blocks together, as a multiple of the file's
// size. Whole files stay below 1; some writers round sizes up.
const maxSharedData = 2

// checkOffsets returns an error for blocks that share their data: decoding takes time for each
// compressed byte of each block, even for codes that yield no pixels.
func (t *tiffFile) checkOffsets() error {
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
			return damaged(TIFF, "two blocks begin at byte %d", list[i])
		}
	}
	if t.compression != tiffNone && total > maxSharedData*len(t.data) {
		return damaged(TIFF, "blocks overlap: %d bytes of compressed data in a file of %d", total, len(t.data))
	}
	return nil
}
