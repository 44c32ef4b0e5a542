package conversion

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
)

// imageFlags are the flags of convert images.
type imageFlags struct {
	convertFlags
	images convert.ImageOptions
	labels string
	gpu    gpuUse
}

func newImageFlags(e *Engine) *imageFlags {
	f := &imageFlags{convertFlags: convertFlags{engine: e}, gpu: gpuUse{when: gpuOff}}
	f.options = &f.images.Options
	f.table = slices.Concat(f.images.Table(), f.convertFlags.rows(), f.rows()) // --labels is not the key of this name
	return f
}

// rows are the options that package convert does not have.
func (f *imageFlags) rows() []option.Option {
	return []option.Option{
		{
			Flag: "labels", Group: option.Labels, To: &f.labels, Help: "--table `FILE` without --features",
			Excludes: map[string]string{
				"table":       "",
				"features":    "--features needs --table",
				"annotations": "annotations say which images are used and what is on them",
			},
		},
		{
			Flag: "gpu", Group: option.Machine, To: &f.gpu.when, Value: "WHEN", Default: string(gpuOff), Words: []string{string(gpuAuto), string(gpuOn), string(gpuOff)},
			Help: "augment, resize and normalise on an NVIDIA GPU, to the same bytes: auto (if there is one), on (or fail) or off",
		},
		{Flag: "gpu-decode", Group: option.Machine, To: &f.gpu.decode, Help: "decode JPEGs on the GPU with nvJPEG, to slightly different pixels: another decoder in the manifest"},
	}
}

func newConvertImagesCommand(e *Engine) *cobra.Command {
	f := newImageFlags(e)
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
testing, eval or evaluation; so are those in a directory of images, such as
images/train. data.yaml, VOC's ImageSets, lists such as train.txt, and a column of
--table state splits, too; --splits replaces them all. Hidden files and directories, and
__MACOSX, are skipped.

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
			return f.convert(cmd, args[0], args[1])
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// convert converts src into a set in out.
func (f *imageFlags) convert(cmd *cobra.Command, src, out string) error {
	o := &f.images
	return f.run(cmd, out, &conversion{
		complete: func() error {
			if f.labels != "" {
				o.Labels.File = f.labels
			}
			if policy := cmd.Flag("augment").Value.String(); isYAML(policy) {
				o.AlsoReads = append(o.AlsoReads, policy)
			}
			return f.gpu.check(cmd, o)
		},
		whole: func(ctx context.Context) (*convert.Summary, error) {
			return f.gpu.run(o, func() (*convert.Summary, error) { return convert.Images(ctx, src, out, *o) })
		},
		begin: func(ctx context.Context) (*convert.Job, error) { return convert.BeginImages(ctx, src, out, *o) },
		join:  func(ctx context.Context) (*convert.Job, error) { return convert.JoinImages(ctx, src, out, *o) },
	})
}

// isYAML reports whether --augment names a file.
func isYAML(policy string) bool {
	ext := strings.ToLower(filepath.Ext(policy))
	return ext == ".yaml" || ext == ".yml"
}
