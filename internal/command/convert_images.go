package command

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
)

func newConvertImagesCommand(e *Engine) *cobra.Command {
	f := convertFlags{engine: e}
	o := convert.ImageOptions{}
	o.Resize.Antialias = true
	onGPU := gpuUse{when: gpuOff}
	cmd := &cobra.Command{
		Use:   "images SRC OUT",
		Short: "Convert a directory of images to shards",
		Long: `Convert the images below SRC to a sharded set of TFRecords in OUT.

The label of an image is the name of its first directory: SRC/daisy/1.jpg is a
daisy. Directories above the class directories are taken as splits if they are
named, in any case, train or training; val, valid, validation or dev; test,
testing or eval. Hidden files and directories, and __MACOSX, are left alone.

Images without class directories need --labels FILE or --unlabelled. FILE has a
path below SRC and a label in each row: CSV or TSV, plain, .gz or .zst, or a
space-separated list. The columns are found by their names: path, file,
filename, file_name, image, image_path or id; label, class, target, category or
tags. Without a header they are the first two.

Label ids follow the names of all labels in all splits, sorted: as numbers where
they are all integers, so that classes 0 to N-1 are their own ids, and by their
bytes otherwise.

JPEG, PNG, GIF (first frame), BMP, WebP and TIFF are read, recognised by content.
Damaged images are listed in OUT/errors.jsonl; --max-errors says how many are
allowed.`,
		Example: `  tfrec convert images photos/ out/
  tfrec convert images photos/ out/ --resize 224 --splits train=0.9,val=0.1
  tfrec convert images photos/ out/ --resize 299x299 --fit pad --encode png --shards 16`,
		Args:        f.args(exactArgs("SRC", "OUT")),
		Annotations: map[string]string{faultsMean: convertFaults},
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
	fs.StringVar(&o.Labels.File, "labels", "", "`FILE` with a path and a label in each row, for images without class directories")
	fs.StringVar(&o.Labels.PathColumn, "path-column", "", "`NAME` of the column of --labels with the paths (default: found by its name)")
	fs.StringVar(&o.Labels.Column, "label-column", "", "`NAME` of the column of --labels with the labels (default: found by its name)")
	fs.StringVar(&o.Labels.PathSuffix, "image-suffix", "", "append `SUFFIX`, such as .jpg, to paths in --labels that lack it")
	fs.BoolVar(&o.Labels.None, "unlabelled", false, "store no labels")
	fs.IntVar(&o.Labels.Offset, "label-offset", 0, "start label ids at `N`, after N background names")
	textVar(fs, "rename", "", "OLD=NEW,...", "store features under other keys, such as image/encoded=image", func(s string) error {
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
	textVar(fs, "augment", "", "SPEC|FILE", "make variants of each image: a policy such as hflip:0.5|rotate:15, or a YAML file (see tfrec augment list)", func(s string) (err error) {
		o.Augment.Policy, err = augment.LoadPolicy(s)
		return err
	})
	fs.IntVar(&o.Augment.Copies, "copies", 0, "make `N` variants of each image (default 1 with --augment)")
	fs.BoolVar(&o.Augment.KeepOriginal, "keep-original", false, "also store the original")
	fs.StringSliceVar(&o.Augment.Splits, "augment-splits", nil, "make variants in the splits `NAME,...` (default train)")
	textVar(fs, "resize", "", "WxH|N", "resize to width x height, or the shorter side to N and then a centre crop to NxN", func(s string) error {
		size, err := augment.ParseSize(s)
		o.Resize.Width, o.Resize.Height, o.Resize.Square = size.Width, size.Height, size.Square
		return err
	})
	textVar(fs, "fit", "stretch", "HOW", "how to fit images to WxH: stretch, crop, pad, shorter (fit that side) or longer (fit that side)", func(s string) (err error) {
		o.Resize.Fit, err = augment.ParseFit(s)
		return err
	}, "stretch", "crop", "pad", "shorter", "longer")
	textVar(fs, "pad-color", "", "RRGGBB", "colour that --fit pad fills with (default 000000)", func(s string) (err error) {
		o.Resize.PadColor, err = parseColor(s)
		return err
	})
	fs.BoolVar(&o.Resize.NoUpscale, "no-upscale", false, "never enlarge an image")
	textVar(fs, "filter", "bilinear", "NAME", "bilinear, lanczos3, bicubic, area or nearest", func(s string) (err error) {
		o.Resize.Filter, err = augment.ParseFilter(s)
		return err
	}, "bilinear", "lanczos3", "bicubic", "area", "nearest")
	fs.BoolVar(&o.Resize.Antialias, "antialias", true, "take every source pixel into account when reducing, as Pillow does; false: as tf.image.resize")
	wordVar(fs, &o.Encode.Format, "encode", "", "HOW", "jpeg, png, raw, float32 or keep (the file's bytes unchanged; default: keep, or jpeg when pixels change)",
		string(convert.Keep), string(convert.JPEG), string(convert.PNG), string(convert.Raw), string(convert.Float32))
	fs.IntVar(&o.Encode.Quality, "quality", 0, "JPEG quality `N`, 1 to 100 (default 95)")
	wordVar(fs, &o.Encode.Subsampling, "subsampling", "", "HOW", "JPEG chroma subsampling: 420, 422, 440 or 444 (default 420)", "420", "422", "440", "444")
	textVar(fs, "channels", "", "1|3", "channels to store (default: the image's; 3 for raw and float32)", func(s string) error {
		switch s {
		case "1", "3":
			o.Encode.Channels = int(s[0] - '0')
			return nil
		}
		return errors.New("want 1 or 3")
	}, "1", "3")
	textVar(fs, "mean", "0,0,0", "R,G,B", "mean that float32 subtracts, for pixels in 0..1", func(s string) (err error) {
		o.Encode.Normalize.Mean, err = parseTriple(s)
		return err
	})
	textVar(fs, "std", "1,1,1", "R,G,B", "standard deviation that float32 divides by", func(s string) (err error) {
		o.Encode.Normalize.Std, err = parseTriple(s)
		return err
	})
	fs.IntVar(&o.Select.MinSize, "min-size", 0, "skip images whose shorter side is below `N` pixels")
	fs.Float64Var(&o.Select.MaxAspect, "max-aspect", 0, "skip images whose longer side is more than `R` times the shorter")
	decoderVar(fs, &o.Codec.Decoder)
	textVar(fs, "gpu", "off", "WHEN", "augment, resize and normalise on an NVIDIA GPU, to the same bytes: auto (if there is one), on (or fail) or off", func(s string) (err error) {
		onGPU.when, err = parseGPU(s)
		return err
	}, "auto", "on", "off")
	fs.BoolVar(&onGPU.decode, "gpu-decode", false, "decode JPEGs on the GPU with nvJPEG, to slightly different pixels: another decoder in the manifest")
	fs.Int64Var(&o.Codec.MaxPixels, "max-pixels", augment.DefaultMaxPixels, "refuse images of more than `N` pixels, and those over a quarter of that with more than 8192 pixels per byte of the file")
	fs.BoolVar(&o.Codec.AllowArithmetic, "allow-arithmetic", false, "decode arithmetic-coded JPEGs, whose damage goes unnoticed, with libjpeg-turbo")
	textVar(fs, "memory", "", "SIZE", "memory for all images being processed, such as 4GiB; one that needs more is processed alone (default a quarter of what this process may use)", func(s string) (err error) {
		o.Memory, err = parseSize(s)
		return err
	})
	textVar(fs, "background", "", "RRGGBB", "composite transparent images on this colour (default: drop the alpha channel)", func(s string) error {
		c, err := parseColor(s)
		o.Codec.Background = &c
		return err
	})
	fs.BoolVar(&o.ExactPixels, "exact-pixels", false, "always resize in RGB and from the full size, never in planes or from a reduced decode")
	fs.BoolVar(&o.Encode.NoCheck, "no-check", false, "under --encode keep, do not decode images to find damage")
	e.addFlags(fs)
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
	if o.Resize.Square > 0 && changed("fit") {
		return usageError("--fit: --resize N crops to a square; --fit is for --resize WxH")
	}
	if changed("pad-color") && o.Resize.Fit != augment.Pad {
		return usageError("--pad-color: is for --fit pad")
	}
	if !changed("resize") {
		for _, name := range []string{"fit", "pad-color", "no-upscale", "filter", "antialias"} {
			if changed(name) {
				return usageError("--%s: needs --resize", name)
			}
		}
	}
	if changed("copies") && o.Augment.Copies < 1 {
		return usageError("--copies %d: want 1 or more", o.Augment.Copies)
	}
	if changed("memory") && o.Memory < 1e6 {
		return usageError("--memory: %d bytes are too few: want 1MB or more", o.Memory)
	}
	if changed("quality") && (o.Encode.Quality < 1 || o.Encode.Quality > 100) {
		return usageError("--quality %d is not between 1 and 100", o.Encode.Quality)
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
