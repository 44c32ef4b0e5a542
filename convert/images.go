package convert

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/naming"
)

// ImageOptions configure how images become records. The zero value stores the images of class
// directories unchanged.
type ImageOptions struct {
	Options

	// LabelFile is a table with the path of an image, relative to the source, and its label in each
	// row: CSV with any usual delimiter, or a list with spaces, plain or compressed with gzip or
	// zstd. Default: the label is the name of the first directory. Label ids are the indexes of the
	// sorted names; names that are all integers sort as numbers, so that 0 to N-1 map to
	// themselves.
	LabelFile string
	// PathColumn and LabelColumn name columns of LabelFile's header, case-insensitively. Default:
	// path, file, filename, file_name, image, image_path or id; and label, class, target, category
	// or tags. Without a header they are the first two columns.
	PathColumn, LabelColumn string
	// ImageSuffix is appended to paths in LabelFile that do not end in it, such as ".jpg" to ids.
	// Default: none.
	ImageSuffix string
	// Unlabelled images get no label.
	Unlabelled bool
	// LabelOffset is the number of background names to put before the labels.
	LabelOffset int
	// Rename maps the default keys of features to new ones.
	Rename map[string]string

	// Include selects paths that match one of these globs, Exclude drops those that match one. A
	// glob without a slash matches the file name, ** matches any directories.
	Include, Exclude []string
	// FollowSymlinks follows symbolic links.
	FollowSymlinks bool

	// Augment makes variants of the images: Copies of each (default: 1), stored in place of the
	// original or, with KeepOriginal, in addition to it. AugmentSplits are the splits augmented;
	// default: "train". The drawn steps apply to the decoded image, before Resize.
	Augment       *augment.Policy
	Copies        int
	KeepOriginal  bool
	AugmentSplits []string

	// Resize says how images are resized. Default: not at all.
	Resize augment.ResizeSpec
	// Channels of the stored image: 1, 3, or 0 for those of the source (3 for Raw and Float32,
	// whose shape must not vary).
	Channels int
	// Encode says how images are stored. Default: Keep, or JPEG if an option changes pixels.
	Encode Encoding
	// Quality of JPEG, 1 to 100. Default: 95.
	Quality int
	// Subsampling of the JPEG chroma: "420", "422", "440" or "444". Default: "420".
	Subsampling string
	// Normalize is what Float32 subtracts and divides by. Default: 0 and 1, so that values are in
	// 0..1.
	Normalize augment.Normalize
	// MinSize drops images whose shorter side is below it, in pixels.
	MinSize int
	// MaxAspect drops images whose longer side is more than this many times the shorter. 0 means no
	// limit.
	MaxAspect float64

	// Decoder of JPEG: "auto" (the default), "turbo" or "go".
	Decoder string
	// MaxPixels is the size of the largest image to decode. Default: 178,956,970.
	MaxPixels int64
	// AllowArithmetic accepts arithmetic-coded JPEGs, if libjpeg-turbo is available. Default: they
	// are unsupported, since damage in them goes unnoticed.
	AllowArithmetic bool
	// Memory bounds what the images in progress take together, over all workers, in bytes: their
	// files, pixels and records. An image that takes more by itself is processed alone. The set
	// does not depend on it. Default: a quarter of the memory available to this process (that of
	// the machine or its control group, or GOMEMLIMIT if that is less; 2 GiB is assumed if the
	// machine does not report it).
	Memory int64
	// Background is the color on which transparent images are composited. Default: the alpha
	// channel is dropped.
	Background *[3]uint8
	// ExactPixels decodes at full size and to RGB before resizing, even where planes or a reduced
	// decode would do.
	ExactPixels bool
	// Backend draws, resizes and normalises decoded images. It does not affect the set: all
	// backends make the same bytes. Default: [augment.CPU].
	Backend augment.Backend
	// BackendDecodes lets Backend, which must have a method Decoder like that of package gpu,
	// decode common JPEGs (Usual in [augment.Info]), after our own check for damage. The set is
	// then made with that decoder, followed by Decoder, and each record names the one that decoded
	// it.
	BackendDecodes bool
	// NoCheck stores images under Keep without decoding them to check for damage.
	NoCheck bool
}

