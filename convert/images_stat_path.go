//go:build !linux && !darwin

package convert

import "os"

// A namedDir gives the sizes and times of the files of a directory by their names.
type namedDir struct{ path string }

func openNamedDir(path string) (namedDir, error) { return namedDir{path}, nil }

func (d namedDir) stat(name string) (size, modTime int64, err error) {
	st, err := os.Stat(d.path + string(os.PathSeparator) + name)
	if err != nil {
		return 0, 0, err
	}
	return st.Size(), st.ModTime().UnixNano(), nil
}

func (d namedDir) close() {}
