package convert

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// ImageOptions configure how images become records. The zero value stores the images of class
// directories unchanged.
type ImageOptions struct {
	Options

	// ArchiveFormat says what the members of a source of archives are. Default: AutoFormat.
	ArchiveFormat ArchiveFormat
	// ImageKey is the key of the feature that is the image in a source of TFRecords; it is stored as
	// image/encoded. A source whose name does not tell that it holds records is one if it is given.
	// Default: image/encoded. Of Parquet and Arrow files it is the column with the images: bytes, or
	// structs of bytes and path. Default: the only column of such structs, or the one called image.
	ImageKey string
	// Select says which files of the source become samples. Default: all images.
	Select SelectSpec
	// Labels says where labels come from. Default: the names of the first directories.
	Labels LabelSpec
	// Features are columns of Labels.File or of a source of Parquet or Arrow files, or keys in the
	// .json members of a WebDataset, that become features of the records, under their own names. A
	// row without a value, or with an empty text, gives no feature. Default: none.
	Features []FeatureSpec
	// Annotations say what is drawn on the images. Default: nothing.
	Annotations AnnotationSpec
	// Rename maps the default keys of features to new ones.
	Rename map[string]string

	// Augment makes variants of the images. Default: none.
	Augment AugmentSpec
	// Resize says how images are resized. Default: not at all.
	Resize augment.ResizeSpec
	// ExactPixels decodes at full size and to RGB before resizing, even where planes or a reduced
	// decode would do.
	ExactPixels bool
	// Encode says how images are stored. Default: unchanged, or as JPEG if an option changes
	// pixels.
	Encode EncodeSpec

	// Codec says how images are decoded, and which are refused.
	Codec augment.CodecOptions
	// Memory bounds what the images in progress take together, over all workers, in bytes: their
	// files, pixels and records. Images that are requested ahead from a store count, and take up to
	// a quarter of it. An image that takes more by itself is processed alone. The set does not
	// depend on it. Default: a quarter of the memory available to this process (that of
	// the machine or its control group, or GOMEMLIMIT if that is less; 2 GiB is assumed if the
	// machine does not report it).
	Memory int64
	// Backend draws, resizes and normalises decoded images. It does not affect the set: all
	// backends make the same bytes. Default: [augment.CPU].
	Backend augment.Backend
	// BackendDecodes lets Backend, which must have a method Decoder like that of package gpu,
	// decode common JPEGs (Usual in [augment.Info]), after our own check for damage. The set is
	// then made with that decoder, followed by that of Codec, and each record names the one that
	// decoded it.
	BackendDecodes bool

	causes []string // why rows of a table name no image
}

// Images converts the images of src into a set in the directory out. Src is a directory, an archive
// (a tar file, plain or compressed with gzip or zstd, or a zip file) or a glob of archives, whose
// members make the same set as the files of a directory would, or TFRecords that hold images: a
// set, a file or a glob, whose splits, labels and other features are carried over; or a Parquet or
// Arrow file, or a glob of them, with a column of images. Labels of images
// in files are the names of the class directories. Split directories above them are recognised
// case-insensitively: train or training; val, valid, validation or dev; test, testing or eval.
// Hidden files and directories are ignored.
func Images(ctx context.Context, src, out string, o ImageOptions) (*Summary, error) {
	return plan.Run(ctx, &imageInput{o: &o, src: src}, out)
}

// imageInput is a source of images.
type imageInput struct {
	o       *ImageOptions
	src     string
	codec   *augment.Codec
	listing *listing
}

func (in *imageInput) Shared() *Options { return &in.o.Options }

func (in *imageInput) Close() {}

// Scan lists the images.
func (in *imageInput) Scan(ctx context.Context, out string) (err error) {
	o := in.o
	src, unusable := imagePlaceOf(ctx, storage.Parse(in.src), o.ImageKey != "")
	if o.Name == "" {
		o.Name = nameOf(in.src, src)
	}
	if err := o.complete(src.tables != nil || unusable != nil); err != nil {
		return err
	}
	if unusable != nil {
		return unusable
	}
	in.codec, err = augment.NewCodec(o.Codec)
	if err != nil {
		return err
	}
	if o.Encode.Format == JPEG {
		if err := in.codec.Encodes(o.Encode.Subsampling); err != nil {
			return plan.OptionErrorf(optname.EncodeSpecSubsampling, "%v", err)
		}
	}
	if in.listing, err = o.list(ctx, src, out); err != nil {
		return err
	}
	return in.listing.refuseLosses(o)
}

