package conversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/shell"
)

// reading is a way to convert a source: a verb, what it is given, and the flags that make it read the
// source so.
type reading struct {
	kind  string // images or table
	src   []string
	flags []string // words of the command line, such as --table=labels.csv
	says  string   // where labels, objects and features come from
	rank  int      // of several readings that hold, those of a lower rank are left out

	classes bool // labels are the names of directories

	sum     *convert.Summary // of a dry run
	notes   []string
	outside int64 // images of the source that are not in src
}

// Ranks of readings, by what they know about an image.
const (
	rankNothing  = iota // the image alone
	rankFeatures        // and columns of a table
	rankLabels          // a label
	rankObjects         // objects
)

// with returns the reading with further flags.
func (r reading) with(flags ...string) *reading {
	r.flags = append(slices.Clone(r.flags), flags...)
	return &r
}

// command is the command line that converts the source so, with further words of a command line.
func (r *reading) command(out string, more ...string) string {
	words := slices.Concat([]string{"convert", r.kind}, r.src, []string{out})
	for _, flag := range r.flags {
		name, value, valued := strings.Cut(flag, "=")
		if words = append(words, name); valued {
			words = append(words, value)
		}
	}
	return shell.Join("tfrec", append(words, more...))
}

// try plans the conversion into out, where nothing is, and writes nothing. More are further words of the
// command line.
func (r *reading) try(ctx context.Context, out string, more []string) error {
	r.notes = nil
	note := func(text string) { r.notes = append(r.notes, text) }
	if r.kind == kindImages {
		f := newImageFlags(nil)
		if err := parseOptions(f.table, slices.Concat(r.flags, more)); err != nil {
			return err
		}
		f.options.DryRun, f.options.Note = true, note
		var err error
		r.sum, err = convert.Images(ctx, r.src[0], out, f.images)
		return err
	}
	f := newTableFlags(nil, r.kind)
	if err := parseOptions(f.table, slices.Concat(r.flags, more)); err != nil {
		return err
	}
	f.options.DryRun, f.options.Note = true, note
	var err error
	r.sum, err = convert.Table(ctx, r.src, out, f.tables)
	return err
}

// parseOptions sets the options of a table by words of a command line.
func parseOptions(t option.Table, words []string) error {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	cli.AddOptions(fs, t)
	if err := fs.Parse(words); err != nil {
		return err
	}
	return cli.CheckOptions(fs, t)
}

// usable is the number of samples of the dry run that may become records.
func (r *reading) usable() int64 { return r.sum.Samples - min(r.sum.Samples, r.sum.Errors) }

// labels are the names of the labels of the dry run. Objects have none of id 0.
func (r *reading) labels() []string {
	return slices.DeleteFunc(slices.Clone(r.sum.Plan.Labels), func(name string) bool { return name == "" })
}

// run converts the source so, with further flags, those of options and others, and says how it was read.
func (r *reading) run(cmd *cobra.Command, out string, flags, others []string) error {
	verb := cli.ChildNamed(cmd, r.kind)
	verb.SetContext(cmd.Context())
	if err := verb.ParseFlags(slices.Concat(others, flags, r.flags)); err != nil {
		return cli.FlagError(verb, err)
	}
	if !cli.QuietFlag(verb) {
		cli.NotesTo(cmd.ErrOrStderr())(r.says + ": " + r.command(out, flags...))
		if r.outside > 0 {
			cli.NotesTo(cmd.ErrOrStderr())(r.left())
		}
	}
	args := append(slices.Clone(r.src), out)
	if err := verb.ValidateArgs(args); err != nil {
		return err
	}
	return verb.RunE(verb, args)
}

// left says how many images of the source the reading leaves out.
func (r *reading) left() string {
	return fmt.Sprintf("%s outside %s not used", plural.Of(r.outside, "image"), r.src[0])
}
