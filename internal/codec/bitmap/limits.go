package bitmap

// Limits on what images are resized to.
const (
	// MaxSide is the longest side of a resized image, in pixels.
	MaxSide = 65535
	// MaxPixels is the maximum number of pixels of a resized image, equal to the default of
	// [imagefile.Codec].
	MaxPixels = 178956970
	// MaxSourceSide is the longest side of an image that is decoded or resized, in pixels.
	MaxSourceSide = 1 << 20
	// MaxScaled bounds the sides of the resized image that a window is
	// cut from, which is never in memory.
	MaxScaled = 1<<31 - 1
)
