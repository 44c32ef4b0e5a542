//go:build unix

package reader

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/tfrec/tfrec/internal/storage"
)

// openSource opens a file for reading. To open a named pipe that nobody writes
// to would wait where no context reaches it: then the first read waits instead.
func openSource(ctx context.Context, path string, mode fs.FileMode) (storage.File, error) {
	if mode&fs.ModeNamedPipe != 0 && isNamed(path) {
		return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	return storage.Open(ctx, path)
}

// isNamed reports whether a pipe lies at path itself. A pipe of the shell's, such
// as /dev/stdin, is a link there, and has had its writer.
func isNamed(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&fs.ModeNamedPipe != 0
}

// reading returns what reads a file that openSource opened.
func reading(f storage.File, mode fs.FileMode) io.Reader {
	if pipe, ok := f.(*os.File); ok && mode&fs.ModeNamedPipe != 0 && isNamed(f.Name()) {
		return &namedPipe{file: pipe}
	}
	return f
}

// namedPipe reads a pipe that was opened before somebody wrote to it, which
// looks like its end: the first such end means that there is nobody yet.
type namedPipe struct {
	file *os.File
	came bool
}

func (p *namedPipe) Read(b []byte) (n int, err error) {
	if p.came || len(b) == 0 {
		return p.file.Read(b)
	}
	raw, err := p.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	waited := false
	err = raw.Read(func(fd uintptr) (done bool) {
		n, failed = syscall.Read(int(fd), b)
		if failed == syscall.EINTR || failed == syscall.EAGAIN {
			failed = nil
			return false
		}
		done = n != 0 || waited
		waited = true
		return done
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: p.file.Name(), Err: err} // no damage, that is, which might be passed over
	}
	p.came = true
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
