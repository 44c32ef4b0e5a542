package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/topic"
)

// shownHelp are the texts of the golden files, as they are asked for.
var shownHelp = []string{
	"", "--help", "convert --help", "convert images --help", "convert images --help-all", "convert csv --help", "inspect --help", "reshard --help",
	"filter --help-all", "help labels", "help formats",
}

// helpFor returns what tfrec prints for these arguments on a terminal of some width.
func helpFor(t *testing.T, args string, width int) string {
	t.Helper()
	root := newRootCommand(nil)
	name, isTopic := strings.CutPrefix(args, "help ")
	verb, all := strings.CutSuffix(args, "--help-all")
	cmd, _, err := root.Find(strings.Fields(strings.TrimSuffix(verb, "--help")))
	if err != nil {
		t.Fatal(err)
	}
	anyMachine(cmd)
	switch {
	case args == "":
		return root.Short + ".\n\n" + cli.StartText(root.Name(), width)
	case isTopic:
		topic, ok := topic.Find(name)
		if !ok {
			t.Fatalf("there is no topic %s", name)
		}
		return cli.TopicText(topic, width)
	case all:
		return cli.HelpAll(cmd, width)
	}
	return cli.Help(cmd, width)
}

// TestDocsShowHelp compares help at three widths with testdata/help; with -update (make docs) it writes it.
func TestDocsShowHelp(t *testing.T) {
	for _, width := range []int{80, 100, 140} {
		var b strings.Builder
		for _, args := range shownHelp {
			fmt.Fprintf(&b, "$ %s\n%s\n", strings.TrimSpace("tfrec "+args), helpFor(t, args, width))
		}
		file := fmt.Sprintf("testdata/help/%d.txt", width)
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil || string(have) != b.String() {
			t.Errorf("%s is not the help of today (make docs writes it): %v", file, err)
		}
	}
}

// everyVerb calls yield with each command.
func everyVerb(yield func(cmd *cobra.Command)) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		yield(cmd)
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(nil))
}

func TestHelpFitsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 57, 80, 100, 140} {
		check := func(what, text string) {
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				whole := regexp.MustCompile(`^ *(-\w, )?\S+( \S+)?( \\)?$`) // a flag with its value, or one word
				if utf8.RuneCountInString(line) > width && !whole.MatchString(line) && !strings.ContainsAny(line, `'"`) {
					t.Errorf("%s at %d columns: %q", what, width, line)
				}
				if strings.HasSuffix(line, " ") {
					t.Errorf("%s at %d columns: a space at the end of %q", what, width, line)
				}
			}
		}
		everyVerb(func(cmd *cobra.Command) {
			check(cmd.CommandPath()+" --help", cli.Help(cmd, width))
			check(cmd.CommandPath()+" --help-all", cli.HelpAll(cmd, width))
		})
		for _, topic := range topic.All() {
			check("help "+topic.Name, cli.TopicText(topic, width))
		}
		check("tfrec", cli.StartText("tfrec", width))
	}
}

// TestHelpIsShort bounds what --help shows of a verb.
func TestHelpIsShort(t *testing.T) {
	everyVerb(func(cmd *cobra.Command) {
		if !cmd.HasParent() {
			return
		}
		help := cli.Help(cmd, cli.DefaultWidth)
		about, _, _ := strings.Cut(help, "\n\n")
		if n := strings.Count(about, "\n") + 1; n > 5 {
			t.Errorf("%s: what it does takes %d lines, want 5: %s", cmd.CommandPath(), n, about)
		}
		if n := strings.Count(cmd.Example, "\n") + 1; n > 5 {
			t.Errorf("%s has %d examples, want 5", cmd.CommandPath(), n)
		}
		flags, more := cli.CommonFlags(cmd)
		if len(flags) > 13 || more && len(flags) < 5 {
			t.Errorf("%s shows %d flags", cmd.CommandPath(), len(flags))
		}
		if n := strings.Count(help, "\n"); n > 80 {
			t.Errorf("the help of %s has %d lines", cmd.CommandPath(), n)
		}
	})
}

// TestHelpAllHasAllFlags also holds examples to their lines, which long ones may span.
func TestHelpAllHasAllFlags(t *testing.T) {
	everyVerb(func(cmd *cobra.Command) {
		help := cli.HelpAll(cmd, 1000)
		n := 0
		for _, g := range cli.FlagGroups(cmd) {
			n += len(g.Flags)
			for _, f := range g.Flags {
				if !strings.Contains(help, " "+cli.FlagTerm(f)+" ") || !strings.Contains(help, cli.FlagText(f)+"\n") {
					t.Errorf("%s --help-all lacks %s", cmd.CommandPath(), cli.FlagTerm(f))
				}
			}
		}
		for _, f := range cli.GlobalFlags(cmd) {
			if !strings.Contains(help, " --"+f.Name+" ") {
				t.Errorf("%s --help-all lacks --%s", cmd.CommandPath(), f.Name)
			}
		}
		if strings.HasPrefix(cmd.CommandPath(), "tfrec convert ") && len(cli.FlagGroups(cmd)) > 0 && cli.FlagGroups(cmd)[0].Group == "" {
			t.Errorf("%s has flags in no group: %v", cmd.CommandPath(), cli.FlagGroups(cmd)[0].Flags)
		}
		narrow := regexp.MustCompile(` \\\n +`).ReplaceAllString(cli.Help(cmd, 40), " ")
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(narrow, strings.TrimRight(line, "\n")+"\n") {
				t.Errorf("%s: the example is another one when it is wrapped: %s", cmd.CommandPath(), line)
			}
		}
		for _, name := range strings.Fields(cmd.Annotations[cli.Topics]) {
			if _, ok := topic.Find(name); !ok {
				t.Errorf("%s: there is no topic %s", cmd.CommandPath(), name)
			}
		}
	})
}