// Encoding is how an image is stored in a record.
type Encoding string

// The encodings. Raw is uint8, Float32 is normalised little-endian float32;
// both are arrays of height x width x channels.
const (
	Keep    Encoding = "keep" // RGB and grayscale JPEG and PNG unchanged, others as PNG
	JPEG    Encoding = "jpeg"
	PNG     Encoding = "png"
	Raw     Encoding = "raw"
	Float32 Encoding = "float32"
)

// Images converts the images below the directory src into a set in the directory out. Labels are
// the names of the class directories. Split directories above them are recognised
// case-insensitively: train or training; val, valid, validation or dev; test, testing or eval.
// Hidden files and directories are ignored.
func Images(ctx context.Context, src, out string, o ImageOptions) (*Summary, error) {
	return runConversion(ctx, &imageInput{o: &o, src: src}, out)
}

// imageInput is a directory of images.
type imageInput struct {
	o       *ImageOptions
	src     string
	codec   *augment.Codec
	listing *listing
}

func (in *imageInput) shared() *Options { return &in.o.Options }

func (in *imageInput) close() {}

// scan lists the images.
func (in *imageInput) scan(ctx context.Context, out string) (err error) {
	o := in.o
	if o.Name == "" {
		o.Name = nameOf(in.src)
	}
	if err := o.complete(); err != nil {
		return err
	}
	in.codec, err = augment.NewCodec(augment.CodecOptions{Decoder: o.Decoder, MaxPixels: o.MaxPixels, AllowArithmetic: o.AllowArithmetic, Background: o.Background})
	if err != nil {
		return err
	}
	if o.Encode == JPEG {
		if err := in.codec.Encodes(o.Subsampling); err != nil {
			return optionError("ImageOptions.Subsampling", "%v", err)
		}
	}
	in.listing, err = o.list(ctx, in.src, out)
	return err
}

