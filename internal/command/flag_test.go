package command

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// everyFlag calls yield with each flag of each verb but --help.
func everyFlag(yield func(cmd *cobra.Command, f *pflag.Flag)) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && f.Name != "version" {
				yield(cmd, f)
			}
		})
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	root := newRootCommand(nil)
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { yield(root, f) })
	visit(root)
}

// completions returns what the shell is offered for a flag, and cobra's directive.
func completions(t *testing.T, cmd *cobra.Command, flag string) (words []string, directive string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"__complete"}, strings.Fields(cmd.CommandPath())[1:]...)
	if code := run(context.Background(), append(args, "--"+flag, ""), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		words = append(words, word)
	}
	return words, lines[len(lines)-1]
}

const (
	offersFiles       = ":0"
	offersNoFiles     = ":4"
	offersDirectories = ":16"
)

// enumeration matches a list of words: "none, gzip, zlib or zstd", also with remarks.
var enumeration = regexp.MustCompile(`\b[a-z0-9-]+(?: \([^)]*\))?(?:, [a-z0-9-]+(?: \([^)]*\))?)+ or [a-z0-9-]+\b`)

// TestFlagsOfferTheirWords holds the words that the help names for a flag to those that
// the shell is offered, and to those that the flag takes.
func TestFlagsOfferTheirWords(t *testing.T) {
	// In these the list is prose, or what follows an equals sign.
	prose := []string{"--memory", "--column", "--features"}
	fixed := 0
	everyFlag(func(cmd *cobra.Command, f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			return
		}
		what := cmd.CommandPath() + " --" + f.Name
		words, directive := completions(t, cmd, f.Name)
		kind, usage := pflag.UnquoteUsage(f)
		named := slices.DeleteFunc(strings.Split(kind, "|"), func(s string) bool {
			return s == strings.ToUpper(s) && s != "1" && s != "3" || strings.Contains(s, "=")
		})
		for _, word := range named {
			if word != "WxH" && word != "FILE.png" && !slices.Contains(words, word) {
				t.Errorf("%s %s: the shell is not offered %s", what, kind, word)
			}
		}
		if list := enumeration.FindString(usage); list != "" && !slices.Contains(prose, "--"+f.Name) {
			list = regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(list, "")
			fixed++
			for _, word := range regexp.MustCompile(`, | or `).Split(list, -1) {
				if !slices.Contains(words, word) {
					t.Errorf("%s: the help names %s, the shell is offered %q", what, list, words)
				}
			}
			if err := f.Value.Set("no-such-word"); err == nil {
				t.Errorf("%s takes no-such-word", what)
			}
		}
		for _, word := range words {
			if err := f.Value.Set(word); err != nil {
				t.Errorf("%s %s is offered, and refused: %v", what, word, err)
			}
		}
		want := offersNoFiles
		switch {
		case strings.HasPrefix(kind, "DIR|"), strings.Contains(kind, "FILE"), kind == "ORIGINAL":
			want = offersFiles
		case kind == "DIR":
			want = offersDirectories
		}
		if directive != want {
			t.Errorf("%s %s: completion says %s, want %s", what, kind, directive, want)
		}
	})
	if fixed < 15 {
		t.Errorf("only %d flags with a fixed set of words were found", fixed)
	}
}

// TestFlagsSayWhatTheyTake wants a word in capitals for the value of every flag, and
// short forms that mean the same everywhere.
func TestFlagsSayWhatTheyTake(t *testing.T) {
	short := map[string]string{"quiet": "q", "workers": "j", "dry-run": "n", "output": "o"}
	everyFlag(func(cmd *cobra.Command, f *pflag.Flag) {
		what := cmd.CommandPath() + " --" + f.Name
		if f.Shorthand != short[f.Name] {
			t.Errorf("%s is also -%s, want -%s", what, f.Shorthand, short[f.Name])
		}
		if f.Value.Type() == "bool" {
			return
		}
		if kind, _ := pflag.UnquoteUsage(f); kind == strings.ToLower(kind) && !strings.ContainsAny(kind, "|") {
			t.Errorf("%s: what it takes is called %q", what, kind)
		}
	})
}

func TestFlagErrors(t *testing.T) {
	for args, want := range map[string]string{
		"convert images a b --resise 2":                    `unknown flag --resise; did you mean --resize?`,
		"convert images a b --xyzzyx 2":                    `unknown flag --xyzzyx`,
		"convert images a b --quality high":                `--quality "high": want a whole number`,
		"convert images a b --max-aspect x":                `--max-aspect "x": want a number`,
		"convert images a b --antialias=x":                 `--antialias "x": want true or false`,
		"convert images a b --quality 9999999999999999999": `--quality "9999999999999999999": want a whole number that is not so large`,
		"convert images a b --seed -1":                     `--seed "-1": want a whole number, 0 or more`,
		"convert images a b --encode tiff":                 `--encode "tiff": want keep, jpeg, png, raw or float32`,
		"convert images a b --channels 2":                  `--channels "2": want 1 or 3`,
		"convert images a b --resize":                      `--resize: its value is missing: want WxH|N`,
		"bench a --cache=":                                 `--cache "": want a directory, or the word memory`,
		"verify a --cache-dir b":                           `--cache-dir: is for the build with object storage (make build-cloud)`,
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), strings.Fields(args), &stdout, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s", args, code, stderr.String())
		}
	}
}
