package options

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/size"
)

// Decided has the values that the input of a conversion decides for recorded options.
type Decided struct {
	Splits           string // as in plan.OptionSplits
	AnnotationFormat string // of AnnotationSpec.Files
	MovesObjects     bool   // objects of TFRecords follow the pixels
	WebDataset       bool
	ImageKey         string // of TFRecords, Parquet and Arrow files
	LabelColumn      string // of Parquet and Arrow files
	Synsets          bool   // Labels.Classes has names of labels
}

// Table returns the options.
func (o *ImageOptions) Table() option.Table { return o.TableFor(Decided{}) }

// TableFor returns the options for an input.
func (o *ImageOptions) TableFor(d Decided) option.Table {
	return option.New(o, o.Options.Rows(d.Splits),
		option.In(option.Source, slices.Concat(o.sourceRows(d), o.Select.rows(), codecRows(&o.Codec))),
		option.In(option.Labels, slices.Concat(o.Labels.tableRows(d), o.Annotations.rows(d), o.Annotations.maskRows(), o.Labels.classRows(d))),
		option.In(option.Augment, o.Augment.rows()),
		option.In(option.Resize, slices.Concat(o.sizeRows(), o.pixelRows())),
		option.In(option.Storage, slices.Concat(o.Encode.rows(), o.storageRows())))
}

// sourceRows are the options about kinds of sources.
func (o *ImageOptions) sourceRows(d Decided) []option.Option {
	return []option.Option{
		{
			Flag: "archive-format", To: &o.ArchiveFormat, Value: "HOW", Default: string(AutoFormat),
			Words:    []string{string(AutoFormat), string(Files), string(WebDataset)},
			Help:     "members of archives are files, the samples of a webdataset, or auto: what they look like",
			Recorded: d.WebDataset, As: func() any { return WebDataset },
		},
		{
			Flag: "image-key", To: &o.ImageKey,
			Help:     "`KEY` of the image: a feature of TFRecords (default image/encoded), or a column of Parquet and Arrow files",
			Recorded: d.ImageKey != "", As: func() any { return d.ImageKey },
		},
		{
			Flag: "features", To: &o.Features, Value: "NAME[:KIND],...", Many: option.Joined,
			Help: "store these columns of --table or of SRC, or keys in the .json of WebDatasets, as int64, float or bytes (default: their own kind)",
			Set:  option.Parse(&o.Features, ParseFeatures), Recorded: len(o.Features) > 0, As: func() any { return texts(o.Features) },
		},
	}
}

// texts formats features one by one, as ParseFeatures parses them.
func texts(features []FeatureSpec) []string {
	list := make([]string, len(features))
	for i, f := range features {
		list[i] = f.String()
	}
	return list
}

func (s *SelectSpec) rows() []option.Option {
	return []option.Option{
		{
			Flag: "include", To: &s.Include, Help: "convert only paths that match `GLOB` (repeatable; ** matches any directories)",
			Recorded: true, As: func() any { return sorted(s.Include) },
		},
		{Flag: "exclude", To: &s.Exclude, Help: "skip paths that match `GLOB` (repeatable)", Recorded: true, As: func() any { return sorted(s.Exclude) }},
		{Flag: "by-content", To: &s.ByContent, Help: "take all files of a directory or archive that are images by their content, whatever their extensions", Recorded: s.ByContent},
		{Flag: "follow-symlinks", To: &s.FollowSymlinks, Help: "follow symbolic links", Recorded: true},
		{Flag: "min-size", To: &s.MinSize, Help: "skip images whose shorter side is below `N` pixels", Recorded: true},
		{Flag: "max-aspect", To: &s.MaxAspect, Help: "skip images whose longer side is more than `R` times the shorter", Recorded: true},
	}
}

// sorted returns globs, or splits, in an order independent of how they were given.
func sorted(list []string) []string {
	list = slices.Clone(plan.Given(list))
	slices.Sort(list)
	return list
}