func (in *imageInput) plan(_ context.Context, before *previous) (source, error) {
	s, err := planImages(in.o, in.src, in.listing, in.codec, before)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// layout implements source.
func (s *imageSource) layout() layout {
	return layout{
		jobs: s.planned, options: s.o.effective(s), codecs: codecs{s.decoderName(), s.o.encoder(s.codec)},
		skipped: s.skipped, decoded: s.tally(),
	}
}

// nameOf derives a dataset name from a source's path.
func nameOf(src string) string {
	abs, err := filepath.Abs(src)
	if err != nil {
		abs = src
	}
	return naming.SnakeCase(filepath.Base(abs))
}

// complete fills in defaults and returns an error for invalid options.
func (o *ImageOptions) complete() error {
	if err := o.check(); err != nil {
		return err
	}
	if o.changesPixels() {
		o.Encode = cmp.Or(o.Encode, JPEG)
	}
	o.Encode = cmp.Or(o.Encode, Keep)
	if o.Encode != JPEG && (o.Quality != 0 || o.Subsampling != "") {
		return optionError("ImageOptions.Quality", "ImageOptions.Quality and ImageOptions.Subsampling are for ImageOptions.Encode jpeg, not for %s", o.Encode)
	}
	o.Quality = cmp.Or(o.Quality, 95)
	o.Subsampling = cmp.Or(o.Subsampling, "420")
	if o.resizes() {
		if err := o.Resize.Validate(); err != nil {
			return optionError("ImageOptions.Resize", "%v", err)
		}
	}
	switch o.Encode {
	case Keep:
		if o.changesPixels() {
			return optionError("ImageOptions.Encode", "keep stores images unchanged, so it cannot be combined with an option that changes pixels (ImageOptions.Resize, ImageOptions.Augment, ImageOptions.Channels, ImageOptions.Background)")
		}
	case Raw, Float32:
		o.Channels = cmp.Or(o.Channels, 3)
	case JPEG, PNG:
	default:
		return optionError("ImageOptions.Encode", "%q: want jpeg, png, raw, float32 or keep", o.Encode)
	}
	switch {
	case o.Quality < 1 || o.Quality > 100:
		return optionError("ImageOptions.Quality", "%d is not between 1 and 100", o.Quality)
	case o.Channels != 0 && o.Channels != 1 && o.Channels != 3:
		return optionError("ImageOptions.Channels", "%d: want 1 or 3", o.Channels)
	case o.Encode != Float32 && o.Normalize != (augment.Normalize{}):
		return optionError("Normalize.Mean", "Normalize.Mean and Normalize.Std are for ImageOptions.Encode float32")
	case o.Encode == Float32 && o.Normalize.Validate() != nil:
		return optionError("Normalize.Std", "%v", o.Normalize.Validate())
	case o.ExactPixels && !o.resizes() && o.Augment == nil:
		return optionError("ImageOptions.ExactPixels", "is for ImageOptions.Resize and ImageOptions.Augment: without them pixels are always exact")
	case o.Unlabelled && o.LabelOffset != 0:
		return optionError("ImageOptions.LabelOffset", "cannot be combined with ImageOptions.Unlabelled")
	case o.LabelFile != "" && o.Unlabelled:
		return optionError("ImageOptions.LabelFile", "cannot be combined with ImageOptions.Unlabelled")
	case o.LabelFile == "" && o.PathColumn != "":
		return optionError("ImageOptions.PathColumn", "is for ImageOptions.LabelFile")
	case o.LabelFile == "" && o.LabelColumn != "":
		return optionError("ImageOptions.LabelColumn", "is for ImageOptions.LabelFile")
	case o.LabelFile == "" && o.ImageSuffix != "":
		return optionError("ImageOptions.ImageSuffix", "is for ImageOptions.LabelFile")
	case strings.Contains(o.ImageSuffix, "/"):
		return optionError("ImageOptions.ImageSuffix", "%q: want a file name suffix, such as .jpg", o.ImageSuffix)
	case o.LabelOffset < 0 || o.LabelOffset > 1<<20:
		return optionError("ImageOptions.LabelOffset", "%d is not between 0 and %d", o.LabelOffset, 1<<20)
	case o.MinSize < 0:
		return optionError("ImageOptions.MinSize", "%d is negative", o.MinSize)
	case o.Memory < 0:
		return optionError("ImageOptions.Memory", "%d is negative", o.Memory)
	case o.MaxAspect != 0 && !(o.MaxAspect >= 1):
		return optionError("ImageOptions.MaxAspect", "%g is below 1", o.MaxAspect)
	case o.NoCheck && o.Encode != Keep:
		return optionError("ImageOptions.NoCheck", "is for ImageOptions.Encode keep: any other encoding decodes the image")
	}
	if err := o.checkGlobs(); err != nil {
		return err
	}
	if err := o.checkBackend(); err != nil {
		return err
	}
	if err := o.checkAugment(); err != nil {
		return err
	}
	return o.checkRename()
}

// changesPixels reports whether an option changes the source's pixels.
func (o *ImageOptions) changesPixels() bool {
	return o.resizes() || o.Augment != nil || o.Channels != 0 && o.Encode != Raw && o.Encode != Float32 || o.Background != nil
}

func (o *ImageOptions) resizes() bool { return o.Resize.Width > 0 || o.Resize.Square > 0 }

// encoder names what the stored bytes depend on besides the pixels.
func (o *ImageOptions) encoder(codec *augment.Codec) string {
	switch o.Encode {
	case JPEG:
		return codec.Encoder()
	case PNG, Keep:
		// The compression of image/png may change with the Go release.
		release, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
		major, rest, _ := strings.Cut(release, ".")
		minor, _, _ := strings.Cut(rest, ".")
		return "png go" + major + "." + minor
	}
	return ""
}

// effective returns the options that the bytes depend on, by flag name.
func (o *ImageOptions) effective(s *imageSource) map[string]any {
	m := map[string]any{
		"source": "images", optionSplits: s.splitsBy, "even": o.Even,
		"compression": compressionName(o.Compression), "limit": o.Limit,
		"labels": labelMode(o), "label_offset": o.LabelOffset, "rename": o.Rename,
		"include": sorted(o.Include), "exclude": sorted(o.Exclude), "follow_symlinks": o.FollowSymlinks,
		"encode": o.Encode, "channels": o.Channels, "min_size": o.MinSize, "max_aspect": o.MaxAspect,
		"max_pixels": o.MaxPixels, "background": o.Background, "no_check": o.NoCheck, "seed": o.Seed,
	}
	o.setShards(m, s.planned)
	if o.resizes() {
		m["resize"], m["filter"] = sizeText(o.Resize), o.Resize.Filter.String()
		if o.Resize.Square == 0 {
			m["fit"], m["pad_color"] = o.Resize.Fit.String(), o.Resize.PadColor
		}
		m["antialias"], m["no_upscale"] = o.Resize.Antialias, o.Resize.NoUpscale
	}
	if o.resizes() || o.Augment != nil {
		m["exact_pixels"] = o.ExactPixels
	}
	if o.AllowArithmetic { // not recorded in sets older than the option
		m["allow_arithmetic"] = true
	}
	if o.Augment != nil {
		m["augment"], m["copies"], m["keep_original"] = o.Augment.String(), o.Copies, o.KeepOriginal
		m["augment_splits"] = o.augmentSplits()
	}
	switch o.Encode {
	case JPEG:
		m["quality"], m["subsampling"] = o.Quality, o.Subsampling
	case Float32:
		m["mean"], m["std"] = o.Normalize.Mean, o.Normalize.Std
	}
	return m
}

// imageKind is the input kind of images: the fields that set the options of effective.
var imageKind = kind{fields: map[string]string{
	"labels": "ImageOptions.LabelFile", "label_offset": "ImageOptions.LabelOffset", "rename": "ImageOptions.Rename",
	"include": "ImageOptions.Include", "exclude": "ImageOptions.Exclude", "follow_symlinks": "ImageOptions.FollowSymlinks",
	"encode": "ImageOptions.Encode", "quality": "ImageOptions.Quality", "subsampling": "ImageOptions.Subsampling",
	"mean": "Normalize.Mean", "std": "Normalize.Std", "channels": "ImageOptions.Channels",
	"resize": "ImageOptions.Resize", "filter": "ResizeSpec.Filter", "fit": "ResizeSpec.Fit", "pad_color": "ResizeSpec.PadColor",
	"antialias": "ResizeSpec.Antialias", "no_upscale": "ResizeSpec.NoUpscale", "exact_pixels": "ImageOptions.ExactPixels",
	"augment": "ImageOptions.Augment", "copies": "ImageOptions.Copies", "keep_original": "ImageOptions.KeepOriginal",
	"augment_splits": "ImageOptions.AugmentSplits",
	"min_size":       "ImageOptions.MinSize", "max_aspect": "ImageOptions.MaxAspect", "max_pixels": "ImageOptions.MaxPixels",
	"background": "ImageOptions.Background", "no_check": "ImageOptions.NoCheck", "allow_arithmetic": "ImageOptions.AllowArithmetic",
}}

// sorted returns globs in an order independent of how they were given.
func sorted(globs []string) []string {
	globs = slices.Clone(globs)
	slices.Sort(globs)
	return globs
}

// sizeText formats ImageOptions.Resize as it was given.
func sizeText(r augment.ResizeSpec) string {
	if r.Square > 0 {
		return strconv.Itoa(r.Square)
	}
	return fmt.Sprintf("%dx%d", r.Width, r.Height)
}

func labelMode(o *ImageOptions) string {
	switch {
	case o.Unlabelled:
		return "none"
	case o.LabelFile != "":
		return "file"
	}
	return "folders"
}
