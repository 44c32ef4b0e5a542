package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/optname"
)

// ImageOptions configure how images become records. The zero value stores the images of class
// directories unchanged.
type ImageOptions struct {
	plan.Options

	// ArchiveFormat is the meaning of the members of archives. Default: AutoFormat.
	ArchiveFormat ArchiveFormat
	// ImageKey is the key of the feature with the image in a source of TFRecords; it is stored as
	// image/encoded. If it is given, the source is read as TFRecords whatever its name. Default:
	// image/encoded. Of Parquet and Arrow files it is the column with the images: bytes, or structs
	// of bytes and path. Default: the only column of such structs, or the one called image.
	ImageKey string
	// Select chooses the files of the source that become samples. Default: all images.
	Select SelectSpec
	// Labels configures the source of labels. Default: the names of the first directories.
	Labels LabelSpec
	// Features are columns of Labels.File or of a source of Parquet or Arrow files, or keys in the
	// .json members of a WebDataset, that become features of the records, under their own names. A
	// row without a value, or with an empty text, gives no feature. Default: none.
	Features []FeatureSpec
	// Annotations configure objects and masks of the images. Default: nothing.
	Annotations AnnotationSpec
	// Rename maps the default keys of features to new ones.
	Rename map[string]string

	// Augment makes variants of the images. Default: none.
	Augment AugmentSpec
	// Resize is the size of stored images, and how they get it. Default: not at all.
	Resize augment.ResizeSpec
	// ExactPixels decodes at full size and to RGB before resizing, even where planes or a reduced
	// decode would do.
	ExactPixels bool
	// Encode configures the stored form of images. Default: unchanged, or as JPEG if an option changes
	// pixels.
	Encode EncodeSpec

	// Codec configures decoding, and the images that are rejected.
	Codec augment.CodecOptions
	// Memory bounds the total size of the images in progress, over all workers, in bytes: their
	// files, pixels and records. Images that are requested ahead from a store count, and take up to
	// a quarter of it. An image that takes more by itself is processed alone. The set does not
	// depend on it. Default: a quarter of the memory available to this process (of the machine or
	// its control group, or GOMEMLIMIT if that is less; 2 GiB is assumed if the machine does not
	// report it).
	Memory int64
	// Backend draws, resizes and normalises decoded images. It does not affect the set: all
	// backends make the same bytes. Default: [augment.CPU].
	Backend augment.Backend
	// BackendDecodes lets Backend, which must have a method Decoder like the backend of package
	// gpu, decode common JPEGs (Usual in [augment.Info]), after our own check for damage. The
	// decoder of the set is then that decoder followed by the decoder of Codec, and each record
	// names the one that decoded it.
	BackendDecodes bool
}

// Complete fills in defaults and returns an error for invalid options. columns reports that the
// source may have a column of labels.
func (o *ImageOptions) Complete(columns bool) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Resizes() {
		if err := o.Resize.Validate(); err != nil {
			return plan.OptionErrorf(optname.ImageOptionsResize, "%v", err)
		}
	}
	if err := o.Encode.complete(o.changesPixels()); err != nil {
		return err
	}
	switch {
	case o.ExactPixels && !o.Resizes() && o.Augment.Policy == nil:
		return plan.OptionErrorf(optname.ImageOptionsExactPixels, "is for %s and %s: without them pixels are always exact", optname.ImageOptionsResize, optname.AugmentSpecPolicy)
	case o.Memory < 0:
		return plan.OptionErrorf(optname.ImageOptionsMemory, "%d is negative", o.Memory)
	case o.Labels.SplitColumn != "" && len(o.Splits) > 0:
		return plan.OptionErrorf(optname.LabelSpecSplitColumn, "cannot be combined with %s, which replaces the splits of the source", optname.OptionsSplits)
	}
	if err := o.Labels.check(len(o.Features) > 0, columns); err != nil {
		return err
	}
	if err := o.checkAnnotations(); err != nil {
		return err
	}
	own := func(key string) bool {
		return slices.ContainsFunc(o.keys(), func(name string) bool { return o.Key(name) == key })
	}
	if err := checkFeatures(optname.ImageOptionsFeatures, o.Features, own); err != nil {
		return err
	}
	if err := o.ArchiveFormat.check(); err != nil {
		return err
	}
	if err := o.Select.check(); err != nil {
		return err
	}
	if err := o.checkBackend(); err != nil {
		return err
	}
	if err := o.Augment.complete(); err != nil {
		return err
	}
	return o.checkRename()
}

// changesPixels reports whether an option changes the source's pixels.
func (o *ImageOptions) changesPixels() bool {
	return o.Resizes() || o.Augment.Policy != nil || o.Encode.Channels != 0 && o.Encode.Format != Raw && o.Encode.Format != Float32 || o.Codec.Background != nil
}

// Resizes reports whether images get another size.
func (o *ImageOptions) Resizes() bool { return o.Resize.Width > 0 || o.Resize.Square > 0 }

// sizeText formats ImageOptions.Resize as it was given.
func sizeText(r augment.ResizeSpec) string {
	if r.Square > 0 {
		return strconv.Itoa(r.Square)
	}
	return fmt.Sprintf("%dx%d", r.Width, r.Height)
}

