//go:build interop

package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// samples runs samples.py, which must say nothing but how many samples there are.
func samples(t *testing.T, want string, args ...string) {
	t.Helper()
	c := exec.Command(*python, append([]string{"samples.py"}, args...)...)
	c.Stderr = os.Stderr
	if got, err := c.Output(); err != nil || string(got) != want+" samples\n" {
		t.Errorf("samples.py %s: %v\n%.2000s", args[0], err, got)
	}
}

// runTfrec runs the built command.
func runTfrec(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(*binary, append(args, "--quiet")...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
}

// matching returns the files that match a pattern.
func matching(t *testing.T, pattern ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q: %q, %v", pattern, files, err)
	}
	return files
}

// The webdataset package reads what is exported, and what it writes is converted, exported and
// read.
func TestWebDatasetsOfOthers(t *testing.T) {
	dir := t.TempDir()
	photos := matching(t, "../../../testdata/demo/photos", "*", "*.jpg")
	samples(t, "40", append([]string{"write", dir, "40"}, photos...)...)
	for name, convert := range map[string][]string{
		"photos": {"convert", "images", "../../../testdata/demo/photos"},
		"theirs": {"convert", "images", filepath.Join(dir, "web-*.tar"), "--features", "score:float,n,who"},
		"png":    {"convert", "images", "../../../testdata/demo/photos", "--resize", "32", "--encode", "png"},
	} {
		set, web := filepath.Join(dir, name), filepath.Join(dir, name+"-web")
		runTfrec(t, append(append(convert[:3:3], set), append(convert[3:], "--name", "x", "--shards", "1")...)...)
		if name == "theirs" { // .json has no place for the arrays of .npy
			kept := filepath.Join(dir, "kept")
			runTfrec(t, "features", "drop", set, kept, "--keys", "npy")
			set = kept
		}
		runTfrec(t, "export", set, web, "--format", "webdataset")
		samples(t, "40", append([]string{"read", matching(t, set, "*.tfrecord*")[0]}, matching(t, web, "*.tar")...)...)
	}
}