// tableRows are the options about tables with labels.
func (l *LabelSpec) tableRows(d Decided) []option.Option {
	return []option.Option{
		{
			Flag: "table", Common: true, To: &l.File, Help: "`FILE` with a path and a label in each row, for images without class directories",
			Key: plan.OptionLabels, Recorded: true, As: func() any { return l.mode(d.LabelColumn != "") },
			RestoredBy: "unlabelled", Restore: restoreUnlabelled, Input: tableInput,
		},
		{Flag: "path-column", To: &l.PathColumn, Help: "`NAME` of the column of --table with the paths (default: found by its name)"},
		{
			Flag: "split-column", Group: option.Splits, To: &l.SplitColumn,
			Help:     "`NAME` of the column of --table, or of SRC, with the split of each image (default: found by its name, if its values are splits)",
			Recorded: l.SplitColumn != "",
		},
		{
			Flag: "label-column", To: &l.Column, Help: "`NAME` of the column of --table, or of SRC, with the labels (default: found by its name)",
			Recorded: d.LabelColumn != "", As: func() any { return d.LabelColumn },
		},
		{Flag: "image-suffix", To: &l.PathSuffix, Help: "append `SUFFIX`, such as .jpg, to paths in --table that lack it"},
		{
			Flag: "multi-label", To: &l.Separator, Help: "store lists of labels, which `SEP`, such as |, separates in --table", Recorded: l.Several(),
			Check: func() error {
				if l.Separator == "" {
					return errors.New("want a separator, such as |")
				}
				return nil
			},
		},
		{Flag: "strict", Group: option.Run, To: &l.Strict, Help: "refuse a source of which images, splits or labels would be left out, such as images that --table does not name"},
	}
}

// restoreUnlabelled returns "true" for sets without labels.
func restoreUnlabelled(recorded map[string]json.RawMessage) ([]string, error) {
	if string(recorded[plan.OptionLabels]) == `"none"` {
		return []string{"true"}, nil
	}
	return nil, nil
}

// tableInput reports labels or features from a table. Features of WebDatasets and Parquet files are
// from the source itself.
func tableInput(recorded map[string]json.RawMessage) string {
	switch {
	case string(recorded[plan.OptionLabels]) == `"file"`:
		return "its labels came from a file: give it"
	case recorded["features"] != nil && recorded["archive_format"] == nil && recorded["image_key"] == nil:
		return "its features came from a file: give it"
	}
	return ""
}

// classRows are the options about the ids of classes.
func (l *LabelSpec) classRows(d Decided) []option.Option {
	return []option.Option{
		{
			Flag: "classes", To: &l.Classes,
			Help:     "`FILE` with the names of all classes in the order of their ids, one per line, or a directory or id and its name; or a label map",
			Recorded: l.Classes != "", As: func() any {
				if d.Synsets {
					return "pairs"
				}
				return "names"
			},
			Restore: option.Nothing, Input: option.From("classes", "its classes came from a file: give it"),
		},
		{Flag: "unlabelled", To: &l.None, Help: "store no labels"},
		{Flag: "label-offset", To: &l.Offset, Help: "start label ids at `N`, after N background names", Recorded: true},
	}
}

func (a *AnnotationSpec) rows(d Decided) []option.Option {
	objects := a.HasObjects()
	return []option.Option{
		{
			Flag: "annotations", Common: true, To: &a.Files, Value: "[SPLIT=]PATH", Many: option.Repeated,
			Help: "store the objects that the file or directory `[SPLIT=]PATH` draws on images (repeatable)", Set: option.Append(&a.Files, ParseAnnotationFile),
			Recorded: objects, As: func() any { return d.AnnotationFormat }, RestoredBy: "annotation-format",
			Input: option.From(plan.OptionAnnotations, "its objects came from annotations: give them"),
		},
		{
			Flag: "annotation-format", To: &a.Format, Value: "NAME", Default: "auto", Words: annotationFormats,
			Help: "format of --annotations: coco, csv, voc, yolo, kitti, labelme or auto (what it looks like)",
		},
		{Flag: "instance-masks", To: &a.InstanceMasks, Help: "store a mask of each object of --annotations", Recorded: objects},
		{Flag: "min-visibility", To: &a.MinVisibility, Help: "drop objects of which less than this `SHARE` of their box is left, 0 to 1", Recorded: objects || d.MovesObjects},
		{Flag: "drop-empty", To: &a.DropEmpty, Help: "leave out records without objects", Recorded: objects},
		{Flag: "keep-unannotated", To: &a.KeepUnannotated, Help: "keep images that --annotations does not list, without objects", Recorded: objects},
	}
}

