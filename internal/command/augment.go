package command

import (
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/atomicfile"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/regular"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/thumbnail"
)

func newAugmentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "augment",
		GroupID: groupConvert,
		Short:   "List and try out augmentation operations",
		Long: `List and try out the operations of convert images --augment.

A policy is a text such as

  random_resized_crop:224,scale=0.3-1|hflip|one_of:p=0.5(posterize:4|solarize:128)

or a YAML file with the same names. Operations are separated by |; their values
are given in order or by name, separated by commas; a range is lo-hi or lo..hi.`,
	}
	cmd.AddCommand(newAugmentListCommand(), newAugmentPreviewCommand())
	return cmd
}

func newAugmentListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [OPERATION]...",
		Short: "Describe the operations that a policy may hold",
		Long: `Describe the operations that a policy may contain: all of them in a line each, or
those named with all their parameters.`,
		Example: `  tfrec augment list
  tfrec augment list random_resized_crop affine
  tfrec augment list --json | jq -r '.operations[].name'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			operations := augment.Operations()
			if len(args) > 0 {
				var err error
				if operations, err = chosen(operations, args); err != nil {
					return err
				}
			}
			if jsonFlag(cmd) {
				return printJSON(cmd, struct {
					Operations []augment.Operation `json:"operations"`
				}{operations})
			}
			if len(args) > 0 {
				printOperations(cmd.OutOrStdout(), operations)
			} else {
				listOperations(cmd.OutOrStdout(), operations)
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, o := range augment.Operations() {
				names = append(names, o.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// chosen are the operations of the names, in their order.
func chosen(operations []augment.Operation, names []string) ([]augment.Operation, error) {
	var some []augment.Operation
	for _, name := range names {
		i := slices.IndexFunc(operations, func(o augment.Operation) bool { return o.Name == name })
		if i < 0 {
			return nil, usageError("unknown operation %q; tfrec augment list names all", name)
		}
		some = append(some, operations[i])
	}
	return some, nil
}

// kindTitles are the headings of the operations' kinds.
var kindTitles = map[string]string{
	"shape": "Shape", "color": "Colour", "degrade": "Blur, noise and loss", "policy": "Learned policies", "group": "Groups",
}

// listOperations prints a line for each operation.
func listOperations(w io.Writer, operations []augment.Operation) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	kind := ""
	for _, o := range operations {
		if o.Kind != kind {
			if kind != "" {
				fmt.Fprintln(table)
			}
			kind = o.Kind
			fmt.Fprintf(table, "%s:\n", kindTitles[kind])
		}
		fmt.Fprintf(table, "  %s\t%s\n", signature(o), o.About)
	}
	table.Flush() // resultWriter keeps the error
}

// signature is the operation with its parameters, those with a default as
// name=default.
func signature(o augment.Operation) string {
	var params []string
	for _, p := range o.Parameters {
		if p.Default == "" {
			params = append(params, strings.ToUpper(p.Name))
		} else if p.Name == "p" || len(o.Parameters) <= 2 {
			params = append(params, p.Name+"="+p.Default)
		} else {
			params = append(params, p.Name)
		}
	}
	s := o.Name + ":" + strings.Join(params, ",")
	if o.Kind == "group" {
		s += "(...|...)"
	}
	return s
}

// printOperations prints all that is known of operations.
func printOperations(w io.Writer, operations []augment.Operation) {
	for i, o := range operations {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s", o.Name, o.About)
		if o.Torchvision != "" {
			fmt.Fprintf(w, " (torchvision's %s)", o.Torchvision)
		}
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, p := range o.Parameters {
			initial := "required"
			if p.Default != "" {
				initial = "default " + p.Default
			}
			fmt.Fprintf(table, "  %s\t%s\t%s: %s\n", p.Name, initial, p.About, p.Allowed)
		}
		table.Flush() // resultWriter keeps the error
	}
}

// previewOptions are the flags of augment preview.
type previewOptions struct {
	policy  *augment.Policy
	sheet   string
	copies  int
	cell    int
	seed    uint64
	key     string
	decoder string
}

// Limits of what a person can look at.
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
image with that key. The random choices for each are printed.`,
		Example: `  tfrec augment preview cat.jpg --augment 'rotate:30|hflip' -o sheet.png
  tfrec augment preview photos/cats/1.jpg --key cats/1.jpg --seed 7 --augment train.yaml --copies 8 -o sheet.png`,
		Args: exactArgs("IMAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return runPreview(cmd, args[0], &o)
		},
	}
	fs := cmd.Flags()
	textVar(fs, "augment", "", "SPEC|FILE", "the policy: text such as hflip|rotate:15, or a YAML file", func(s string) (err error) {
		o.policy, err = augment.LoadPolicy(s)
		return err
	})
	fs.StringVarP(&o.sheet, "output", "o", "", "write the PNG `FILE`")
	fs.IntVar(&o.copies, "copies", 15, "make `N` variants")
	fs.IntVar(&o.cell, "cell", 192, "make each small image `N` pixels wide and high")
	seedVar(fs, &o.seed, "seed, as that of convert")
	fs.StringVar(&o.key, "key", "", "`KEY` of the image in convert: its path below SRC (default: the file's name)")
	decoderVar(fs, &o.decoder)
	return cmd
}

