//go:build linux || darwin

package walk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// A namedDir gives the sizes and times of the files of a directory by their names, which costs less
// than by their paths: the system does not look up each directory on the way again.
type namedDir struct {
	path string
	f    *os.File
	fd   int // of f
}

func openNamedDir(path string) (namedDir, error) {
	f, err := os.Open(path)
	if err != nil {
		return namedDir{}, err
	}
	return namedDir{path, f, int(f.Fd())}, nil
}

func (d namedDir) stat(name string) (s statted) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(d.fd, name, &st, 0)
		if err == nil {
			return statted{size: st.Size, modTime: st.Mtim.Nano(), change: storage.ChangeOf(st.Ino, st.Ctim.Nano())}
		}
		if err != unix.EINTR {
			return statted{err: &fs.PathError{Op: "stat", Path: d.path + string(os.PathSeparator) + name, Err: err}}
		}
	}
}

func (d namedDir) close() { _ = d.f.Close() }
