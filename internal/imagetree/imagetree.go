// Package imagetree interprets the names of files and directories in a directory of images: which
// of them name splits, and which are hidden.
package imagetree

import (
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/naming"
)

// Extensions are the usual extensions of images, in lower case. The content decides the actual
// format.
var Extensions = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"}

// IsImage reports whether a file has the extension of an image, in any case.
func IsImage(name string) bool {
	return slices.Contains(Extensions, strings.ToLower(path.Ext(name)))
}

// imageDirectories are usual names of directories of images, in lower case.
var imageDirectories = []string{"image", "images", "img", "imgs", "jpegimages", "photo", "photos", "picture", "pictures"}

// HoldsImages reports whether a directory of this name usually holds images of any class.
func HoldsImages(dir string) bool { return slices.Contains(imageDirectories, strings.ToLower(dir)) }

// Split returns the split that a directory is named after, in any case: train, val or test. A year
// may follow, as in COCO's train2017. It is empty for other names.
func Split(dir string) string {
	const year = 4
	if n := len(dir) - year; n > 0 && (strings.HasPrefix(dir[n:], "19") || strings.HasPrefix(dir[n:], "20")) && strings.Trim(dir[n:], "0123456789") == "" {
		dir = strings.TrimRight(dir[:n], "-_")
	}
	return naming.KnownSplit(dir)
}

// SplitsOf returns the splits of directories next to each other, "" for those without one, like
// Split. If the names contain the names of different splits, as seg_train and test_images do, it
// returns these.
func SplitsOf(dirs []string) []string {
	splits, loose := make([]string, len(dirs)), make([]string, len(dirs))
	seen := map[string]bool{}
	for i, dir := range dirs {
		splits[i], loose[i] = Split(dir), SplitOfFile(dir)
		seen[loose[i]] = true
	}
	if len(dirs) > 1 && len(seen) == len(dirs) && !seen[""] {
		return loose
	}
	return splits
}

// SplitOfFile returns the split that the name of a file with many images states, if it is one that
// Split knows: train-00000-of-00004.parquet, x_val.record or data.test.tar. It is empty if there is
// none, or several: train_test_split.tar.
func SplitOfFile(base string) string { return naming.KnownSplit(naming.SplitIn(base)) }

// Hidden reports whether a file or directory of this name is hidden: the name
// begins with a dot or is __MACOSX, where archives made on macOS keep attributes.
func Hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__MACOSX" }

// HiddenPath reports whether a path, with slashes, has a hidden part.
func HiddenPath(p string) bool {
	for name := range strings.SplitSeq(p, "/") {
		if Hidden(name) {
			return true
		}
	}
	return false
}
