//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestImagesInRowsOfOthers: the images that datasets of Hugging Face and pyarrow write into Parquet
// and Arrow files become the records that datasets reads.
func TestImagesInRowsOfOthers(t *testing.T) {
	dir := t.TempDir()
	rows := func(args ...string) {
		t.Helper()
		c := exec.Command(*python, append([]string{"rows.py"}, args...)...)
		c.Stderr = os.Stderr
		if got, err := c.Output(); err != nil || string(got) != "40 samples\n" {
			t.Errorf("rows.py %s: %v\n%.2000s", args[0], err, got)
		}
	}
	rows(append([]string{"write", dir}, matching(t, demo, "photos", "*", "*.jpg")...)...)
	read := []string{"read", dir}
	for file, flags := range map[string][]string{
		"hf.parquet":    nil,
		"cached.arrow":  nil,
		"plain.parquet": {"--image-key", "img"},
	} {
		out := filepath.Join(dir, file+"-set")
		runTfrec(t, append([]string{"convert", "images", filepath.Join(dir, file), out, "--features", "caption,boxes", "--shards", "1"}, flags...)...)
		read = append(read, matching(t, out, "*.tfrecord*")...)
	}
	rows(read...)
}