func (a *AnnotationSpec) maskRows() []option.Option {
	return []option.Option{
		{
			Flag: "masks", To: &a.Masks,
			Help:     "store the mask of each image in `DIR`: a PNG of the same name whose samples are classes, or in the colours of CVAT's labelmap.txt",
			Recorded: a.HasMasks(), As: func() any { return true }, Restore: option.Nothing,
			Input: option.From("masks", "its masks came from a directory: give it"),
		},
		{
			Flag: "mask-fill", To: &a.MaskFill, Value: "CLASS", Default: "255", Help: "class of pixels outside of the image in --masks, 0 to 255",
			Set: func(s string) error {
				n, err := strconv.ParseUint(s, 10, 8)
				if err != nil {
					return errors.New("want a number from 0 to 255")
				}
				fill := uint8(n)
				a.MaskFill = &fill
				return nil
			},
			Recorded: a.HasMasks(), As: func() any { return a.FillClass() },
			Restore: func(recorded map[string]json.RawMessage) ([]string, error) {
				return []string{string(recorded["mask_fill"])}, nil
			},
		},
	}
}

func (a *AugmentSpec) rows() []option.Option {
	augments := a.Policy != nil
	return []option.Option{
		{
			Flag: "augment", Common: true, To: &a.Policy, Value: "SPEC|FILE",
			Help: "make variants of each image: a policy such as hflip:0.5|rotate:15, or a YAML file (see tfrec augment list)",
			Set:  option.Parse(&a.Policy, augment.LoadPolicy), Recorded: augments, As: func() any { return a.Policy.String() },
		},
		{Flag: "copies", To: &a.Copies, Check: option.AtLeast(&a.Copies, 1, "1 or more"), Help: "make `N` variants of each image (default 1 with --augment)", Recorded: augments},
		{Flag: "keep-original", To: &a.KeepOriginal, Help: "also store the original", Recorded: augments},
		{
			Flag: "augment-splits", To: &a.Splits, Many: option.Joined, Help: "make variants in the splits `NAME,...` (default train)",
			Recorded: augments, As: func() any { return sorted(a.Augmented()) },
		},
	}
}

// sizeRows are the options about the size of images.
func (o *ImageOptions) sizeRows() []option.Option {
	r := &o.Resize
	fits := o.Resizes() && r.Square == 0
	return []option.Option{
		{
			Flag: "resize", Common: true, To: r, Value: "WxH|N", Help: "resize to width x height, or the shorter side to N and then a centre crop to NxN",
			Set: func(s string) error {
				given, err := augment.ParseSize(s)
				r.Width, r.Height, r.Square = given.Width, given.Height, given.Square
				return err
			},
			Recorded: o.Resizes(), As: func() any { return sizeText(*r) },
		},
		{
			Flag: "fit", Common: true, To: &r.Fit, Value: "HOW", Needs: []string{"resize"}, Check: func() error { return checkFit(r) }, Default: "stretch", Words: []string{"stretch", "crop", "pad", "shorter", "longer"},
			Help: "how to fit images to WxH: stretch, crop, pad, shorter (fit that side) or longer (fit that side)", Set: option.Parse(&r.Fit, augment.ParseFit),
			Recorded: fits, As: func() any { return r.Fit.String() },
		},
		{
			Flag: "pad-color", To: &r.PadColor, Needs: []string{"resize", "fit pad"}, Value: "RRGGBB", Help: "colour that --fit pad fills with (default 000000)",
			Set: option.Parse(&r.PadColor, parseColor), Recorded: fits, Restore: restorePadColor,
		},
		{Flag: "no-upscale", To: &r.NoUpscale, Needs: []string{"resize"}, Help: "never enlarge an image", Recorded: o.Resizes()},
	}
}

