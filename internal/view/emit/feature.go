package emit

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard/stats"
)

// Feature is one feature, as a program parses it.
type Feature struct {
	Key string
	// Stray means that the key is not UTF-8.
	Stray bool
	// Kind of its values: "bytes", "float" or "int64".
	Kind string
	// Shape of a record's values (of a step's, of a feature list): none for one value.
	Shape []int
	// Ragged values may be of any number, none among them.
	Ragged bool
	// Values is the range of the number of values of a record or step.
	Values stats.Range
	// Missing is the number of records without the feature. Unless it is ragged, they get a default
	// value: Int for int64, NaN for float, and no bytes.
	Missing int64
	Int     int64
	// Text means that bytes are UTF-8.
	Text bool
	// Image is the format of an encoded image: "jpeg", "png", "gif", "webp" or "mixed"; empty for
	// other features.
	Image string
	// Mask means that pixels of the image are classes.
	Mask bool
	// DType is the element type of an array whose bytes these are: "uint8" or "float32".
	DType string
	// Size is the shape of the image or array: height, width and channels, -1
	// for what varies.
	Size []int
	// Names are the names of a label by its id.
	Names []string
}

// One reports whether each record has one value, or a default.
func (f *Feature) One() bool { return !f.Ragged && len(f.Shape) == 0 }

// Varies reports whether images differ in size.
func (f *Feature) Varies() bool { return f.Image != "" && slices.Contains(f.Size, -1) }

// Says describes the values in a few words, for a comment.
func (f *Feature) Says() string {
	switch {
	case f.Mask:
		return f.Image + " masks: a class for each pixel"
	case f.Image == mixedFormat:
		return "images of several formats"
	case f.Image != "":
		return f.Image + " images"
	case f.Ragged && f.Values.Min == f.Values.Max && f.Missing > 0:
		return fmt.Sprintf("%s, missing in %s", plural.Of(f.Values.Max, "value"), plural.Of(f.Missing, "record"))
	case f.Ragged:
		return fmt.Sprintf("%d to %d values", f.Values.Min, f.Values.Max)
	case f.Missing > 0:
		return "missing in " + plural.Of(f.Missing, "record")
	}
	return ""
}

const mixedFormat = "mixed"

// newFeature returns a feature as seen in the records, with the manifest's declarations as far as
// they hold, or the reason why a program cannot parse it.
func newFeature(seen *stats.FeatureSummary, declared map[string]manifest.Feature) (f Feature, why string) {
	f = Feature{Key: seen.Key, Values: seen.Values, Missing: seen.Missing, Text: seen.Text}
	for _, kind := range []string{"bytes", "float", "int64"} {
		if seen.Kinds[kind] == 0 {
			continue
		}
		if f.Kind != "" {
			return f, fmt.Sprintf("some records have %s values, others %s", f.Kind, kind)
		}
		f.Kind = kind
	}
	if f.Kind == "" {
		return f, "it has no values in any record"
	}
	switch n := f.Values; {
	case isObjects(f.Key), n.Min != n.Max, n.Max < 1, n.Max > math.MaxInt32, n.Max > 1 && f.Missing > 0:
		f.Ragged = true
	case n.Max > 1:
		f.Shape = []int{int(n.Max)}
	}
	f.Int = -1
	if seen.Int64 != nil && seen.Int64.Min < 0 {
		f.Int = math.MinInt64
	}
	f.declare(declared[f.Key])
	if f.One() && f.Missing == 0 && seen.Steps == nil && f.Kind == "bytes" && f.DType == "" {
		f.Image = imageFormat(seen)
	}
	if f.Image != "" {
		if f.Size == nil {
			f.Size = []int{-1, -1, 3}
		}
		if f.Mask = f.Key == objects.KeySegmentation; f.Mask {
			f.Size = []int{f.Size[0], f.Size[1], 1}
		}
		f.Size = f.channels(f.Size)
	}
	return f, ""
}

// channels returns size with a number of channels that all decoders support, else with 3, RGB.
func (f *Feature) channels(size []int) []int {
	if c := size[2]; c == 1 || c == 3 || c == 4 && f.Image == "png" {
		return size
	}
	return []int{size[0], size[1], 3}
}

// declare applies the manifest's declarations that do not contradict the records.
func (f *Feature) declare(as manifest.Feature) {
	if as.Kind != f.Kind || f.Ragged {
		return
	}
	switch as.Class {
	case manifest.ClassVector:
		if product(as.Shape) == f.Values.Max {
			f.Shape = as.Shape
		}
	case manifest.ClassImage:
		if len(as.Shape) == 3 {
			f.Size = as.Shape
		}
	case manifest.ClassTensor:
		if f.One() && f.Missing == 0 && (as.DType == "uint8" || as.DType == "float32") && len(as.Shape) > 0 {
			f.DType, f.Size = as.DType, as.Shape
		}
	}
}

// product is the number of values in a shape; -1 where a side varies.
func product(shape []int) int64 {
	n := int64(1)
	for _, side := range shape {
		if side < 1 || n > math.MaxInt32 {
			return -1
		}
		n *= int64(side)
	}
	return n
}

// imageFormat returns the format of a feature of which every value begins as
// an image does.
func imageFormat(seen *stats.FeatureSummary) string {
	format, n := "", int64(0)
	for name, count := range seen.Formats {
		n += count
		if format != "" {
			name = mixedFormat
		}
		format = name
	}
	if n != seen.Records {
		return ""
	}
	return format
}

// sizeImages finds the size of a set's images if no manifest says it: from the features with the
// size, if these are the same in all records.
func (d *Dataset) sizeImages(sum *stats.Summary) {
	i := slices.IndexFunc(d.Features, func(f Feature) bool { return f.Key == imagekey.Encoded && f.Image != "" })
	if i < 0 {
		return
	}
	size := slices.Clone(d.Features[i].Size)
	for side, key := range []string{imagekey.Height, imagekey.Width, imagekey.Channels} {
		k := slices.IndexFunc(sum.Features, func(f stats.FeatureSummary) bool { return f.Key == key })
		if k < 0 {
			continue
		}
		f := &sum.Features[k]
		if f.Missing == 0 && f.Int64 != nil && f.Int64.Min == f.Int64.Max && f.Int64.Min > 0 && f.Int64.Min <= math.MaxInt32 {
			size[side] = int(f.Int64.Min)
		}
	}
	d.Features[i].Size = d.Features[i].channels(size)
}
