package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameFilesThatExist holds the documents for maintainers to the tree: a path in
// backquotes is one from the root of the repository.
func TestDocsNameFilesThatExist(t *testing.T) {
	const root = "../.."
	for _, page := range []string{"CONTRIBUTING.md", "docs/design.md", "docs/notes/design.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, path := range regexp.MustCompile("`([a-z_./-]+/[A-Za-z0-9_./*-]+)`").FindAllStringSubmatch(string(text), -1) {
			if regexp.MustCompile(`^\.(tfrec|\./)|^tmp/`).MatchString(path[1]) {
				continue // files of a set
			}
			if found, err := filepath.Glob(filepath.Join(root, path[1])); err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s", page, path[1])
			}
			named++
		}
		if named < 10 {
			t.Errorf("%s names %d files", page, named)
		}
	}
}

// TestDocsShowDiffsOfTheTree holds the diffs of CONTRIBUTING.md to the tree: the lines that they add are
// in the files that they name, in this order.
func TestDocsShowDiffsOfTheTree(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, block := range strings.Split(string(page), "```diff\n")[1:] {
		block, _, _ := strings.Cut(block, "```")
		var file, rest string
		for line := range strings.Lines(block) {
			if name, ok := strings.CutPrefix(line, "+++ "); ok {
				file = strings.TrimSpace(name)
				text, err := os.ReadFile(filepath.Join(root, file))
				if err != nil {
					t.Error(err)
				}
				rest = string(text)
				continue
			}
			lines++
			_, after, ok := strings.Cut(rest, strings.TrimPrefix(line, "+"))
			if !ok {
				t.Errorf("CONTRIBUTING.md shows a line that is not in %s, or not there:\n%s", file, line)
				continue
			}
			rest = after
		}
	}
	if lines < 20 {
		t.Errorf("CONTRIBUTING.md shows %d lines of diffs", lines)
	}
}
