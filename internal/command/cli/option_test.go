package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/option"
)

// sizes are options that depend on each other.
type sizes struct {
	size, fit, color string
	quality          int
	all              bool
}

func (s *sizes) table() option.Table {
	return option.In(option.Resize, []option.Option{
		{Flag: "size", To: &s.size, Help: "the `SIZE`", Common: true},
		{Flag: "fit", To: &s.fit, Words: []string{"crop", "pad"}, Value: "HOW", Default: "crop", Help: "the fit", Needs: []string{"size"}},
		{Flag: "color", To: &s.color, Help: "the `COLOR`", Needs: []string{"size", "fit pad"}, Since: "0.2.0"},
		{Flag: "quality", To: &s.quality, Help: "the quality `N`", Check: option.AtLeast(&s.quality, 1, "1 to 100")},
		{Flag: "all", To: &s.all, Help: "everything", Excludes: map[string]string{"size": "", "quality": "all has none"}, Group: option.Run},
	})
}

func TestCheckOptions(t *testing.T) {
	for args, want := range map[string]string{
		"":                                "",
		"--size 1 --fit pad --color f00":  "",
		"--fit pad":                       "--fit: needs --size",
		"--size 1 --color f00":            "--color: needs --fit pad",
		"--size 1 --fit crop --color f00": "--color: needs --fit pad",
		"--quality 0":                     `--quality "0": want 1 to 100`,
		"--quality 1":                     "",
		"--all --size 1":                  "--all and --size: give one of them",
		"--all --quality 5":               "--all and --quality: give one of them: all has none",
	} {
		s, fs := new(sizes), pflag.NewFlagSet("", pflag.ContinueOnError)
		table := s.table()
		AddOptions(fs, table)
		if err := fs.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		err := CheckOptions(fs, table)
		if got := ""; err != nil {
			if got = err.Error(); got != want {
				t.Errorf("%s: %s, want %q", args, got, want)
			}
			if ExitCode(t.Context(), err) != ExitUsage {
				t.Errorf("%s: exit code %d", args, ExitCode(t.Context(), err))
			}
		} else if want != "" {
			t.Errorf("%s: no error, want %q", args, want)
		}
	}
}

func TestFlagGroups(t *testing.T) {
	s, cmd := new(sizes), &cobra.Command{Use: "verb"}
	AddOptions(cmd.Flags(), s.table())
	cmd.Flags().Bool("own", false, "of the verb")
	text := ""
	for _, g := range FlagGroups(cmd) {
		text += string(g.Group) + ":"
		for _, f := range g.Flags {
			text += " " + FlagTerm(f)
		}
		text += "\n"
	}
	if want := ": --own\nResize: --color COLOR --fit HOW --quality N --size SIZE\nRun: --all\n"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if got, want := FlagText(cmd.Flags().Lookup("color")), "the COLOR (since 0.2.0)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if flags, more := CommonFlags(cmd); len(flags) != 6 || more {
		t.Errorf("%d of few flags are common, and more: %v", len(flags), more)
	}
	for i := range shortHelp {
		name := strings.Repeat("x", i+2)
		cmd.Flags().Bool(name, false, "")
		Group(cmd.Flags(), option.Resize, name)
	}
	if flags, more := CommonFlags(cmd); len(flags) != 2 || !more {
		t.Errorf("%d of many flags are common, and more: %v", len(flags), more)
	}
}
