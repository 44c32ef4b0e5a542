package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/topic"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// unplain are words that users do not know from other tools, with those that they do.
var unplain = []struct {
	word *regexp.Regexp
	say  string
}{
	{regexp.MustCompile(`(?i)\bfolders?\b`), "directory"},
	{regexp.MustCompile(`(?i)\bpictures?\b`), "image"},
	{regexp.MustCompile(`(?i)\bbehind\b`), "after"},
	{regexp.MustCompile(`(?i)\banew\b`), "again, or from scratch"},
	{regexp.MustCompile(`(?i)\bbeforehand\b`), "in advance"},
	{regexp.MustCompile(`(?i)\btold from\b`), "inferred from"},
	{regexp.MustCompile(`(?i)\breckon(s|ed|ing)?\b`), "estimate"},
	{regexp.MustCompile(`(?i)\bfor people\b`), "human-readable"},
	{regexp.MustCompile(`(?i)\bgo(es|ing)? on\b`), "continue, or resume"},
	{regexp.MustCompile(`(?i)\blies? in\b`), "is in"},
	{regexp.MustCompile(`(?i)\bbearable\b`), "allowed"},
	{regexp.MustCompile(`(?i)\bwhat is there\b`), "existing"},
	{regexp.MustCompile(`(?i)\bis no\b`), "is not a"},
	{regexp.MustCompile(`(^|[.;:,] )[Ww]ho\b`), "a sentence that names its subject"},
}

// plainAnyway are phrases that may hold such a word.
var plainAnyway = []struct{ phrase, why string }{
	{"--picture", "a flag, which scripts use"},
	{"--format folders", "a value of a flag, which scripts use"},
	{"want folders, csv,", "the values of --format"},
	{"folders     each image", "the value of --format, in its list"},
	{"folders, webdataset", "values of --format"},
	{"folders or webdataset", "values of --format"},
	{"folders, coco", "values of --format"},
	{"folders, csv, jsonl", "the values of --format"},
	{"there is no ", "names what is missing"},
	{"is no longer", "plain"},
	{"The folder may be deleted when nobody uses it.", "a file of the cache, whose bytes tell a cache from other directories"},
}

// unplainIn returns what is to be said in another way in a text for users, and counts
// the phrases that are allowed.
func unplainIn(text string, used map[string]int) []string {
	for _, p := range plainAnyway {
		n := strings.Count(strings.ToLower(text), strings.ToLower(p.phrase))
		used[p.phrase] += n
		if n > 0 {
			text = regexp.MustCompile(`(?i)`+regexp.QuoteMeta(p.phrase)).ReplaceAllString(text, "")
		}
	}
	var found []string
	for _, u := range unplain {
		if word := u.word.FindString(text); word != "" {
			found = append(found, strconv.Quote(word)+" (say "+u.say+")")
		}
	}
	return found
}

// TestWordsOfHelpAndMessages keeps words out of help and messages that make them read
// like a translation. Help is that of all verbs and flags. Messages are the string
// literals with a space in them of all packages, and the nouns that are counted.
func TestWordsOfHelpAndMessages(t *testing.T) {
	race.Skip(t)
	used := map[string]int{}
	var help func(cmd *cobra.Command)
	help = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		for line := range strings.Lines(cmd.Short + "\n" + cli.HelpAll(cmd, 1000)) {
			for _, found := range unplainIn(line, used) {
				t.Errorf("tfrec help: %s: %s: %s", cmd.CommandPath(), found, line)
			}
		}
		for _, c := range cmd.Commands() {
			help(c)
		}
	}
	help(newRootCommand(nil))
	for _, topic := range topic.All() {
		for line := range strings.Lines(topic.Short + "\n" + topic.Text) {
			for _, found := range unplainIn(line, used) {
				t.Errorf("tfrec help %s: %s: %s", topic.Name, found, line)
			}
		}
	}

	// What is not for users: tests and what only they link.
	testing := []string{"backendtest", "conformance", "fakecuda", "gputest", "storagetest", "testdata", "torture", "_generate"}
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(testing, d.Name()) || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for at, text := range messagesIn(file) {
			for _, found := range unplainIn(text, used) {
				t.Errorf("%s: %s: %q", set.Position(at), found, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("%d files were looked at, want those of the repository", files)
	}
	for _, phrase := range slices.Sorted(maps.Keys(used)) {
		if used[phrase] == 0 {
			t.Errorf("no text has %q any more: take it off the list", phrase)
		}
	}
}

// messagesIn returns the string literals of a file that may be messages or parts of them,
// by position.
func messagesIn(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	add := func(n ast.Node, one bool) {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return
		}
		if text, err := strconv.Unquote(l.Value); err == nil && (one || strings.Contains(text, " ")) {
			found[l.Pos()] = text
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // its tag is not a message
			return n.Tag == nil
		case *ast.CallExpr: // count(n, "image")
			name := ""
			switch f := n.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if name == "count" || name == "Of" || name == "plural" {
				for _, arg := range n.Args {
					add(arg, true)
				}
			}
		default:
			add(n, false)
		}
		return true
	})
	return found
}

// TestUnplainWords proves the check itself.
func TestUnplainWords(t *testing.T) {
	for text, want := range map[string]int{
		"the folder out":                         1,
		"a picture behind a Folder":              3,
		"x is no number":                         1,
		"there is no feature x":                  0,
		"it is no longer a regular file":         0,
		"--picture KEY names another":            0,
		"tfrec export out --format folders":      0,
		"the run goes on, what is there is kept": 2,
		"Who interrupts a run loses nothing":     1,
		"a user who may write":                   0,
		"the directory of the image":             0,
	} {
		if got := unplainIn(text, map[string]int{}); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
