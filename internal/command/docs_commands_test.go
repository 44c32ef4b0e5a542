package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// goTest matches a command of the documents, which may be wrapped, or a line of the Makefile.
var goTest = regexp.MustCompile("(?:cd\\s+(\\w+)\\s+&&\\s+)?(?:\\w+=\\S+\\s+)*(?:go|\\$\\(GO\\))\\s+test\\s+([^`\n;]*(?:\n[^`\n;]+)*)")

// shellVariable matches one in a Makefile.
var shellVariable = regexp.MustCompile(`\$\$[a-z]`)

// TestDocsNameTestsThatExist holds the commands of documents and Makefile to the tree: the packages
// of `go test` have a test, benchmark or fuzz target that its -run, -bench or -fuzz matches.
// Otherwise go test passes, and has done nothing.
func TestDocsNameTestsThatExist(t *testing.T) {
	race.Skip(t)
	const root = "../.."
	checked := 0
	for _, page := range append(pagesOf(t, root), filepath.Join(root, "Makefile")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		makefile := filepath.Base(page) == "Makefile"
		for _, m := range goTest.FindAllStringSubmatch(string(text), -1) {
			args := m[2]
			if makefile {
				args, _, _ = strings.Cut(args, "\n")
			}
			if shellVariable.MatchString(args) {
				continue
			}
			if checkGoTest(t, filepath.Base(page), filepath.Join(root, m[1]), strings.Fields(strings.ReplaceAll(args, "$$", "$"))) {
				checked++
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d commands were checked", checked)
	}
}

// pagesOf returns the pages that people write: those of docs and docs/notes, and those in root.
func pagesOf(t *testing.T, root string) []string {
	t.Helper()
	pages := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "CHANGELOG.md")}
	for _, dir := range []string{"docs", "docs/notes"} {
		found, err := filepath.Glob(filepath.Join(root, dir, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no pages: %v", dir, err)
		}
		pages = append(pages, found...)
	}
	return pages
}

// checkGoTest checks one command, run in dir. It reports whether there was something to check.
func checkGoTest(t *testing.T, page, dir string, args []string) bool {
	t.Helper()
	var patterns, packages []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"-run", "-bench", "-fuzz"}, arg) && i+1 < len(args):
			i++
			if p := strings.Trim(args[i], `'"`); p != "xxx" && p != "^$" && !strings.Contains(p, "$(") {
				top, _, _ := strings.Cut(p, "/") // the rest names subtests
				patterns = append(patterns, top)
			}
		case arg == "." || strings.HasPrefix(arg, "./"):
			packages = append(packages, arg)
		}
	}
	if len(patterns) == 0 {
		return false
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	for _, pkg := range packages {
		below, all := strings.CutSuffix(pkg, "/...")
		for _, pattern := range patterns {
			if !hasTest(t, filepath.Join(dir, below), all, pattern) {
				t.Errorf("%s: `go test %s`: nothing in %s matches %s", page, strings.Join(args, " "), pkg, pattern)
			}
		}
	}
	return true
}

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)

// hasTest reports whether a package, or one below it if all is set, has a test, benchmark, fuzz
// target or example whose name matches.
func hasTest(t *testing.T, dir string, all bool, pattern string) bool {
	t.Helper()
	name, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && !all:
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
			found = found || name.MatchString(m[1])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}