func (in *imageInput) Plan(_ context.Context, before *plan.Previous) (plan.Source, error) {
	s, err := planImages(in.o, in.listing, in.codec, before)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Layout implements source.
func (s *imageSource) Layout() plan.Layout {
	return plan.Layout{
		Shards: s.planned, Options: s.o.effective(s), Codecs: plan.Codecs{Decoder: s.decoderName(), Encoder: s.encoderName()},
		Skipped: s.skipped, LeftOut: s.leftOut, Decoded: s.tally(),
		Workers: s.workers, Memory: s.sampleMemory, Causes: s.o.causes,
	}
}

// nameOf derives a dataset name from a source's path; of archives and records, without their
// extensions.
func nameOf(src string, place imagePlace) string {
	abs, err := filepath.Abs(src)
	if err != nil {
		abs = src
	}
	base := filepath.Base(abs)
	if n, ok := shard.ParseName(base); ok {
		return n.Dataset
	}
	if place.records != nil || place.tables != nil {
		base, _, _ = strings.Cut(base, ".")
	}
	if place.archives != nil {
		for _, ext := range []string{".gz", ".zst", ".tar", ".tgz", ".zip"} {
			base = strings.TrimSuffix(base, ext)
		}
	}
	return naming.SnakeCase(base)
}

// complete fills in defaults and returns an error for invalid options. Columns says that the source
// may have a column of labels.
func (o *ImageOptions) complete(columns bool) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.resizes() {
		if err := o.Resize.Validate(); err != nil {
			return plan.OptionErrorf(optname.ImageOptionsResize, "%v", err)
		}
	}
	if err := o.Encode.complete(o.changesPixels()); err != nil {
		return err
	}
	switch {
	case o.ExactPixels && !o.resizes() && o.Augment.Policy == nil:
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
		return slices.ContainsFunc(o.keys(), func(name string) bool { return o.key(name) == key })
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
	return o.resizes() || o.Augment.Policy != nil || o.Encode.Channels != 0 && o.Encode.Format != Raw && o.Encode.Format != Float32 || o.Codec.Background != nil
}

func (o *ImageOptions) resizes() bool { return o.Resize.Width > 0 || o.Resize.Square > 0 }

// effective returns the options that the bytes depend on, by flag name.
func (o *ImageOptions) effective(s *imageSource) map[string]any {
	m := map[string]any{
		"source": "images", plan.OptionSplits: s.splitsBy, "even": o.Even,
		"compression": plan.CompressionName(o.Compression), "limit": o.Limit,
		"labels": o.Labels.mode(), "label_offset": o.Labels.Offset, "rename": o.Rename,
		"include": sorted(o.Select.Include), "exclude": sorted(o.Select.Exclude), "follow_symlinks": o.Select.FollowSymlinks,
		"encode": o.Encode.Format, "channels": o.Encode.Channels, "min_size": o.Select.MinSize, "max_aspect": o.Select.MaxAspect,
		"max_pixels": cmp.Or(o.Codec.MaxPixels, augment.DefaultMaxPixels), "background": o.Codec.Background, "no_check": o.Encode.NoCheck, "seed": o.Seed,
	}
	if len(o.Rename) == 0 {
		m["rename"] = nil
	}
	o.RecordShards(m, s.planned)
	if o.resizes() {
		m["resize"], m["filter"] = sizeText(o.Resize), o.Resize.Filter.String()
		if o.Resize.Square == 0 {
			m["fit"], m["pad_color"] = o.Resize.Fit.String(), o.Resize.PadColor
		}
		m[plan.OptionAntialias], m["no_upscale"] = !o.Resize.NoAntialias, o.Resize.NoUpscale
	}
	if o.resizes() || o.Augment.Policy != nil {
		m["exact_pixels"] = o.ExactPixels
	}
	o.addNewer(m, s)
	if o.Augment.Policy != nil {
		m["augment"], m["copies"], m["keep_original"] = o.Augment.Policy.String(), o.Augment.Copies, o.Augment.KeepOriginal
		m["augment_splits"] = sorted(o.Augment.splits())
	}
	switch o.Encode.Format {
	case JPEG:
		m["quality"], m["subsampling"] = o.Encode.Quality, o.Encode.Subsampling
	case Float32:
		m["mean"], m["std"] = o.Encode.Normalize.Mean, o.Encode.Normalize.Std
	}
	return m
}

// addNewer adds the options that sets older than them do not record, where they are given.
func (o *ImageOptions) addNewer(m map[string]any, s *imageSource) {
	if o.Codec.AllowArithmetic {
		m["allow_arithmetic"] = true
	}
	if o.Select.ByContent {
		m["by_content"] = true
	}
	if o.Codec.FloatRange != nil {
		m["float_range"] = o.Codec.FloatRange
	}
	if s.webdataset {
		m["archive_format"] = WebDataset
	}
	if s.carried != nil {
		m["image_key"] = o.imageKey()
	}
	if c := s.columns; c.key != "" {
		m["image_key"] = c.key
		if c.label != "" {
			m["labels"], m["label_column"] = "column", c.label
		}
	}
	if o.Labels.several() {
		m["multi_label"] = o.Labels.Separator
	}
	if o.Labels.SplitColumn != "" {
		m["split_column"] = o.Labels.SplitColumn
	}
	if len(o.Features) > 0 {
		var names []string
		for _, f := range o.Features {
			names = append(names, f.String())
		}
		m["features"] = names
	}
	o.addAnnotations(m, s)
	switch {
	case o.Labels.Classes == "":
	case s.synsets != nil:
		m["classes"] = "pairs"
	default:
		m["classes"] = "names"
	}
}

// sorted returns globs, or splits, in an order independent of how they were given.
func sorted(globs []string) []string {
	globs = slices.Clone(plan.Given(globs))
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
