package conversion

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
)

func newConvertImagesCommand(e *Engine) *cobra.Command {
	f := convertFlags{engine: e}
	o := convert.ImageOptions{}
	onGPU := gpuUse{when: gpuOff}
	var labels string
	cmd := &cobra.Command{
		Use:   "images SRC OUT",
		Short: "Convert images in directories, archives, tables or TFRecords to shards",
		Long: `Convert the images of SRC to a sharded set of TFRecords in OUT. SRC is a directory,
an archive (.tar, .tar.gz, .tar.zst or .zip, whose members are read where they
are) or a quoted glob of archives, which give the set of their files, TFRecords
that have images: the directory of a set, a file or a quoted glob, or a Parquet or
Arrow file, or a quoted glob of them, with a column of images.

The label of an image is the name of its first directory: SRC/daisy/1.jpg is a
daisy. Directories above the class directories are taken as splits if they are
named, in any case, train or training; val, valid, validation or dev; test,
testing or eval; so are those in a directory of images, such as images/train beside
labels/. data.yaml, VOC's ImageSets, lists such as train.txt, and a column of --table
state splits, too; --splits replaces them all. Hidden files and directories, and
__MACOSX, are left alone.

A damaged archive ends the run. Links in archives, and names that lead out of
them, are listed in OUT/errors.jsonl. Archives in which an image has a .cls or
.json member beside it are WebDatasets: the integer in KEY.cls is the label and
its id, and every other member KEY.EXT is stored as the bytes feature EXT. With
--features, keys in KEY.json are stored instead of it.

Of TFRecords, the feature --image-key is the image, stored as image/encoded. Splits
(unless --splits is given), labels and all other features are carried over as they
are; what describes the image, such as image/height, is written again. A record's key
is its image/filename, or FILE#RECORD, counted from 0, without one of its own.

In Parquet and Arrow files, each row is a sample. The column --image-key has the
bytes of the image, or structs of bytes and path, as Hugging Face's datasets; without
the flag, it is the only column of such structs, or of several the one called image. The key is
the path, or FILE#ROW, counted from 0, without one of its own. The label is in
--label-column, or the first of the columns label, class, target, category and tags.
Further columns become features with --features. Names of files such as
train-00000-of-00002.parquet, x_val.record or test-000000.tar state splits.

Images without class directories need --table FILE or --unlabelled. FILE has a
path below SRC and a label in each row: CSV, TSV, JSON lines or Parquet, plain, .gz
or .zst, or a space-separated list. The columns are found by their names: path,
file, filename, file_name, image, image_path or id; label, class, target, category
or tags; or by their cells, which are paths of images. The first row is a header if
it has such a name, or is unlike the rows below; a note says so. With --multi-label,
image/class/label and image/class/text are lists of all labels in the row, in that
order. The columns that --features names become features under their own names; an
empty or null cell gives none. --labels FILE is --table FILE without --features.

A row without a label, or whose image is missing or lies outside SRC, is listed in
OUT/errors.jsonl. Images without a row are skipped and counted; --strict refuses them.

Labels of tables, Parquet, Arrow and WebDatasets that are all integers, such as 3 or
3.0, are ids as they are. Ids between them are named by their numbers. With an id below
0 or above 1000000 they are stored without names. All other labels are names, whose ids
follow their order by bytes, over all splits. So are class directories, but for those
that are all integers, which sort as numbers, so that 0 to N-1 are their own ids.

--classes FILE names the ids: a class on each line, in the order of the ids from 0.
Labels that are integers, and no names in FILE, are ids of its lines. A line may be a
directory or label of the source and its name, as n02119789 kit fox: image/class/text is
then the name, and image/class/synset the directory. If all lines begin with another
integer, as 3 roses, that is the id. FILE may be a label map (label_map.pbtxt). A class
that FILE lacks is an error.

With --annotations, records have the objects on the images instead of labels: boxes,
classes and what else the format has, under the keys of TensorFlow's Object
Detection API, and OUT has label_map.pbtxt. PATH is a JSON file of COCO, a CSV
table with a box in each row (as of TensorFlow's tutorials, Roboflow, Open Images or
RetinaNet), or a directory of VOC XML, YOLO or KITTI text or LabelMe JSON files, found by
the paths of the images without their extensions, or by their names alone where these
differ. Boxes and masks follow every resize and augmentation. Images that no PATH lists
are skipped and counted; annotations that cannot be used are listed in OUT/errors.jsonl.
--masks adds a mask with the class of each pixel; for masks in RGB, the classes are the
lines of labelmap.txt in DIR or next to it, from 0.

JPEG, PNG, GIF (first frame), BMP, WebP and TIFF are read, recognised by content.
Damaged images are listed in OUT/errors.jsonl; --max-errors says how many are
allowed. N counts its lines, each annotation that cannot be used; P% is of samples, each
of which counts once.`,
		Example: `  tfrec convert images photos/ out/
  tfrec convert images photos/ out/ --resize 224 --splits train=0.9,val=0.1
  tfrec convert images photos.tar.gz out/ --resize 224
  tfrec convert images 'web-*.tar' out/ --features score:float --classes names.txt
  tfrec convert images 'old-*.tfrecord' out/ --image-key img --resize 224
  tfrec convert images 'train-*.parquet' out/ --image-key image --features caption
  tfrec convert images photos/ out/ --resize 299x299 --fit pad --encode png --shards 16
  tfrec convert images photos/ out/ --table photos.csv --features score:float,caption
  tfrec convert images photos/ out/ --annotations instances.json --resize 640x640 --fit pad
  tfrec convert images JPEGImages/ out/ --annotations Annotations/ --masks SegmentationClass/`,
		Args:        f.args(cli.ExactArgs("SRC", "OUT")),
		Annotations: map[string]string{cli.FaultsMean: convertFaults},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := f.configure(cmd, "images", args)
			if err != nil {
				return err
			}
			return f.run(cmd, args[1], &conversion{
				complete: func() error {
					if err := checkImageFlags(cmd, &o); err != nil {
						return err
					}
					if labels != "" {
						o.Labels.File = labels
					}
					if err := onGPU.check(cmd, &o); err != nil {
						return err
					}
					o.Options = f.options
					if policy := cmd.Flag("augment").Value.String(); isYAML(policy) {
						o.AlsoReads = append(o.AlsoReads, policy)
					}
					return nil
				},
				whole: func(ctx context.Context) (*convert.Summary, error) {
					return onGPU.run(&o, func() (*convert.Summary, error) {
						return convert.Images(ctx, args[0], args[1], o)
					})
				},
				begin: func(ctx context.Context) (*convert.Job, error) { return convert.BeginImages(ctx, args[0], args[1], o) },
				join:  func(ctx context.Context) (*convert.Job, error) { return convert.JoinImages(ctx, args[0], args[1], o) },
			})
		},
	}
	fs := cmd.Flags()
	f.add(fs)
	fs.StringVar(&o.Labels.File, "table", "", "`FILE` with a path and a label in each row, for images without class directories")
	fs.StringVar(&labels, "labels", "", "--table `FILE` without --features")
	fs.StringVar(&o.Labels.PathColumn, "path-column", "", "`NAME` of the column of --table with the paths (default: found by its name)")
	fs.BoolVar(&o.Select.ByContent, "by-content", false, "take all files of a directory that are images by their content, whatever their extensions")
	fs.StringVar(&o.Labels.SplitColumn, "split-column", "", "`NAME` of the column of --table, or of SRC, with the split of each image (default: found by its name, if its values are splits)")
	fs.StringVar(&o.Labels.Column, "label-column", "", "`NAME` of the column of --table, or of SRC, with the labels (default: found by its name)")
	fs.StringVar(&o.Labels.PathSuffix, "image-suffix", "", "append `SUFFIX`, such as .jpg, to paths in --table that lack it")
	fs.StringVar(&o.Labels.Separator, "multi-label", "", "store lists of labels, which `SEP`, such as |, separates in --table")
	cli.WordVar(fs, &o.ArchiveFormat, "archive-format", convert.AutoFormat, "HOW", "members of archives are files, the samples of a webdataset, or auto: what they look like",
		string(convert.AutoFormat), string(convert.Files), string(convert.WebDataset))
	fs.StringVar(&o.ImageKey, "image-key", "", "feature `KEY` of TFRecords that is the image (default image/encoded), or column of Parquet and Arrow files (default: found by its structs)")
	cli.TextVar(fs, "features", "", "NAME[:KIND],...", "store these columns of --table or of SRC, or keys in the .json of WebDatasets, as int64, float or bytes (default: their own kind)", func(s string) (err error) {
		o.Features, err = convert.ParseFeatures(s)
		return err
	})
	fs.BoolVar(&o.Labels.Strict, "strict", false, "refuse a source with images that would be left out, such as those that --table does not name")
	fs.StringVar(&o.Labels.Classes, "classes", "", "`FILE` with the names of all classes in the order of their ids, one per line, or a directory or id and its name; or a label map")
	fs.BoolVar(&o.Labels.None, "unlabelled", false, "store no labels")
	fs.IntVar(&o.Labels.Offset, "label-offset", 0, "start label ids at `N`, after N background names")
	addAnnotationFlags(fs, &o.Annotations)
	cli.TextVar(fs, "rename", "", "OLD=NEW,...", "store features under other keys, such as image/encoded=image", func(s string) error {
		if o.Rename == nil {
			o.Rename = map[string]string{}
		}
		for _, pair := range strings.Split(s, ",") {
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
	})
	fs.StringArrayVar(&o.Select.Include, "include", nil, "convert only paths that match `GLOB` (repeatable; ** matches any directories)")
	fs.StringArrayVar(&o.Select.Exclude, "exclude", nil, "skip paths that match `GLOB` (repeatable)")
	fs.BoolVar(&o.Select.FollowSymlinks, "follow-symlinks", false, "follow symbolic links")
	cli.TextVar(fs, "augment", "", "SPEC|FILE", "make variants of each image: a policy such as hflip:0.5|rotate:15, or a YAML file (see tfrec augment list)", func(s string) (err error) {
		o.Augment.Policy, err = augment.LoadPolicy(s)
		return err
	})
	fs.IntVar(&o.Augment.Copies, "copies", 0, "make `N` variants of each image (default 1 with --augment)")
	fs.BoolVar(&o.Augment.KeepOriginal, "keep-original", false, "also store the original")
	fs.StringSliceVar(&o.Augment.Splits, "augment-splits", nil, "make variants in the splits `NAME,...` (default train)")
	cli.TextVar(fs, "resize", "", "WxH|N", "resize to width x height, or the shorter side to N and then a centre crop to NxN", func(s string) error {
		size, err := augment.ParseSize(s)
		o.Resize.Width, o.Resize.Height, o.Resize.Square = size.Width, size.Height, size.Square
		return err
	})
	cli.TextVar(fs, "fit", "stretch", "HOW", "how to fit images to WxH: stretch, crop, pad, shorter (fit that side) or longer (fit that side)", func(s string) (err error) {
		o.Resize.Fit, err = augment.ParseFit(s)
		return err
	}, "stretch", "crop", "pad", "shorter", "longer")
	cli.TextVar(fs, "pad-color", "", "RRGGBB", "colour that --fit pad fills with (default 000000)", func(s string) (err error) {
		o.Resize.PadColor, err = parseColor(s)
		return err
	})
	fs.BoolVar(&o.Resize.NoUpscale, "no-upscale", false, "never enlarge an image")
	cli.TextVar(fs, "filter", "bilinear", "NAME", "bilinear, lanczos3, bicubic, area or nearest", func(s string) (err error) {
		o.Resize.Filter, err = augment.ParseFilter(s)
		return err
	}, "bilinear", "lanczos3", "bicubic", "area", "nearest")
	cli.NotVar(fs, &o.Resize.NoAntialias, "antialias", "take every source pixel into account when reducing, as Pillow does; false: as tf.image.resize")
	cli.WordVar(fs, &o.Encode.Format, "encode", "", "HOW", "jpeg, png, raw, float32 or keep (the file's bytes unchanged; default: keep, or jpeg when pixels change)",
		string(convert.Keep), string(convert.JPEG), string(convert.PNG), string(convert.Raw), string(convert.Float32))
	fs.IntVar(&o.Encode.Quality, "quality", 0, "JPEG quality `N`, 1 to 100 (default 95)")
	cli.WordVar(fs, &o.Encode.Subsampling, "subsampling", "", "HOW", "JPEG chroma subsampling: 420, 422, 440 or 444 (default 420)", "420", "422", "440", "444")
	cli.TextVar(fs, "channels", "", "1|3", "channels to store (default: the image's; 3 for raw and float32)", func(s string) error {
		switch s {
		case "1", "3":
			o.Encode.Channels = int(s[0] - '0')
			return nil
		}
		return errors.New("want 1 or 3")
	}, "1", "3")
	cli.TextVar(fs, "mean", "0,0,0", "R,G,B", "mean that float32 subtracts, for pixels in 0..1", func(s string) (err error) {
		o.Encode.Normalize.Mean, err = parseTriple(s)
		return err
	})
	cli.TextVar(fs, "std", "1,1,1", "R,G,B", "standard deviation that float32 divides by", func(s string) (err error) {
		o.Encode.Normalize.Std, err = parseTriple(s)
		return err
	})
	fs.IntVar(&o.Select.MinSize, "min-size", 0, "skip images whose shorter side is below `N` pixels")
	fs.Float64Var(&o.Select.MaxAspect, "max-aspect", 0, "skip images whose longer side is more than `R` times the shorter")
	cli.DecoderVar(fs, &o.Codec.Decoder)
	cli.TextVar(fs, "gpu", "off", "WHEN", "augment, resize and normalise on an NVIDIA GPU, to the same bytes: auto (if there is one), on (or fail) or off", func(s string) (err error) {
		onGPU.when, err = parseGPU(s)
		return err
	}, "auto", "on", "off")
	fs.BoolVar(&onGPU.decode, "gpu-decode", false, "decode JPEGs on the GPU with nvJPEG, to slightly different pixels: another decoder in the manifest")
	fs.Int64Var(&o.Codec.MaxPixels, "max-pixels", augment.DefaultMaxPixels, "refuse images of more than `N` pixels, and those over a quarter of that with more than 8192 pixels per byte of the file")
	fs.BoolVar(&o.Codec.AllowArithmetic, "allow-arithmetic", false, "decode arithmetic-coded JPEGs, whose damage goes unnoticed, with libjpeg-turbo")
	cli.FloatRangeVar(fs, &o.Codec.FloatRange)
	cli.TextVar(fs, "memory", "", "SIZE", "memory for all images being processed, such as 4GiB; one that needs more is processed alone (default a quarter of what this process may use)", func(s string) (err error) {
		o.Memory, err = cli.ParseSize(s)
		return err
	})
	cli.TextVar(fs, "background", "", "RRGGBB", "composite transparent images on this colour (default: drop the alpha channel)", func(s string) error {
		c, err := parseColor(s)
		o.Codec.Background = &c
		return err
	})
	fs.BoolVar(&o.ExactPixels, "exact-pixels", false, "always resize in RGB and from the full size, never in planes or from a reduced decode")
	fs.BoolVar(&o.Encode.NoCheck, "no-check", false, "under --encode keep, do not decode images to find damage")
	e.AddFlags(fs)
	return cmd
}

