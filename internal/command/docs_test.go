package command

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
	"github.com/tfrec/tfrec/internal/command/topic"
)

var update = flag.Bool("update", false, "write the generated docs instead of comparing with them")

// TestDocsAreGenerated compares docs/cli with the commands' help; with -update
// (make docs) it writes it.
func TestDocsAreGenerated(t *testing.T) {
	const dir = "../../docs/cli"
	pages := map[string]string{}
	addPages(pages, newRootCommand(nil))
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	have, err := readSet(dir)
	if err != nil {
		t.Fatalf("%v (make docs writes it)", err)
	}
	if diff := difference(pages, have); diff != "" {
		t.Errorf("docs/cli is not what the commands say: %s (make docs writes it; first is what it should be)", diff)
	}
}

// TestDocsHaveTheSchema compares docs/convert.schema.json with what tfrec config
// schema prints; with -update it writes it.
func TestDocsHaveTheSchema(t *testing.T) {
	const file = "../../docs/convert.schema.json"
	want, err := conversion.ConfigSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != string(want) {
		t.Errorf("%s is not what tfrec config schema prints (make docs writes it): %v", file, err)
	}
}

// pageWidth is the width of the pages of docs/cli.
const pageWidth = 100

// anyMachine replaces defaults that depend on the machine at hand.
func anyMachine(cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("workers"); f != nil {
		f.DefValue = "cores"
	}
}

func pageName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"
}

// addPages adds a page for cmd and one for each command below it.
func addPages(pages map[string]string, cmd *cobra.Command) {
	anyMachine(cmd)
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by `make docs` from the command's own help. -->\n\n# %s\n\n%s.\n\n```text\n%s```\n", cmd.CommandPath(), cmd.Short, cli.HelpAll(cmd, pageWidth))
	var below []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			below = append(below, fmt.Sprintf("- [%s](%s): %s\n", c.CommandPath(), pageName(c), c.Short))
			addPages(pages, c)
		}
	}
	if len(below) > 0 {
		fmt.Fprintf(&b, "\n%s", strings.Join(below, ""))
	}
	if !cmd.HasParent() {
		b.WriteString("\n")
		for _, t := range topic.All() {
			name := "tfrec_help_" + t.Name + ".md"
			fmt.Fprintf(&b, "- [tfrec help %s](%s): %s\n", t.Name, name, t.Short)
			pages[name] = fmt.Sprintf("<!-- Written by `make docs` from internal/command/topic. -->\n\n# tfrec help %s\n\n```text\n%s```\n", t.Name, cli.TopicText(t, pageWidth))
		}
	}
	pages[pageName(cmd)] = b.String()
}