// checkFit returns an error for a resize that leaves nothing to fit.
func checkFit(r *augment.ResizeSpec) error {
	if r.Square > 0 {
		return errors.New("is for a size of WxH; one number crops to a square")
	}
	return nil
}

// pixelRows are the options about how pixels are resized.
func (o *ImageOptions) pixelRows() []option.Option {
	r := &o.Resize
	return []option.Option{
		{
			Flag: "filter", To: &r.Filter, Needs: []string{"resize"}, Value: "NAME", Default: "bilinear", Words: []string{"bilinear", "lanczos3", "bicubic", "area", "nearest"},
			Help: "bilinear, lanczos3, bicubic, area or nearest", Set: option.Parse(&r.Filter, augment.ParseFilter),
			Recorded: o.Resizes(), As: func() any { return r.Filter.String() },
		},
		{
			Flag: plan.OptionAntialias, To: &r.NoAntialias, Not: true, Needs: []string{"resize"}, Recorded: o.Resizes(),
			Help: "take every source pixel into account when reducing, as Pillow does; false: as tf.image.resize",
		},
		{
			Flag: "exact-pixels", To: &o.ExactPixels, Help: "always resize in RGB and from the full size, never in planes or from a reduced decode",
			Recorded: o.Resizes() || o.Augment.Policy != nil,
		},
	}
}

func (e *EncodeSpec) rows() []option.Option {
	jpeg, float := e.Format == JPEG, e.Format == Float32
	return []option.Option{
		{
			Flag: "encode", Common: true, To: &e.Format, Value: "HOW", Words: []string{string(Keep), string(JPEG), string(PNG), string(Raw), string(Float32)},
			Help: "jpeg, png, raw, float32 or keep (the file's bytes unchanged; default: keep, or jpeg when pixels change)", Recorded: true,
		},
		{Flag: "quality", To: &e.Quality, Help: "JPEG quality `N`, 1 to 100 (default 95)", Recorded: jpeg, Check: option.AtLeast(&e.Quality, 1, "1 to 100")},
		{
			Flag: "subsampling", To: &e.Subsampling, Value: "HOW", Words: []string{"420", "422", "440", "444"},
			Help: "JPEG chroma subsampling: 420, 422, 440 or 444 (default 420)", Recorded: jpeg,
		},
		{Flag: "channels", To: &e.Channels, Value: "1|3", Words: []string{"1", "3"}, Help: "channels to store (default: the image's; 3 for raw and float32)", Recorded: true},
		{
			Flag: "mean", To: &e.Normalize.Mean, Value: "R,G,B", Default: "0,0,0", Many: option.Joined, Help: "mean that float32 subtracts, for pixels in 0..1",
			Set: option.Parse(&e.Normalize.Mean, parseTriple), Recorded: float,
		},
		{
			Flag: "std", To: &e.Normalize.Std, Value: "R,G,B", Default: "1,1,1", Many: option.Joined, Help: "standard deviation that float32 divides by",
			Set: option.Parse(&e.Normalize.Std, parseTriple), Recorded: float,
		},
		{Flag: "no-check", To: &e.NoCheck, Help: "under --encode keep, do not decode images to find damage", Recorded: true},
	}
}