// isYAML reports whether --augment names a file.
func isYAML(policy string) bool {
	ext := strings.ToLower(filepath.Ext(policy))
	return ext == ".yaml" || ext == ".yml"
}

// checkImageFlags refuses flags that mean nothing without others.
func checkImageFlags(cmd *cobra.Command, o *convert.ImageOptions) error {
	changed := cmd.Flags().Changed
	if changed("multi-label") && o.Labels.Separator == "" {
		return cli.UsageError("--multi-label: want a separator, such as |")
	}
	if changed("labels") && changed("table") {
		return cli.UsageError("--labels and --table: give one of them")
	}
	if changed("labels") && changed("features") {
		return cli.UsageError("--features: needs --table instead of --labels")
	}
	if changed("labels") && changed("annotations") {
		return cli.UsageError("--labels and --annotations: give one of them: annotations say which images are used and what is on them")
	}
	if o.Resize.Square > 0 && changed("fit") {
		return cli.UsageError("--fit: --resize N crops to a square; --fit is for --resize WxH")
	}
	if changed("pad-color") && o.Resize.Fit != augment.Pad {
		return cli.UsageError("--pad-color: is for --fit pad")
	}
	if !changed("resize") {
		for _, name := range []string{"fit", "pad-color", "no-upscale", "filter", "antialias"} {
			if changed(name) {
				return cli.UsageError("--%s: needs --resize", name)
			}
		}
	}
	if changed("copies") && o.Augment.Copies < 1 {
		return cli.UsageError("--copies %d: want 1 or more", o.Augment.Copies)
	}
	if changed("memory") && o.Memory < 1e6 {
		return cli.UsageError("--memory: %d bytes are too few: want 1MB or more", o.Memory)
	}
	if changed("quality") && (o.Encode.Quality < 1 || o.Encode.Quality > 100) {
		return cli.UsageError("--quality %d is not between 1 and 100", o.Encode.Quality)
	}
	return nil
}

// parseColor reads RRGGBB.
func parseColor(s string) (c [3]uint8, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "#"))
	if err != nil || len(b) != 3 {
		return c, fmt.Errorf("want six hexadecimal digits such as ffffff")
	}
	return [3]uint8(b), nil
}

// parseTriple reads one number for all channels, or three.
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
