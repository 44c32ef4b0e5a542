// Package imagekey has the keys of the features in tfrec's records of images, with the names of
// TensorFlow's models where these exist. The keys of objects are in internal/annotation/objects.
package imagekey

// The features of an image's record, sorted.
const (
	Copy        = "augment/copy"
	Ops         = "augment/ops"
	Channels    = "image/channels"
	Label       = "image/class/label"
	MixLabel    = "image/class/mix/label"
	MixWeight   = "image/class/mix/weight"
	Synset      = "image/class/synset"
	Text        = "image/class/text"
	Colorspace  = "image/colorspace"
	Decoder     = "image/decoder"
	Encoded     = "image/encoded"
	Filename    = "image/filename"
	Format      = "image/format"
	Height      = "image/height"
	Orientation = "image/orientation"
	Width       = "image/width"
)

// All are all of them, sorted.
var All = []string{Copy, Ops, Channels, Label, MixLabel, MixWeight, Synset, Text, Colorspace, Decoder, Encoded, Filename, Format, Height, Orientation, Width}