// codecRows are the options about decoding. The decoder is recorded by its name and version.
func codecRows(c *augment.CodecOptions) []option.Option {
	return []option.Option{
		{
			Flag: "decoder", Group: option.Machine, To: &c.Decoder, Value: "WHICH", Default: "auto", Words: []string{"auto", "turbo", "go"},
			Help: "JPEG decoder: auto (the faster one here), turbo (libjpeg-turbo) or go (built in)",
		},
		{
			Flag: "max-pixels", To: &c.MaxPixels, Default: strconv.Itoa(augment.DefaultMaxPixels),
			Help:     "refuse images of more than `N` pixels, and those over a quarter of that with more than 8192 pixels per byte of the file",
			Recorded: true, As: func() any { return cmp.Or(c.MaxPixels, augment.DefaultMaxPixels) },
		},
		{Flag: "allow-arithmetic", To: &c.AllowArithmetic, Help: "decode arithmetic-coded JPEGs, whose damage goes unnoticed, with libjpeg-turbo", Recorded: c.AllowArithmetic},
		{
			Flag: "float-range", To: &c.FloatRange, Value: "MIN,MAX", Many: option.Joined,
			Help: "in images of floats (TIFF), MIN is black and MAX white, and what is outside is cut (default: such images are not usable)",
			Set:  option.Parse(&c.FloatRange, augment.ParseFloatRange), Recorded: c.FloatRange != nil,
		},
		{
			Flag: "background", To: &c.Background, Value: "RRGGBB", Help: "composite transparent images on this colour (default: drop the alpha channel)",
			Set: func(s string) error {
				color, err := parseColor(s)
				c.Background = &color
				return err
			},
			Recorded: true, Restore: func(recorded map[string]json.RawMessage) ([]string, error) { return colorText(recorded["background"]) },
		},
	}
}

// storageRows are the options for the stored features, and the memory that a run may use.
func (o *ImageOptions) storageRows() []option.Option {
	return []option.Option{
		{
			Flag: "rename", To: &o.Rename, Value: "OLD=NEW,...", Many: option.Joined, Help: "store features under other keys, such as image/encoded=image",
			Set:      o.addNames,
			Recorded: true, As: func() any {
				if len(o.Rename) == 0 {
					return nil
				}
				return o.Rename
			},
		},
		{
			Flag: "memory", Group: option.Machine, To: &o.Memory, Check: option.AtLeast(&o.Memory, 1e6, "1MB or more"), Value: "SIZE",
			Help: "memory for all images being processed, such as 4GiB (default a quarter of what this process may use)",
			Set:  option.Parse(&o.Memory, size.Parse),
		},
	}
}

// addNames adds the pairs of "OLD=NEW,..." to Rename.
func (o *ImageOptions) addNames(s string) error {
	if o.Rename == nil {
		o.Rename = map[string]string{}
	}
	for pair := range strings.SplitSeq(s, ",") {
		old, name, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q: want OLD=NEW", pair)
		}
		if before, ok := o.Rename[old]; ok {
			return fmt.Errorf("%s is given two names, %s and %s", old, before, name)
		}
		o.Rename[old] = name
	}
	return nil
}

// restorePadColor returns no colour for the default, which other fits than pad do not accept.
func restorePadColor(recorded map[string]json.RawMessage) ([]string, error) {
	values, err := colorText(recorded["pad_color"])
	if err != nil || values[0] == "000000" {
		return nil, err
	}
	return values, nil
}

// colorText formats a recorded colour for parseColor.
func colorText(raw json.RawMessage) ([]string, error) {
	var color [3]uint8
	if err := json.Unmarshal(raw, &color); err != nil {
		return nil, err
	}
	return []string{hex.EncodeToString(color[:])}, nil
}

// parseColor parses RRGGBB.
func parseColor(s string) (c [3]uint8, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "#"))
	if err != nil || len(b) != 3 {
		return c, fmt.Errorf("want six hexadecimal digits such as ffffff")
	}
	return [3]uint8(b), nil
}

// parseTriple parses one number for all channels, or three.
func parseTriple(s string) (v [3]float32, err error) {
	parts := strings.Split(s, ",")
	if len(parts) != 1 && len(parts) != 3 {
		return v, fmt.Errorf("want one number or three, such as 0.485,0.456,0.406")
	}
	for i := range v {
		x, err := strconv.ParseFloat(strings.TrimSpace(parts[i%len(parts)]), 32)
		if err != nil {
			return v, fmt.Errorf("%q is not a number", parts[i%len(parts)])
		}
		v[i] = float32(x)
	}
	return v, nil
}
