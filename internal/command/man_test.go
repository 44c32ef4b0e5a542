package command

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/topic"
)

var manDir = flag.String("man", "", "write the manual pages to this `directory` (make man)")

// TestManualPages makes a page of section 1 for every command, and wants what its
// help says to be in it: flags with the names of their values, defaults, exit codes. Topics have a page
// of section 7.
func TestManualPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		page := manPage(cmd)
		name := manName(cmd) + ".1"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`\fB`, "", `\fI`, "", `\fP`, "", `\-`, "-", `\e`, `\`, `\&`, "").Replace(page)
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				_, usage := pflag.UnquoteUsage(f)
				if want := cli.FlagTerm(f); !strings.Contains(text, want+"\n") || !strings.Contains(text, usage) {
					t.Errorf("%s lacks %q: %s", name, want, usage)
				}
			})
		}
		for line := range strings.Lines(cli.ExitHelp(cmd)) {
			code, means, _ := strings.Cut(strings.TrimSpace(line), " ")
			if !strings.Contains(text, code+"\n"+strings.TrimSpace(means)+"\n") {
				t.Errorf("%s lacks the exit code %s", name, line)
			}
		}
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "'") {
				t.Errorf("%s: troff takes %q for a request", name, line)
			}
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(nil))
	for _, topic := range topic.All() {
		if err := os.WriteFile(filepath.Join(dir, "tfrec-"+topic.Name+".7"), []byte(topicPage(topic)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// topicPage writes a topic as a manual page.
func topicPage(t topic.Topic) string {
	name := "tfrec-" + t.Name
	return fmt.Sprintf(".TH \"%s\" \"7\" \"\" \"%s\" \"tfrec\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s.fi\n.SH SEE ALSO\n\\fBtfrec\\fP(1)\n",
		troff(strings.ToUpper(name)), build.Tool, troff(name), troff(t.Short), troff(cli.Reflow(t.Text, manWidth)))
}

// manWidth is the width of texts that keep their lines in manual pages.
const manWidth = 72

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a command's help as a manual page. Texts keep their lines, for some
// hold tables. Flags are in the groups of the help.
func manPage(cmd *cobra.Command) string {
	anyMachine(cmd)
	var b strings.Builder
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, ".SH %s\n%s\n", title, strings.TrimSuffix(text, "\n"))
		}
	}
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"%s\" \"tfrec\"\n", troff(strings.ToUpper(manName(cmd))), build.Tool)
	section("NAME", troff(manName(cmd))+` \- `+troff(cmd.Short))
	section("SYNOPSIS", `\fB`+troff(cmd.UseLine())+`\fP`)
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	section("DESCRIPTION", ".nf\n"+troff(cli.Reflow(about, manWidth))+".fi")
	var options strings.Builder
	for _, g := range cli.FlagGroups(cmd) {
		if g.Group != "" {
			fmt.Fprintf(&options, ".SS %s\n", g.Group)
		}
		options.WriteString(manFlags(g.Flags))
	}
	section("OPTIONS", options.String())
	section("GLOBAL OPTIONS", manFlags(cli.GlobalFlags(cmd)))
	var codes strings.Builder
	for line := range strings.Lines(cli.ExitHelp(cmd)) {
		code, means, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Fprintf(&codes, ".TP\n\\fB%s\\fP\n%s\n", code, troff(strings.TrimSpace(means)))
	}
	section("EXIT STATUS", codes.String())
	if cmd.Example != "" {
		section("EXAMPLES", ".nf\n"+troff(cmd.Example)+"\n.fi")
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			also = append(also, manName(c))
		}
	}
	for i, name := range also {
		also[i] = `\fB` + troff(name) + `\fP(1)`
	}
	topics := strings.Fields(cmd.Annotations[cli.Topics])
	if !cmd.HasParent() {
		topics = topic.Names()
	}
	for _, name := range topics {
		also = append(also, `\fB`+troff("tfrec-"+name)+`\fP(7)`)
	}
	section("SEE ALSO", strings.Join(also, ",\n"))
	return b.String()
}

func manFlags(flags []*pflag.Flag) string {
	var b strings.Builder
	for _, f := range flags {
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(&b, `\fB\-%s\fP, `, f.Shorthand)
		}
		name := "--" + f.Name
		fmt.Fprintf(&b, `\fB%s\fP`, troff(name))
		if value := strings.TrimPrefix(cli.FlagTerm(f), name); value != "" {
			fmt.Fprintf(&b, `\fI%s\fP`, troff(value))
		}
		fmt.Fprintf(&b, "\n%s\n", troff(cli.FlagText(f)))
	}
	return b.String()
}

// troff escapes what troff would not take as it is.
func troff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
