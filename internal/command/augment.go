package command

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/command/cli"
)

func newAugmentCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "augment",
		GroupID: cli.GroupMake,
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
			if cli.JSONFlag(cmd) {
				return cli.PrintJSON(cmd, struct {
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
			return nil, cli.UsageError("unknown operation %q; tfrec augment list names all", name)
		}
		some = append(some, operations[i])
	}
	return some, nil
}

// kindTitles are the headings of the operations' kinds.
var kindTitles = map[string]string{
	"shape": "Shape", "color": "Colour", "degrade": "Blur, noise and loss", "policy": "Learned policies", "mix": "Mixing images", "group": "Groups",
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
