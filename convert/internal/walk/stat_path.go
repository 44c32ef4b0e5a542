//go:build !linux && !darwin

package walk

import "os"

// A namedDir gives the sizes and times of the files of a directory by their names.
type namedDir struct{ path string }

func openNamedDir(path string) (namedDir, error) { return namedDir{path}, nil }

func (d namedDir) stat(name string) (s statted) {
	st, err := os.Stat(d.path + string(os.PathSeparator) + name)
	if err != nil {
		return statted{err: err}
	}
	return stattedOf(st)
}

func (d namedDir) close() {}
