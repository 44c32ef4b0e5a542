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
		Long: `Convert the images of SRC to a sharded set of TFRecords in OUT. SRC is a directory, an
archive, TFRecords or a Parquet file. Labels are the names of class directories, or come
from --table or --annotations. Images are stored unchanged unless --resize, --encode or
--augment is given; those that cannot be used are listed in OUT/errors.jsonl.`,
		Example: `  tfrec convert images photos/ out/
  tfrec convert images photos/ out/ --resize 224 --splits train=0.9,val=0.1
  tfrec convert images photos.tar.gz out/ --table photos.csv --features caption
  tfrec convert images photos/ out/ --annotations instances.json --resize 640x640 --fit pad
  tfrec convert images 'train-*.parquet' out/ --image-key image`,
		Args:        f.args(cli.ExactArgs("SRC", "OUT")),
		Annotations: map[string]string{cli.FaultsMean: convertFaults, cli.Topics: "sources labels splits annotations augment formats stores"},
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
