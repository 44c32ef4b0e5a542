package storage

import (
	"path/filepath"
	"strings"
)

// RelativeNames returns a name for each file: its path, with slashes, below the deepest directory that
// contains all files.
func RelativeNames(paths []string) []string {
	dir := Dir(paths[0])
	below := func(path string) (name string, ok bool) {
		rel, err := Rel(dir, path)
		rel = filepath.ToSlash(rel)
		return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	}
	for _, path := range paths {
		for _, ok := below(path); !ok && dir != Dir(dir); _, ok = below(path) {
			dir = Dir(dir)
		}
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i], _ = below(path)
	}
	return names
}
