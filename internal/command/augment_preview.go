package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/codec/thumbnail"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// previewOptions are the flags of augment preview.
type previewOptions struct {
	// images are what convert images would be told.
	images convert.ImageOptions
	mask   string
	sheet  string
	copies int
	cell   int
	key    string
}

// Limits that keep a sheet readable.
const (
	maxPreviews    = 399
	maxPreviewCell = 1024
)

// sheetGap is between the cells of a sheet and around them, in pixels.
const sheetGap = 4

func newAugmentPreviewCommand() *cobra.Command {
	var o previewOptions
	cmd := &cobra.Command{
		Use:   "preview IMAGE --augment SPEC|FILE -o SHEET.png",
		Short: "Make a contact sheet of variants of an image",
		Long: `Make a contact sheet of variants of an image: the original at the top left, then
copy 1, 2 and so on, as convert images makes them with the same seed for an
image with that key. The random choices for each are printed.

With --annotations, each variant has the boxes, names and, with --instance-masks,
masks of the objects that convert images would store with it, and their number
beneath. They are those of the annotations of KEY, as of SRC's only image: give
--key if images in several directories have one name. --mask draws a mask of
classes.`,
		Example: `  tfrec augment preview cat.jpg --augment 'rotate:30|hflip' -o sheet.png
  tfrec augment preview photos/cats/1.jpg --key cats/1.jpg --seed 7 --augment train.yaml --copies 8 -o sheet.png
  tfrec augment preview images/1.jpg --annotations instances.json --augment 'iou_crop|hflip' --min-visibility 0.3 -o sheet.png`,
		Args: cli.ExactArgs("IMAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return runPreview(cmd, args[0], &o)
		},
	}
	fs := cmd.Flags()
	cli.TextVar(fs, "augment", "", "SPEC|FILE", "the policy: text such as hflip|rotate:15, or a YAML file", func(s string) (err error) {
		o.images.Augment.Policy, err = augment.LoadPolicy(s)
		return err
	})
	fs.StringVarP(&o.sheet, "output", "o", "", "write the PNG `FILE`")
	fs.IntVar(&o.copies, "copies", 15, "make `N` variants")
	fs.IntVar(&o.cell, "cell", 192, "make each small image `N` pixels wide and high")
	cli.SeedVar(fs, &o.images.Seed, "seed, as that of convert")
	fs.StringVar(&o.key, "key", "", "`KEY` of the image in convert: its path below SRC (default: the file's name)")
	options := o.images.Table()
	for _, flag := range []string{"decoder", "float-range", "annotations", "annotation-format", "instance-masks", "min-visibility"} {
		row := options.Find(flag)
		if does, ok := strings.CutPrefix(row.Help, "store "); ok {
			row.Help = "draw " + does
		}
		cli.AddOption(fs, row)
	}
	fs.StringVar(&o.images.Labels.Classes, "classes", "", "`FILE` with the classes of --annotations, a name on each line")
	fs.StringVar(&o.mask, "mask", "", "draw the mask of classes in the PNG `FILE`")
	cli.Group(fs, option.Labels, "classes", "mask")
	return cmd
}

func (o *previewOptions) check() error {
	switch {
	case o.images.Augment.Policy == nil:
		return cli.UsageError("--augment is missing: give a policy")
	case o.images.Augment.Policy.Mixes():
		return cli.UsageError("--augment %s mixes images with others of their split, and one image has none: leave that operation out here, and see its results with tfrec preview of a converted set", o.images.Augment.Policy)
	case o.sheet == "":
		return cli.UsageError("-o is missing: name the PNG file to write")
	case !strings.EqualFold(filepath.Ext(o.sheet), ".png"):
		return cli.UsageError("-o %s: want a name that ends in .png", o.sheet)
	case o.copies < 1 || o.copies > maxPreviews:
		return cli.UsageError("--copies %d: want 1 to %d", o.copies, maxPreviews)
	case o.cell < 16 || o.cell > maxPreviewCell:
		return cli.UsageError("--cell %d: want 16 to %d", o.cell, maxPreviewCell)
	case len(o.images.Annotations.Files) > 0:
		return nil
	case o.images.Labels.Classes != "":
		return cli.UsageError("--classes is for --annotations")
	case o.images.Annotations.MinVisibility != 0:
		return cli.UsageError("--min-visibility is for --annotations")
	}
	return nil
}

