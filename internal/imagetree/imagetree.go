// Package imagetree knows what the names of files and directories mean in a
// directory of images: which of them name splits, and which are hidden.
package imagetree

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Extensions are those of the files of images, in lower case. The content decides the actual format.
var Extensions = []string{".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"}

// IsImage reports whether a file has the extension of an image, in any case.
func IsImage(name string) bool {
	return slices.Contains(Extensions, strings.ToLower(path.Ext(name)))
}

// splits are the names of splits, in lower case, and the splits they name.
var splits = map[string]string{
	"train": "train", "training": "train",
	"val": "val", "valid": "val", "validation": "val", "dev": "val",
	"test": "test", "testing": "test", "eval": "test",
}

// imageDirectories are usual names of directories of images, in lower case.
var imageDirectories = []string{"image", "images", "img", "imgs", "jpegimages", "photo", "photos", "picture", "pictures"}

// HoldsImages reports whether a directory of this name usually holds images of any class.
func HoldsImages(dir string) bool { return slices.Contains(imageDirectories, strings.ToLower(dir)) }

// Split returns the split that a directory's name stands for, in any case:
// train, val or test. A year may follow, as in COCO's train2017. It is empty for other names.
func Split(dir string) string {
	const year = 4
	if n := len(dir) - year; n > 0 && (strings.HasPrefix(dir[n:], "19") || strings.HasPrefix(dir[n:], "20")) && strings.Trim(dir[n:], "0123456789") == "" {
		dir = strings.TrimRight(dir[:n], "-_")
	}
	return splits[strings.ToLower(dir)]
}

// SplitOfFile returns the split that the name of a file with many images states, if it is one that
// Split knows: train-00000-of-00004.parquet or x_val.record. It is empty if there is none, or several:
// train_test_split.tar.
func SplitOfFile(base string) (split string) {
	stem, _, _ := strings.Cut(base, ".")
	for word := range strings.FieldsFuncSeq(stem, func(r rune) bool { return !unicode.IsLetter(r) }) {
		known := Split(word)
		if known != "" && split != "" && known != split {
			return ""
		}
		split = cmp.Or(split, known)
	}
	return split
}

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
