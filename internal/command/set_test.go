package command

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// readSet returns every file below dir by its path there, but for this
// machine's state.
func readSet(dir string) (map[string]string, error) {
	set := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".tfrec" {
				return filepath.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		set[filepath.ToSlash(name)] = string(data)
		return err
	})
	return set, err
}

// difference names the first file that two sets do not share, "" when they
// are the same.
func difference(a, b map[string]string) string {
	if len(a) == 0 {
		return "no files at all"
	}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if data, ok := b[name]; !ok {
			return name + " is in the first alone"
		} else if data != a[name] {
			return name + " differs"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[name]; !ok {
			return name + " is in the second alone"
		}
	}
	return ""
}
