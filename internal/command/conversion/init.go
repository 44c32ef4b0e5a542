package conversion

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/survey"
	"github.com/tfrec/tfrec/manifest"
)

// NewInitCommand returns tfrec init.
func NewInitCommand() *cobra.Command {
	var overwrite bool
	cmd := &cobra.Command{
		Use:     "init SRC [FILE]",
		GroupID: cli.GroupMake,
		Short:   "Say what a source holds, and propose how to convert it",
		Long: `Look at SRC, and print what it holds and the command that converts it: where labels,
objects, splits and features come from, and what would not be used. The command has been
tried without writing anything. With FILE, write its options there for tfrec convert
--config. If SRC can be read in several ways, all of their commands are printed, and FILE
has the first one.`,
		Example: `  tfrec init photos
  tfrec init photos convert.yaml && tfrec convert --config convert.yaml
  tfrec init s3://bucket/photos --json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) < 1:
				return cli.UsageError("want SRC: what to look at")
			case len(args) > 2:
				return cli.UsageError("want SRC, and FILE to write the options to; a glob is quoted")
			case len(args) == 2 && !isYAML(args[1]):
				return cli.UsageError("%s: want a name that ends in .yaml, for the options to write; a glob is quoted", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			return runInit(cmd, args[0], file, overwrite)
		},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace FILE")
	return cmd
}

// proposed is the result of tfrec init as JSON.
type proposed struct {
	Source   string             `json:"source"`
	Files    []survey.Extension `json:"files"`
	Images   survey.Count       `json:"images"`
	Readings []proposedReading  `json:"readings"`
	// NotPossible are readings that would state more about images, with the reason.
	NotPossible []string `json:"not_possible"`
}

type proposedReading struct {
	Command  string             `json:"command"`
	Kind     string             `json:"kind"`
	Says     string             `json:"labels_from"`
	Samples  int64              `json:"samples"`
	Unusable int64              `json:"unusable"`
	Splits   map[string]int64   `json:"splits"`
	Labels   []string           `json:"labels"`
	Features []manifest.Feature `json:"features"`
	Outside  int64              `json:"images_outside"`
	LeftOut  []convert.LeftOut  `json:"left_out"`
	Notes    []string           `json:"notes"`
}

func runInit(cmd *cobra.Command, src, file string, overwrite bool) error {
	if err := storage.CheckOutput(file); err != nil {
		return err
	}
	if file != "" && !overwrite {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s: %w: --overwrite replaces it", file, fs.ErrExist)
		}
	}
	p, err := propose(cmd.Context(), src, nil)
	if err != nil {
		return err
	}
	if len(p.readings) == 0 {
		return p.noReading()
	}
	out := outOf(src)
	if file != "" {
		text, err := p.config(file, out)
		if err == nil {
			err = os.WriteFile(file, text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	if cli.JSONFlag(cmd) {
		return cli.PrintJSON(cmd, p.result(out))
	}
	return p.print(cmd.OutOrStdout(), file, out)
}

// outOf proposes a directory for the set.
func outOf(src string) string {
	base, _, _ := strings.Cut(storage.Base(strings.TrimRight(src, "/")), ".")
	if base == "" || strings.ContainsAny(base, "*?[") {
		base = "data"
	}
	return naming.SnakeCase(base) + "_tfrecords"
}

func (p *proposal) result(out string) *proposed {
	r := &proposed{Source: p.src, Files: p.found.Extensions, Images: p.found.Images, Readings: []proposedReading{}, NotPossible: []string{}}
	for _, reading := range p.readings {
		r.Readings = append(r.Readings, proposedReading{
			Command: reading.command(out), Kind: reading.kind, Says: reading.says, Samples: reading.sum.Samples, Unusable: reading.sum.Errors,
			Splits: reading.splits(), Labels: reading.labels(), Features: reading.sum.Plan.Features, Outside: reading.outside, LeftOut: reading.sum.LeftOut,
			Notes: append([]string{}, reading.notes...),
		})
	}
	for _, f := range p.lost() {
		r.NotPossible = append(r.NotPossible, f.of.says+": "+f.reason.Error())
	}
	return r
}

// splits are the samples of each split.
func (r *reading) splits() map[string]int64 {
	splits := map[string]int64{}
	for _, s := range r.sum.Plan.Shards {
		splits[s.Split] += s.Samples
	}
	return splits
}

// noReading is the error for a source that no conversion reads.
func (p *proposal) noReading() error {
	what := p.inventory()
	switch {
	case len(p.found.Records) > 0 && len(p.failed) > 0:
		return fmt.Errorf("%s holds %s: TFRecords, which tfrec inspect and cat show, and tfrec adopt makes a set of; not read as images: %w", p.src, what, p.failed[0].reason)
	case len(p.failed) > 0:
		return fmt.Errorf("%s holds %s, and no way to convert it was found: %w", p.src, what, p.failed[0].reason)
	}
	return fmt.Errorf("%s holds %s: nothing that tfrec convert reads", p.src, what)
}

// inventory counts the files by extension.
func (p *proposal) inventory() string {
	var parts []string
	for i, e := range p.found.Extensions {
		if i == 5 {
			parts = append(parts, "others")
			break
		}
		if e.Extension == "" {
			parts = append(parts, fmt.Sprintf("%d without an extension", e.Files))
		} else {
			parts = append(parts, plural.Of(e.Files, e.Extension+" file"))
		}
	}
	if len(parts) == 0 {
		return "no files"
	}
	return strings.Join(parts, ", ")
}

// print prints the proposal for people.
func (p *proposal) print(w io.Writer, file, out string) error {
	var b strings.Builder
	var bytes int64
	for _, e := range p.found.Extensions {
		bytes += e.Bytes
	}
	fmt.Fprintf(&b, "%s: %s, %s\n", printable.String(p.src), p.inventory(), size.Format(bytes))
	if len(p.readings) > 1 {
		fmt.Fprintf(&b, "It can be read in %d ways:\n", len(p.readings))
	}
	for _, r := range p.readings {
		b.WriteString("\n")
		for _, line := range r.describe() {
			fmt.Fprintf(&b, "  %s\n", printable.String(line))
		}
		fmt.Fprintf(&b, "\n  %s\n", r.command(out))
	}
	for i, f := range p.lost() {
		if i == 0 {
			b.WriteString("\nNot possible:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", printable.String(f.of.says), printable.String(f.reason.Error()))
	}
	if file != "" {
		fmt.Fprintf(&b, "\n%s has these options: tfrec convert --config %s\n", printable.String(file), printable.String(file))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// describe describes what the reading makes of the source, a line for each aspect.
func (r *reading) describe() []string {
	lines := []string{r.says}
	what := plural.Of(r.usable(), "record")
	if splits := r.splits(); len(splits) > 1 {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(splits)) {
			parts = append(parts, fmt.Sprintf("%s %d", name, splits[name]))
		}
		what += ": " + strings.Join(parts, ", ")
	}
	lines = append(lines, what)
	if r.sum.Errors > 0 {
		lines = append(lines, plural.Of(r.sum.Errors, "sample")+" not usable")
	}
	if labels := r.labels(); len(labels) > 0 {
		lines = append(lines, plural.Of(len(labels), "label")+": "+some(labels, 8))
	}
	var columns []string
	for _, f := range r.sum.Plan.Features {
		if r.kind != kindImages || !strings.Contains(f.Key, "/") {
			columns = append(columns, f.Key+" ("+f.Kind+")")
		}
	}
	if len(columns) > 0 {
		lines = append(lines, plural.Of(len(columns), "column")+": "+some(columns, 12))
	}
	if r.outside > 0 {
		lines = append(lines, r.left())
	}
	for _, e := range r.sum.LeftOut {
		lines = append(lines, e.String())
	}
	for _, note := range r.notes {
		if !slices.Contains(lines, note) {
			lines = append(lines, note)
		}
	}
	return lines
}

// some lists the first of many names.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// config is the configuration of the first reading, with what it is made from in comments, and the
// other readings below. It is an error if a path is not UTF-8, which YAML cannot hold.
func (p *proposal) config(file, out string) ([]byte, error) {
	r := p.readings[0]
	for _, word := range slices.Concat(r.src, r.flags) {
		if !utf8.ValidString(word) {
			return nil, fmt.Errorf("%s: %q is not UTF-8, as a configuration is: use the command that tfrec init prints", file, word)
		}
	}
	var b bytes.Buffer
	comment := func(line string) {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(printable.String(line), "\n", "\n#   ")) // of names that have some
	}
	comment("Made by tfrec init. To convert: tfrec convert --config " + file)
	comment(p.src + ": " + p.inventory())
	for _, line := range r.describe() {
		comment("- " + line)
	}
	values := yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, words ...string) {
		value := &yaml.Node{Kind: yaml.SequenceNode}
		for _, word := range words {
			value.Content = append(value.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: word})
		}
		if len(words) == 1 {
			value = value.Content[0]
		}
		values.Content = append(values.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	}
	add(configKind, r.kind)
	add(configSrc, r.src...)
	add(configOut, out)
	var flags, bare []string
	words := map[string][]string{}
	for _, word := range r.flags {
		name, value, valued := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		switch {
		case !valued:
			bare = append(bare, name)
			continue
		case words[name] == nil:
			flags = append(flags, name)
		}
		words[name] = append(words[name], value)
	}
	for _, name := range flags {
		add(name, words[name]...)
	}
	text, err := yaml.Marshal(&values)
	if err != nil {
		return nil, err
	}
	b.Write(text)
	for _, name := range bare {
		fmt.Fprintf(&b, "%s: true\n", name)
	}
	b.WriteString("\n# Often wanted; tfrec config init lists all options.\n")
	b.WriteString("# splits: {train: 0.9, val: 0.1}\n")
	if r.kind == kindImages {
		b.WriteString("# resize: 224\n# encode: jpeg\n")
	} else {
		b.WriteString("# shuffle: true\n# label: COLUMN\n")
	}
	for _, other := range p.readings[1:] {
		b.WriteString("\n")
		comment("Or, with " + other.says + ":")
		comment(other.command(out))
	}
	return b.Bytes(), nil
}

// convertWithoutVerb converts a source in the only way in which it can be read. Words are the command
// line, without a verb.
func convertWithoutVerb(cmd *cobra.Command, words []string) error {
	args, flags, others, err := cutFlags(cmd, words)
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return wantVerb(cmd)
	case !exists(cmd, args[0]):
		return cli.UnknownVerb(cmd, args[0])
	case len(args) != 2:
		return wantVerb(cmd)
	}
	p, err := propose(cmd.Context(), args[0], flags)
	switch {
	case err != nil:
		return err
	case len(p.readings) == 0:
		return p.noReading()
	case len(p.readings) > 1:
		lines := []string{}
		for _, r := range p.readings {
			lines = append(lines, r.says+": "+r.command(args[1], flags...))
		}
		return errors.New(printable.String(args[0]) + " can be read in several ways; give one of these commands:\n  " + strings.Join(lines, "\n  "))
	}
	r := p.readings[0]
	if lost := p.lost(); len(lost) > 0 {
		return fmt.Errorf("%s: %w; to leave that out: %s", lost[0].of.says, lost[0].reason, r.command(args[1], flags...))
	}
	return r.run(cmd, args[1], flags, others)
}

// wantVerb is the error for a command line without a verb that says too little or too much.
func wantVerb(cmd *cobra.Command) error {
	return cli.UsageError("want SRC and OUT, or one of: %s; or --config FILE, or --from-manifest FILE", strings.Join(cli.Verbs(cmd), ", "))
}

// exists reports whether there is something at a path, or a glob matches.
func exists(cmd *cobra.Command, path string) bool {
	_, err := storage.Stat(cmd.Context(), path)
	if err == nil || !strings.ContainsAny(path, "*?[") {
		return err == nil
	}
	found, err := filepath.Glob(path)
	return err == nil && len(found) > 0 || storage.Parse(path).Remote()
}

// cutFlags separates a command line into arguments, flags of a conversion, and other flags, by the first
// verb below cmd that knows all of them.
func cutFlags(cmd *cobra.Command, words []string) (args, flags, others []string, err error) {
	for _, kind := range []string{kindImages, kindTable} {
		flags, others = nil, nil
		t, fs := tableOf(kind), pflag.NewFlagSet("", pflag.ContinueOnError)
		cli.AddOptions(fs, t)
		fs.AddFlagSet(cmd.InheritedFlags())
		failed := fs.ParseAll(words, func(f *pflag.Flag, value string) error {
			to := &others
			if t.Find(f.Name) != nil {
				to = &flags
			}
			word := "--" + f.Name
			if f.NoOptDefVal == "" || value != f.NoOptDefVal {
				word += "=" + value
			}
			*to = append(*to, word)
			return fs.Set(f.Name, value)
		})
		if failed == nil {
			return fs.Args(), flags, others, nil
		}
		if err == nil {
			err = cli.FlagError(cli.ChildNamed(cmd, kind), failed)
		}
	}
	return nil, nil, nil, err
}