// TestTopicsNameFlagsThatExist holds the flags and verbs in topics to those of the command.
func TestTopicsNameFlagsThatExist(t *testing.T) {
	flags := map[string]bool{"cache-dir": true, "cache-size": true} // of builds with object storage
	everyVerb(func(cmd *cobra.Command) {
		for _, g := range cli.FlagGroups(cmd) {
			for _, f := range g.Flags {
				flags[f.Name] = true
			}
		}
	})
	root := newRootCommand(nil)
	for _, topic := range topic.All() {
		for _, m := range regexp.MustCompile(`--([a-z][a-z0-9-]*)`).FindAllStringSubmatch(topic.Text, -1) {
			if !flags[m[1]] {
				t.Errorf("help %s: no verb has --%s", topic.Name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`\btfrec ([a-z]+)`).FindAllStringSubmatch(topic.Text, -1) {
			if cli.ChildNamed(root, m[1]) == nil {
				t.Errorf("help %s: there is no verb %s", topic.Name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`docs/\w+\.md`).FindAllString(topic.Text, -1) {
			if _, err := os.Stat("../../" + m); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOtherFlagsAreOfVerbs holds the words that lead to flags to the flags that there are.
func TestOtherFlagsAreOfVerbs(t *testing.T) {
	verbs := map[string]*cobra.Command{}
	everyVerb(func(cmd *cobra.Command) { verbs[cmd.CommandPath()] = cmd })
	var seen []string
	for _, o := range cli.OtherFlags {
		for _, word := range strings.Fields(o.Words) {
			if slices.Contains(seen, word) {
				t.Errorf("%s leads to flags twice", word)
			}
			seen = append(seen, word)
		}
		for _, flag := range append(slices.Clone(o.Flags), "--"+o.Of) {
			words := strings.Fields(strings.TrimPrefix(flag, "--"))
			found := flag == "--"
			for _, cmd := range verbs {
				found = found || cmd.Flags().Lookup(words[0]) != nil || cmd.InheritedFlags().Lookup(words[0]) != nil
				if len(words) > 1 && !strings.Contains(flag, "(") && !strings.Contains(flag, "WxH") {
					if f := cmd.Flags().Lookup(words[0]); f != nil && !strings.HasPrefix(words[1], "-") {
						if err := f.Value.Set(words[1]); err != nil {
							t.Errorf("%s: %s: %v", cmd.CommandPath(), flag, err)
						}
					}
				}
			}
			if !found {
				t.Errorf("no verb has %s", flag)
			}
		}
	}
}

// TestWordsThatPeopleTry is what other tools call the flags.
func TestWordsThatPeopleTry(t *testing.T) {
	for args, want := range map[string]string{
		"convert images a b --gray":         "unknown flag --gray; did you mean --channels 1?",
		"convert images a b --shuffle":      "unknown flag --shuffle; did you mean --seed (images are always shuffled, and another seed gives another order)?",
		"convert images a b --max-size 512": "unknown flag --max-size; did you mean --resize WxH --fit longer --no-upscale?",
		"convert images a b --threads 4":    "unknown flag --threads; did you mean --workers?",
		"convert images a b --num_shards 4": "unknown flag --num_shards; did you mean --shards?",
		"convert images a b --force":        "unknown flag --force; did you mean --overwrite?",
		"convert images a b --format jpeg":  "unknown flag --format; did you mean --encode?",
		"convert images a b -resize 224":    "unknown flag -resize; did you mean --resize?",
		"convert images a b -json":          "unknown flag -json; did you mean --json?",
		"convert images a b -quiet":         "unknown flag -quiet; did you mean --quiet?",
		"convert csv a b --sep ,":           "unknown flag --sep; did you mean --delimiter?",
		"reshard a b --num-shards 4":        "unknown flag --num-shards; did you mean --shards?",
		"cat a --threads 4":                 "unknown flag --threads; did you mean --parallel?",
		"reshard a b --gray":                "unknown flag --gray\n",
		"help lables":                       `unknown topic "lables"; did you mean labels?`,
		"help resize":                       `unknown verb "resize"; did you mean convert images --resize?`,
		"help max size":                     `unknown verb "max size"; did you mean convert images --resize WxH --fit longer --no-upscale?`,
		"help threads":                      `unknown verb "threads"; did you mean convert images --workers?`,
		"help inspct":                       `unknown verb "inspct"; did you mean inspect?`,
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), strings.Fields(args), &stdout, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d: %s", args, code, stderr.String())
		}
	}
}
