package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/topic"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/plural"
)

// Widths of help, in columns.
const (
	DefaultWidth = 80 // where stdout is not a terminal
	minWidth     = 40
)

// Width returns the number of columns for text on stdout.
func Width(stdout io.Writer) int {
	if f := terminalOf(stdout); f != nil {
		return max(columnsOf(f, DefaultWidth), minWidth)
	}
	return DefaultWidth
}

// Topics is the annotation of a command with the topics that explain it, separated by spaces.
const Topics = "topics"

// groupTopics maps groups of flags to the topic that explains them.
var groupTopics = map[option.Group]string{
	option.Source: "sources", option.Labels: "labels", option.Splits: "splits", option.Augment: "augment", option.Storage: "formats",
}

// helpAll is the value of --help-all. Setting it ends the parsing of flags with pflag.ErrHelp, as
// --help does.
type helpAll bool

func (h *helpAll) String() string { return strconv.FormatBool(bool(*h)) }
func (h *helpAll) Type() string   { return "bool" }
func (h *helpAll) Set(s string) error {
	v, err := strconv.ParseBool(s)
	if *h = helpAll(v); v {
		return pflag.ErrHelp
	}
	return err
}

// ShowHelpAll shows what --help-all does, for commands that do not parse flags.
func ShowHelpAll(cmd *cobra.Command) error {
	if err := cmd.Root().PersistentFlags().Set("help-all", "true"); !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return cmd.Help()
}

// HandleHelp adds --help-all to all verbs below root, and makes Help the help that they print.
func HandleHelp(root *cobra.Command) {
	all := new(helpAll)
	root.PersistentFlags().VarPF(all, "help-all", "", "show all flags of the verb, in groups").NoOptDefVal = "true"
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		out := cmd.OutOrStdout()
		help := Help
		if *all {
			help = HelpAll
		}
		io.WriteString(out, help(cmd, Width(out))) // a ResultWriter keeps the error
	})
}

// Help returns the short help of a command in lines of width columns: what it does, usage, examples and
// the flags that most users need.
func Help(cmd *cobra.Command, width int) string {
	p := &printer{width: width}
	first, rest, _ := strings.Cut(about(cmd), "\n\n")
	if cmd.HasParent() {
		p.text(first)
	} else {
		p.text(about(cmd))
	}
	p.usage(cmd)
	flags, more := CommonFlags(cmd)
	if more {
		p.flags("Common flags", flags)
		p.moreFlags(cmd)
	} else {
		p.flags("Flags", flags)
	}
	p.flags("Flags of every verb", GlobalFlags(cmd))
	p.topics(cmd)
	if rest != "" && cmd.HasParent() {
		p.text(fmt.Sprintf("'%s --help-all' explains more.", cmd.CommandPath()))
	}
	p.exitCodes(cmd)
	return strings.TrimLeft(p.b.String(), "\n")
}

// HelpAll returns all help of a command: all flags in groups, and the meaning of exit codes.
func HelpAll(cmd *cobra.Command, width int) string {
	p := &printer{width: width}
	p.text(about(cmd))
	p.usage(cmd)
	for _, g := range FlagGroups(cmd) {
		title := string(g.Group)
		if title == "" {
			title = "Flags"
		}
		p.flags(title, g.Flags)
	}
	p.flags("Flags of every verb", GlobalFlags(cmd))
	p.topics(cmd)
	p.text("Exit codes:\n" + ExitHelp(cmd))
	return strings.TrimLeft(p.b.String(), "\n")
}

// about returns the description of a command.
func about(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return cmd.Long
}

// TopicText returns a topic in lines of width columns.
func TopicText(t topic.Topic, width int) string {
	return Reflow(t.Short+".\n\n"+t.Text, width)
}

// printer writes the parts of a help text, with an empty line before each.
type printer struct {
	b     strings.Builder
	width int
}

// text writes paragraphs and tables.
func (p *printer) text(s string) {
	p.b.WriteString("\n" + Reflow(s, p.width))
}

// usage writes the usage, the verbs below and the examples.
func (p *printer) usage(cmd *cobra.Command) {
	p.b.WriteString("\nUsage:\n")
	if cmd.Runnable() && (!cmd.HasSubCommands() || cmd.DisableFlagParsing) {
		p.b.WriteString(wrapCommand("  "+cmd.UseLine(), p.width))
	}
	if cmd.HasAvailableSubCommands() {
		p.b.WriteString("  " + cmd.CommandPath() + " VERB [flags]\n")
		p.verbs(cmd)
	}
	if cmd.Example == "" {
		return
	}
	p.b.WriteString("\nExamples:\n")
	for line := range strings.Lines(cmd.Example) {
		p.b.WriteString(wrapCommand(strings.TrimRight(line, "\n"), p.width))
	}
}

