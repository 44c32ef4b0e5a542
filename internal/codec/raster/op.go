package raster

// Kind is the kind of an operation.
type Kind uint32

// The kinds. For each, one thread handles (x, y), for all of Width times Height. Threads read
// nothing that another thread of the operation writes.
const (
	// Weigh makes sample x of row y of Dst: Σ weights[j] * Src[0][first+j] / 1<<22, rounded and
	// clipped. Width counts samples, not pixels. Table[0] has, as int32, first[n], count[n] and
	// then weight j of output i at j*n+i. Arg: n; 0 to sum along the row (by pixel of the row), 1
	// down the column (by row); the number to subtract from first; a Precision.
	Weigh Kind = iota
	// Pick copies pixel (xs[x], ys[y]) of Src[0]. Table[0] is xs and Table[1] ys, as int32; a
	// negative one does not change Dst. Without a table it is x, or y.
	Pick
	// Convert converts Y, Cb and Cr, in Src, to a pixel of RGB. Arg: the number of pixels that a
	// chroma sample represents, across and down; 1 to interpolate by libjpeg's triangle filter, 0
	// to repeat; where the first pixel is in the whole image, x and y; the size of a whole chroma
	// plane; which sample of that is the first in Src, x and y.
	Convert
	// Paint changes a pixel of Dst. Arg: a Paint mode; the colour, or the seed
	// of noise.
	Paint
	// Recolor looks samples up in Table[0] and what it gives in Table[1], both of
	// 256 bytes or, by Arg[1] and Arg[2], 256 for each channel, and then does
	// to the pixel what Arg[0] says: a Tint, with Real[0] as factor or Arg[3] as turn.
	Recolor
	// Sum adds the luminance of some pixels, Run of a row, each sample looked up in
	// Table[0] first, to the uint64 at Dst. Arg: pixels in a row; 0, or 1 for a
	// table of 256 bytes a channel.
	Sum
	// Count counts the samples of some pixels, Run of a row, by channel and
	// level, looked up as in Sum, in the uint32 [3][256] at Dst.
	Count
	// Levels computes a table of 256 bytes for a channel x. Arg: a Levels mode; for Contrast,
	// pixels. Src[0] is the result of Sum or Count.
	Levels
	// Turn reads from Src[0] the place that Real, a matrix, returns, or takes the colour Arg[4:7]
	// outside of it. Arg: a Turn mode; the size of the source. Fixed has its matrix in Arg[7:13],
	// with 16 fraction bits.
	Turn
	// Sharpen mixes a pixel with the mean of those around it, by the factor
	// Real[0].
	Sharpen
	// Blur weighs the samples around sample x by half a bell curve in Table[0], uint32. Width
	// counts samples. Arg: pixels to each side; 0 along the row, bytes to uint32, or 1 down the
	// column, uint32 to bytes.
	Blur
	// Noise adds to sample i, y*Width+x, quantiles of a normal distribution,
	// which are Table[0], int16. Width counts samples. Arg: mean and sigma as the CPU has
	// them; the seed.
	Noise
	// Normalize looks pixel (x, y) up in Table[0], float32 by channel and
	// level, and writes float32 from Dst.At on. Arg: 0 for channels last, 1 for
	// channels first.
	Normalize

	// Kinds is the number of kinds.
	Kinds
)

var kindNames = [Kinds]string{
	"weigh", "pick", "convert", "paint", "recolor", "sum", "count", "levels", "turn", "sharpen", "blur", "noise", "normalize",
}

// String returns the name, which is also the kernel's name after "tfrec_".
func (k Kind) String() string { return kindNames[k] }

// Run is the number of pixels of a row that a thread of Sum or Count handles.
const Run = 64

// The samples of Weigh: bytes on both sides, or on one side 16 bits with 6 fraction bits.
const (
	Bytes    = 0
	ToWide   = 1
	FromWide = 2
)

// The modes of Paint.
const (
	Fill = 0 // the colour Arg[1:4]
	Mean = 1 // the mean with it, halves rounded up
	Fuzz = 2 // random bytes of SplitMix64, from the seed Arg[1]
)

// The tints of Recolor, for images of three channels.
const (
	Plain = 0
	Mix   = 1 // mixed with the luminance
	Gray  = 2 // the luminance
	Wheel = 3 // the hue turned
)

// The modes of Levels.
const (
	Contrast = 0 // mixed with the mean, by Real[0]
	Equalize = 1
	Stretch  = 2
)

// The modes of Turn.
const (
	Fixed    = 0
	Bilinear = 1
	Bicubic  = 2
)

// Op is an operation. Its layout is C's, in little-endian order: a change of a field needs the same
// change in gpu/kernels/raster.h.
type Op struct {
	Kind          Kind
	Channels      int32 // 1 or 3
	Width, Height int32 // of the operation's threads
	Src           [3]View
	Dst           View
	Table         [2]Address
	Arg           [13]int64
	Real          [6]float64
	// Begin is the first block of threads of the operation in its launch.
	Begin int64
}
