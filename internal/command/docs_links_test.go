package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	docsCode    = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	docsLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docsHeading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	docsAnchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	notInAnchor = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// TestDocsLinkToWhatExists follows the links of pages to files, and to headings of pages.
func TestDocsLinkToWhatExists(t *testing.T) {
	anchors := map[string]map[string]bool{}
	anchorsOf := func(page string) map[string]bool {
		if anchors[page] != nil {
			return anchors[page]
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, m := range docsHeading.FindAllStringSubmatch(docsCode.ReplaceAllString(string(text), ""), -1) {
			name := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
			found[strings.ReplaceAll(name, " ", "-")] = true
		}
		for _, m := range docsAnchor.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		anchors[page] = found
		return found
	}
	links := 0
	for _, page := range pagesOf(t, "../..") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docsLink.FindAllStringSubmatch(docsCode.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			} else if anchor != "" && filepath.Ext(to) == ".md" && !anchorsOf(to)[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were checked", links)
	}
}
