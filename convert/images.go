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

// ImageOptions say how images become records. The zero value stores the
// images of class directories as they are.
type ImageOptions struct {
	Options

	// LabelFile is a table with the path of an image below the source and its label
	// in each row: CSV with any usual delimiter, or a list with spaces, plain or
	// compressed with gzip or zstd. Default: the label is the name of the first
	// directory. The ids of labels are the indexes of their names, sorted; names
	// that are all integers sort as numbers, so that 0 to N-1 are their own ids.
	LabelFile string
	// PathColumn and LabelColumn name columns of LabelFile's header, in any case.
	// Default: path, file, filename, file_name, image, image_path or id; and label,
	// class, target, category or tags. Without a header they are the first two.
	PathColumn, LabelColumn string
	// ImageSuffix is appended to paths in LabelFile that do not end in it: ".jpg"
	// for ids. Default: none.
	ImageSuffix string
	// Unlabelled images get no label.
	Unlabelled bool
	// LabelOffset puts that many background names in front of the labels.
	LabelOffset int
	// Rename gives features other keys: from the key of interface to the new.
	Rename map[string]string

	// Include takes only paths that match one of these globs, Exclude leaves
	// out those that match one. A glob without a slash is for the file's name,
	// ** stands for any directories.
	Include, Exclude []string
	// FollowSymlinks reads what symbolic links lead to.
	FollowSymlinks bool

	// Augment makes variants of the images: Copies of each (default: 1), stored
	// in place of the original or, with KeepOriginal, beside it. AugmentSplits
	// get them; default: "train". What the policy draws is done to the decoded
	// image, before Resize.
	Augment       *augment.Policy
	Copies        int
	KeepOriginal  bool
	AugmentSplits []string

	// Resize is how images are resized. Default: not at all.
	Resize augment.ResizeSpec
	// Channels of the stored image: 1, 3, or 0 for as many as the source has
	// (3 for Raw and Float32, whose shape must not vary).
	Channels int
	// Encode is how images are stored. Default: Keep, or JPEG when an option
	// changes pixels.
	Encode Encoding
	// Quality of JPEG, 1 to 100. Default: 95.
	Quality int
	// Subsampling of JPEG's chroma: "420", "422", "440" or "444". Default: "420".
	Subsampling string
	// Normalize is what Float32 subtracts and divides by. Default: 0 and 1, so
	// that values lie in 0..1.
	Normalize augment.Normalize
	// MinSize leaves out images whose shorter side is below it.
	MinSize int
	// MaxAspect leaves out images whose longer side is more than so many
	// times the shorter. 0 is no limit.
	MaxAspect float64

	// Decoder of JPEG: "auto" (the default), "turbo" or "go".
	Decoder string
	// MaxPixels is the largest image that is decoded. Default: 178,956,970.
	MaxPixels int64
	// AllowArithmetic reads JPEGs in arithmetic coding, where libjpeg-turbo is at
	// hand. Default: they are unsupported, since damage in them goes unnoticed.
	AllowArithmetic bool
	// Memory bounds what the images in work take together, over all workers, in
	// bytes: their files, pixels and records. An image that alone takes more is
	// worked on alone. The set does not depend on it. Default: a quarter of the
	// memory that this process may use (what the machine or its control group has,
	// or GOMEMLIMIT where that is less; 2 GiB is taken where the machine cannot be
	// asked).
	Memory int64
	// Background is what transparent images are composited on. Default: the
	// alpha channel is dropped.
	Background *[3]uint8
	// ExactPixels resizes images that were decoded at full size and to RGB, even where
	// planes, or a reduced decode, would do.
	ExactPixels bool
	// Backend draws, resizes and normalises decoded images. It is no part of what a set is made
	// with: all backends make the same bytes. Default: [augment.CPU].
	Backend augment.Backend
	// BackendDecodes has Backend, which must have a method Decoder as that of package gpu has,
	// decode the JPEGs that are of a usual kind (Usual in [augment.Info]), after our own search for
	// damage. The set is then made with that decoder, before Decoder, and each record names who
	// decoded it.
	BackendDecodes bool
	// NoCheck stores images under Keep without decoding them to find damage.
	NoCheck bool
}

// Encoding is how an image is stored in a record.
type Encoding string

// The encodings. Raw is uint8, Float32 is normalised little-endian float32;
// both are arrays of height x width x channels.
const (
	Keep    Encoding = "keep" // RGB and grayscale JPEG and PNG as they are, others as PNG
	JPEG    Encoding = "jpeg"
	PNG     Encoding = "png"
	Raw     Encoding = "raw"
	Float32 Encoding = "float32"
)

// Images converts the images below the directory src into a set in the directory
// out. Labels are the names of the class directories. Split directories above
// them are recognised in any case: train or training; val, valid, validation or
// dev; test, testing or eval. Hidden files and directories are left alone.
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

// nameOf makes a dataset name of a source's path.
func nameOf(src string) string {
	abs, err := filepath.Abs(src)
	if err != nil {
		abs = src
	}
	return naming.SnakeCase(filepath.Base(abs))
}

// complete fills in defaults and says which options cannot be.
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

// changesPixels reports whether an option asks for other pixels than the
// source's.
func (o *ImageOptions) changesPixels() bool {
	return o.resizes() || o.Augment != nil || o.Channels != 0 && o.Encode != Raw && o.Encode != Float32 || o.Background != nil
}

func (o *ImageOptions) resizes() bool { return o.Resize.Width > 0 || o.Resize.Square > 0 }

// encoder names what the stored bytes depend on beside the pixels.
func (o *ImageOptions) encoder(codec *augment.Codec) string {
	switch o.Encode {
	case JPEG:
		return codec.Encoder()
	case PNG, Keep:
		// image/png's compression may change with Go's release.
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
	if o.AllowArithmetic { // sets made before the option was there have none
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

// imageKind is the kind of input of images: the fields that set the options of effective.
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

// sorted returns globs in an order that does not hang on how they were given.
func sorted(globs []string) []string {
	globs = slices.Clone(globs)
	slices.Sort(globs)
	return globs
}

// sizeText writes what ImageOptions.Resize was given.
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
