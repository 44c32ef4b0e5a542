package command

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra/doc"

	"github.com/tfrec/tfrec/internal/build"
)

var manDir = flag.String("man", "", "write the manual pages to this `folder` (make man)")

// TestManualPages makes a page of section 1 for every verb.
func TestManualPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := newRootCommand(nil)
	root.DisableAutoGenTag = true // it would hold a date
	header := &doc.GenManHeader{Section: "1", Source: build.Tool, Manual: "tfrec"}
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "tfrec-convert-images.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`.TH "TFREC-CONVERT-IMAGES" "1"`, `\fB--max-errors\fP`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page of convert images lacks %q:\n%.600s", want, page)
		}
	}
}