func (o *previewOptions) check() error {
	switch {
	case o.policy == nil:
		return usageError("--augment is missing: give a policy")
	case o.sheet == "":
		return usageError("-o is missing: name the PNG file to write")
	case !strings.EqualFold(filepath.Ext(o.sheet), ".png"):
		return usageError("-o %s: want a name that ends in .png", o.sheet)
	case storage.Remote(o.sheet):
		return storage.CheckOutput(o.sheet)
	case o.copies < 1 || o.copies > maxPreviews:
		return usageError("--copies %d: want 1 to %d", o.copies, maxPreviews)
	case o.cell < 16 || o.cell > maxPreviewCell:
		return usageError("--cell %d: want 16 to %d", o.cell, maxPreviewCell)
	}
	return nil
}

// preview is what `augment preview --json` prints.
type preview struct {
	Sheet    string    `json:"sheet"`
	Augment  string    `json:"augment"`
	Seed     uint64    `json:"seed"`
	Key      string    `json:"key"`
	Decoder  string    `json:"decoder"`
	Variants []variant `json:"variants"`
}

type variant struct {
	Copy   int          `json:"copy"`
	Width  int          `json:"width"`
	Height int          `json:"height"`
	Ops    augment.Draw `json:"ops"`
}

// maxImageFile is the largest image file in bytes.
const maxImageFile = 1 << 30

func runPreview(cmd *cobra.Command, path string, o *previewOptions) error {
	codec, err := augment.NewCodec(augment.CodecOptions{Decoder: o.decoder})
	if err != nil {
		return err
	}
	data, err := regular.ReadFile(path, maxImageFile)
	if err != nil {
		return err
	}
	var im, varied augment.Image
	if _, err := codec.Decode(&im, data, augment.DecodeOptions{}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	sheet, err := thumbnail.NewSheet(1+o.copies, thumbnail.Layout{Side: o.cell, Gap: sheetGap, Ground: color.White})
	if err != nil {
		return err
	}
	scratch := augment.Scratch{Codec: codec}
	add := func(im *augment.Image) error {
		thumb, err := thumbnail.New(im, o.cell, true, &scratch)
		if err != nil {
			return fmt.Errorf("sheet: %w", err)
		}
		_, err = sheet.Add(thumb)
		return err
	}
	if err := add(&im); err != nil {
		return err
	}
	result := preview{Sheet: o.sheet, Augment: o.policy.String(), Seed: o.seed, Key: o.key, Decoder: codec.Decoder()}
	if result.Key == "" {
		result.Key = filepath.Base(path)
	}
	for i := range o.copies {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		draw := o.policy.Draw(o.seed, result.Key, i+1, im.Width, im.Height)
		if err := draw.Apply(&varied, &im, &scratch); err != nil {
			return fmt.Errorf("%s: copy %d: %w", path, i+1, err)
		}
		if err := add(&varied); err != nil {
			return err
		}
		result.Variants = append(result.Variants, variant{i + 1, varied.Width, varied.Height, draw})
	}
	png, err := thumbnail.PNG(sheet.Image)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Dir(o.sheet), o.sheet, png); err != nil {
		return err
	}
	if jsonFlag(cmd) {
		return printJSON(cmd, result)
	}
	return printPreview(summaryTo(cmd), &result)
}

func printPreview(w io.Writer, p *preview) error {
	fmt.Fprintf(w, "%s: the original and %s of it, in rows from the top left\n", p.Sheet, plural.Of(len(p.Variants), "variant"))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range p.Variants {
		ops, err := json.Marshal(v.Ops)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "  %d\t%dx%d\t%s\n", v.Copy, v.Width, v.Height, ops)
	}
	return table.Flush()
}
