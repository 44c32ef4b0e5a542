// Package imagetree knows what the names of files and directories mean in a
// directory of images: which of them name splits, and which are hidden.
package imagetree

import "strings"

// splits are the names of splits, in lower case, and the splits they name.
var splits = map[string]string{
	"train": "train", "training": "train",
	"val": "val", "valid": "val", "validation": "val", "dev": "val",
	"test": "test", "testing": "test", "eval": "test",
}

// Split returns the split that a directory's name stands for, in any case:
// train, val or test. It is empty for other names.
func Split(dir string) string { return splits[strings.ToLower(dir)] }

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
