package shares

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"

	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/shard"
)

// SplitOf returns the split that the name of a record file states: photos-val.tfrecord-00000-of-00001
// and val.record are of the split val. It returns "" if the name states none.
func SplitOf(file string) string {
	if name, ok := shard.ParseName(file); ok {
		return name.Split
	}
	return naming.SplitIn(file)
}

// SplitsOf returns the split of each of several files of records by its name or, if no name states one
// and the files are in several directories, by the name of its directory: train/1.tfrecord and
// val/1.tfrecord. It is "" for a file of which neither states one.
func SplitsOf(paths []string) []string {
	splits, dirs := make([]string, len(paths)), make([]string, len(paths))
	for i, file := range paths {
		file = filepath.ToSlash(file)
		splits[i], dirs[i] = SplitOf(path.Base(file)), path.Dir(file)
	}
	stated := func(split string) bool { return split != "" }
	if slices.ContainsFunc(splits, stated) || !slices.ContainsFunc(dirs, func(dir string) bool { return dir != dirs[0] }) {
		return splits
	}
	for i, dir := range dirs {
		splits[i] = naming.SplitIn(path.Base(dir))
	}
	return splits
}

// NameSplits gives the files that are of no set the splits that their names state, or else train.
func NameSplits(sources []shard.Source) {
	var paths []string
	for _, s := range sources {
		if s.Split == "" {
			paths = append(paths, s.Path)
		}
	}
	splits := SplitsOf(paths)
	for i := range sources {
		if s := &sources[i]; s.Split == "" {
			s.Split, splits = cmp.Or(splits[0], "train"), splits[1:]
		}
	}
}
