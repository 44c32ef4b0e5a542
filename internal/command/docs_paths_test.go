package command

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocsNameFilesThatExist holds the documents for maintainers to the tree: a path in
// backquotes is one from the root of the repository.
func TestDocsNameFilesThatExist(t *testing.T) {
	const root = "../.."
	for _, page := range []string{"CONTRIBUTING.md", "docs/design.md"} {
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