// previewResult is the output of `augment preview --json`.
type previewResult struct {
	Sheet   string `json:"sheet"`
	Augment string `json:"augment"`
	Seed    uint64 `json:"seed"`
	Key     string `json:"key"`
	Decoder string `json:"decoder"`
	// Annotations names the source of the annotations; empty without --annotations. Faults are the
	// annotations that cannot be used, and Objects the objects of the original.
	Annotations string         `json:"annotations,omitempty"`
	Faults      []string       `json:"faults,omitempty"`
	Objects     []previewLabel `json:"objects,omitzero"`
	Variants    []variant      `json:"variants"`
}

type variant struct {
	Copy   int          `json:"copy"`
	Width  int          `json:"width"`
	Height int          `json:"height"`
	Ops    augment.Draw `json:"ops"`
	// Objects are those that are left, with --annotations, and Dropped counts the others.
	Objects []previewLabel `json:"objects,omitzero"`
	Dropped int64          `json:"dropped,omitempty"`
}

// maxImageFile is the largest image file in bytes.
const maxImageFile = 1 << 30

// checkSheet returns an error if the sheet cannot be written, or would replace an input.
func checkSheet(ctx context.Context, o *previewOptions, image string) error {
	exists, err := output.FindLocal(ctx, o.sheet)
	if err != nil || !exists {
		return err
	}
	inputs := []string{image, o.mask, o.images.Labels.Classes}
	for _, f := range o.images.Annotations.Files {
		inputs = append(inputs, f.Path)
	}
	return output.NotInput(ctx, o.sheet, inputs...)
}

func runPreview(cmd *cobra.Command, path string, o *previewOptions) error {
	codec, err := augment.NewCodec(o.images.Codec)
	if err != nil {
		return err
	}
	if err := checkSheet(cmd.Context(), o, path); err != nil {
		return err
	}
	data, err := storage.ReadFile(cmd.Context(), path, maxImageFile)
	if err != nil {
		return err
	}
	p := variantSheet{variants: o.copies + 1, cell: o.cell}
	p.scratch.Codec = codec
	if _, err := codec.Decode(&p.image, data, augment.DecodeOptions{}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var mask []byte
	if o.mask != "" {
		if mask, err = storage.ReadFile(cmd.Context(), o.mask, maxImageFile); err != nil {
			return err
		}
	}
	result := previewResult{Sheet: o.sheet, Augment: o.images.Augment.Policy.String(), Seed: o.images.Seed, Key: o.key, Decoder: codec.Decoder()}
	if result.Key == "" {
		result.Key = filepath.Base(path)
	}
	note := func(string) {}
	if !cli.QuietFlag(cmd) {
		note = cli.NotesTo(cmd.ErrOrStderr())
	}
	o.images.Note = note
	if p.source, err = convert.NewImageVariants(cmd.Context(), result.Key, data, mask, o.images); err != nil {
		return err
	}
	result.Annotations = p.source.Annotations
	result.Faults = append(result.Faults, p.source.Faults...)
	if err := p.begin(); err != nil {
		return err
	}
	for i := range o.copies + 1 {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		v, problem, err := p.add(i)
		if err != nil {
			return fmt.Errorf("%s: copy %d: %w", path, i, err)
		}
		if problem != "" {
			note(fmt.Sprintf("copy %d: %s", i, problem))
		}
		if i == 0 {
			result.Objects = v.Objects
		} else {
			result.Variants = append(result.Variants, v)
		}
	}
	png, err := thumbnail.PNG(p.sheet.Image)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Dir(o.sheet), o.sheet, png); err != nil {
		return err
	}
	for _, fault := range result.Faults {
		note("not drawn: " + fault)
	}
	if cli.JSONFlag(cmd) {
		return cli.PrintJSON(cmd, result)
	}
	return printPreview(cli.SummaryTo(cmd), &result)
}

func printPreview(w io.Writer, p *previewResult) error {
	fmt.Fprintf(w, "%s: the original and %s of it, in rows from the top left\n", p.Sheet, plural.Of(len(p.Variants), "variant"))
	if p.Annotations != "" {
		fmt.Fprintf(w, "annotations of %s: %s\n", printable.String(p.Annotations), plural.Of(len(p.Objects), "object"))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range p.Variants {
		ops, err := json.Marshal(v.Ops)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "  %d\t%dx%d\t", v.Copy, v.Width, v.Height)
		if p.Annotations != "" {
			fmt.Fprintf(table, "%s, %d dropped\t", plural.Of(len(v.Objects), "object"), v.Dropped)
		}
		fmt.Fprintf(table, "%s\n", ops)
	}
	return table.Flush()
}
