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
)

var manDir = flag.String("man", "", "write the manual pages to this `directory` (make man)")

// TestManualPages makes a page of section 1 for every command, and wants what its
// help says to be in it: flags with the names of their values, defaults, exit codes.
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
				kind, usage := pflag.UnquoteUsage(f)
				if want := strings.TrimSpace("--" + f.Name + " " + kind); !strings.Contains(text, want+"\n") || !strings.Contains(text, usage) {
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
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a command's help as a manual page. Texts keep their lines, for some
// hold tables.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	if f := cmd.Flags().Lookup("workers"); f != nil {
		f.DefValue = "cores" // of the machine at hand otherwise
	}
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
	section("DESCRIPTION", ".nf\n"+troff(about)+"\n.fi")
	section("OPTIONS", manFlags(cmd.LocalFlags()))
	section("GLOBAL OPTIONS", manFlags(cmd.InheritedFlags()))
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
	section("SEE ALSO", strings.Join(also, ",\n"))
	return b.String()
}

func manFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(&b, `\fB\-%s\fP, `, f.Shorthand)
		}
		fmt.Fprintf(&b, `\fB\-\-%s\fP`, troff(f.Name))
		if kind != "" {
			fmt.Fprintf(&b, ` \fI%s\fP`, troff(kind))
		}
		if def := f.DefValue; def != "" && def != "0" && def != "false" && def != "[]" {
			usage += " (default " + def + ")"
		}
		fmt.Fprintf(&b, "\n%s\n", troff(usage))
	})
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