// verbs lists the verbs below a command, by group if it has groups.
func (p *printer) verbs(cmd *cobra.Command) {
	list := func(title, id string) {
		var rows []row
		for _, c := range cmd.Commands() {
			if c.GroupID == id && (c.IsAvailableCommand() || c.Name() == "help") {
				rows = append(rows, row{"  " + c.Name(), c.Short})
			}
		}
		if len(rows) > 0 {
			p.b.WriteString("\n" + title + "\n")
			p.rows(rows)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	list("Verbs:", "")
}

// moreFlags lists the groups of the flags that the short help leaves out.
func (p *printer) moreFlags(cmd *cobra.Command) {
	p.b.WriteString("\n")
	writeWrapped(&p.b, "", "", strings.Fields(fmt.Sprintf("More flags ('%s --help-all' lists all %d):", cmd.CommandPath(), len(ownFlags(cmd)))), p.width)
	var rows []row
	for _, g := range FlagGroups(cmd) {
		if g.Group == "" {
			continue
		}
		text := plural.Of(len(g.Flags), "flag")
		if t := groupTopics[g.Group]; t != "" && cmd.Annotations[Topics] != "" {
			text += fmt.Sprintf(", '%s help %s'", cmd.Root().Name(), t)
		}
		rows = append(rows, row{"  " + string(g.Group), text})
	}
	p.rows(rows)
}

// topics names the topics that explain a command; for the root, all.
func (p *printer) topics(cmd *cobra.Command) {
	names := strings.ReplaceAll(cmd.Annotations[Topics], " ", ", ")
	if !cmd.HasParent() {
		names = strings.Join(topic.Names(), ", ")
	}
	if names != "" {
		p.text(fmt.Sprintf("Topics ('%s help TOPIC'): %s.", cmd.Root().Name(), names))
	}
}

// exitCodes writes the exit codes in a sentence.
func (p *printer) exitCodes(cmd *cobra.Command) {
	var codes []string
	for _, c := range exitCodes(cmd) {
		codes = append(codes, fmt.Sprintf("%d %s", c.code, c.short))
	}
	p.text("Exit codes: " + strings.Join(codes, ", ") + ".")
}

// row is a row of a table of two columns.
type row struct{ term, text string }

// rows writes a table. Texts begin in one column, those of long terms in the next line.
func (p *printer) rows(rows []row) { p.table(rows, p.column(rows)) }

// column returns the column in which the texts of a table begin.
func (p *printer) column(rows []row) int {
	column := 8
	for _, r := range rows {
		if n := utf8.RuneCountInString(r.term) + 3; n <= p.width/2 {
			column = max(column, n)
		}
	}
	return column
}

// table writes a table whose texts begin in a column.
func (p *printer) table(rows []row, column int) {
	indent := strings.Repeat(" ", column)
	for _, r := range rows {
		head := r.term
		if n := utf8.RuneCountInString(head); n+2 <= column {
			head += strings.Repeat(" ", column-n)
		} else {
			p.b.WriteString(head + "\n")
			head = indent
		}
		writeWrapped(&p.b, head, indent, strings.Fields(r.text), p.width)
	}
}

// flags writes flags under a title.
func (p *printer) flags(title string, flags []*pflag.Flag) {
	if len(flags) == 0 {
		return
	}
	p.b.WriteString("\n" + title + ":\n")
	var rows []row
	for _, f := range flags {
		short := "    "
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		rows = append(rows, row{"  " + short + FlagTerm(f), FlagText(f)})
	}
	p.rows(rows)
}

// FlagTerm returns a flag and its value as they are given, such as "--seed N" or "--vocab[=FILE]".
func FlagTerm(f *pflag.Flag) string {
	kind, _ := pflag.UnquoteUsage(f)
	switch {
	case kind == "":
		return "--" + f.Name
	case f.NoOptDefVal != "":
		return "--" + f.Name + "[=" + kind + "]"
	}
	return "--" + f.Name + " " + kind
}

// FlagText returns the help of a flag, with its default and the version that introduced it.
func FlagText(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if def := f.DefValue; def != "" && def != "0" && def != "false" && def != "[]" {
		text += " (default " + def + ")"
	}
	if since := f.Annotations[newSince]; since != nil {
		text += " (since " + since[0] + ")"
	}
	return text
}