// RecordSize returns the approximate size of an image's record, from the size of its file and the
// options alone. The figures per pixel are typical of photographs; they only serve to choose the
// number of shards, and to check for disk space.
func (o *ImageOptions) RecordSize(size int64) int64 {
	const features = 300 // everything but the image
	if !o.Resizes() && (o.Encode.Format == Keep || o.Encode.Format == JPEG) {
		return size + features
	}
	const wide, high = 500, 375 // the average size of an ImageNet image; the real size is unknown
	w, h := wide, high
	if o.Resizes() {
		g := o.Resize.Geometry(wide, high)
		w, h = g.Width, g.Height
	}
	pixels := int64(w) * int64(h)
	channels := int64(3)
	if o.Encode.Channels == 1 {
		channels = 1
	}
	switch o.Encode.Format {
	case JPEG:
		return pixels*channels/6 + features
	case PNG:
		return pixels*channels*2/3 + features
	case Float32:
		return pixels*channels*4 + features
	default:
		return pixels*channels + features
	}
}

// checkRename returns an error for an invalid renamed key.
func (o *ImageOptions) checkRename() error {
	keys := map[string]bool{}
	for _, key := range o.keys() {
		keys[key] = true
	}
	for old, name := range o.Rename {
		if !keys[old] {
			return plan.OptionErrorf(optname.ImageOptionsRename, "there is no feature %q; the features are %s", old, strings.Join(o.keys(), " "))
		}
		if name == "" {
			return plan.OptionErrorf(optname.ImageOptionsRename, "%s: the new name is empty", old)
		}
	}
	seen := map[string]string{}
	for _, key := range o.keys() {
		name := o.Key(key)
		if other, ok := seen[name]; ok {
			return plan.OptionErrorf(optname.ImageOptionsRename, "%s and %s would both be %s", other, key, name)
		}
		seen[name] = key
	}
	return nil
}

// Key returns the name under which a feature is stored.
func (o *ImageOptions) Key(name string) string {
	if renamed, ok := o.Rename[name]; ok {
		return renamed
	}
	return name
}

// FixedSize returns the common size of all images, if there is one.
func (o *ImageOptions) FixedSize() (w, h int, fixed bool) {
	r := o.Resize
	switch {
	case !o.Resizes():
		return 0, 0, false
	case r.Square > 0:
		return r.Square, r.Square, !r.NoUpscale
	case r.Fit == augment.Pad:
		return r.Width, r.Height, true
	}
	return r.Width, r.Height, !r.NoUpscale && (r.Fit == augment.Stretch || r.Fit == augment.Crop)
}

// annotationKeys are the features of annotations, sorted.
var annotationKeys = []string{
	objects.KeySHA256, objects.KeyArea, objects.KeyXMax, objects.KeyXMin, objects.KeyYMax, objects.KeyYMin,
	objects.KeyLabel, objects.KeyText, objects.KeyDifficult, objects.KeyCrowd,
	objects.KeyKeypointNum, objects.KeyKeypointText, objects.KeyKeypointVisibility, objects.KeyKeypointX, objects.KeyKeypointY,
	objects.KeyMask, objects.KeyTruncated,
	objects.KeyView, objects.KeySegmentation, objects.KeySegmentationFormat, objects.KeySourceID,
}

// keys returns the default keys of the features of records, sorted.
func (o *ImageOptions) keys() []string {
	if !o.Annotations.HasObjects() && !o.Annotations.HasMasks() {
		return imagekey.All
	}
	keys := slices.Concat(imagekey.All, annotationKeys)
	slices.Sort(keys)
	return keys
}

// MaskShape is the shape of masks of classes in the manifest.
func (o *ImageOptions) MaskShape() []int {
	if w, h, fixed := o.FixedSize(); fixed {
		return []int{h, w, 1}
	}
	return []int{-1, -1, 1}
}

// ImageFeature returns the key of the feature that is the image.
func (o *ImageOptions) ImageFeature() string {
	if o.ImageKey == "" {
		return imagekey.Encoded
	}
	return o.ImageKey
}

// DecodingBackend is a backend that can decode the JPEGs of tasks.
type DecodingBackend interface {
	augment.Backend
	// Decoder identifies everything its pixels depend on; "" if it decodes nothing, leaving that to
	// each task's codec.
	Decoder() string
}

// checkBackend returns an error if the backend has to decode and cannot.
func (o *ImageOptions) checkBackend() error {
	if !o.BackendDecodes {
		return nil
	}
	if b, ok := o.Backend.(DecodingBackend); !ok || b.Decoder() == "" {
		return plan.OptionErrorf(optname.ImageOptionsBackendDecodes, "the backend does not decode")
	}
	if o.Encode.Format == Keep {
		return plan.OptionErrorf(optname.ImageOptionsBackendDecodes, "is for images that are decoded, and %s keep stores them unchanged", optname.EncodeSpecFormat)
	}
	return nil
}

// ArchiveFormat is a meaning of the members of archives.
type ArchiveFormat string

// The formats of archives.
const (
	// AutoFormat is WebDataset if an archive has a .cls or .json member with the name of an image,
	// and Files otherwise.
	AutoFormat ArchiveFormat = "auto"
	// Files are the files of a directory tree.
	Files ArchiveFormat = "files"
	// WebDataset has samples of several members KEY.EXT: KEY is everything up to the first dot of
	// the base name or, where that leaves no image, to the last. The label is the integer in .cls,
	// which is its own id. Members other than the image become bytes features EXT; with
	// ImageOptions.Features, keys of .json do instead of it.
	WebDataset ArchiveFormat = "webdataset"
)

// check returns an error for an unknown format.
func (f ArchiveFormat) check() error {
	if !slices.Contains([]ArchiveFormat{"", AutoFormat, Files, WebDataset}, f) {
		return plan.OptionErrorf(optname.ImageOptionsArchiveFormat, "%q: want auto, files or webdataset", string(f))
	}
	return nil
}
