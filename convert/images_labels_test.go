package convert

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLabelFilesAreBounded gives label files that are one endless row, with a quote and
// without, and one that is too large to be looked at.
func TestLabelFilesAreBounded(t *testing.T) {
	src := t.TempDir()
	if err := os.WriteFile(filepath.Join(src, "a.png"), []byte("no matter"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"a row of more than": strings.Repeat("\x00", 3*maxLabelRow), "is a quote missing": `"` + strings.Repeat("\n", 3*maxLabelRow), "larger than": "",
	} {
		labels := filepath.Join(t.TempDir(), "labels.csv")
		if err := os.WriteFile(labels, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			if err := os.Truncate(labels, 1<<40); err != nil {
				t.Logf("no sparse files here: %v", err)
				continue
			}
		}
		_, err := Images(context.Background(), src, filepath.Join(t.TempDir(), "out"), ImageOptions{LabelFile: labels})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), labels) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
