package imagetree

import "testing"

func TestSplit(t *testing.T) {
	for dir, want := range map[string]string{
		"train": "train", "Train": "train", "TRAINING": "train", "val": "val", "Valid": "val", "validation": "val", "DEV": "val",
		"test": "test", "Testing": "test", "eval": "test", "": "", "trains": "", "invalid": "", "tests": "", "daisy": "",
	} {
		if got := Split(dir); got != want {
			t.Errorf("%q names the split %q, want %q", dir, got, want)
		}
	}
}

func TestHidden(t *testing.T) {
	for name, want := range map[string]bool{".git": true, "._1.jpg": true, "__MACOSX": true, "__macosx": false, "a.jpg": false, "_": false, "": false} {
		if Hidden(name) != want {
			t.Errorf("%q: hidden %v", name, !want)
		}
	}
	for p, want := range map[string]bool{"a/b.jpg": false, ".a/b.jpg": true, "a/.b.jpg": true, "a/__MACOSX/b": true, "a/b/.": true} {
		if HiddenPath(p) != want {
			t.Errorf("%q: hidden %v", p, !want)
		}
	}
}
