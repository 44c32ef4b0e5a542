//go:build unix

package storage

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/tfrec/tfrec/internal/store/regular"
)

// stream is an open FIFO or device.
type stream struct {
	*os.File
	ctx   context.Context
	stop  func() bool // of what ends reads when ctx is done
	begun bool        // a writer has or had it open
}

func openStream(ctx context.Context, path string) (File, error) {
	f, err := regular.OpenNonblocking(path)
	if err != nil {
		return nil, err
	}
	s := &stream{File: f, ctx: ctx}
	// Devices without deadlines always have something to read: for them, Read looks at ctx.
	s.stop = context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })
	// An anonymous pipe, such as the shell's /dev/fd/63, is a link here, and has had
	// its writer.
	st, err := os.Lstat(path)
	s.begun = err != nil || st.Mode()&fs.ModeNamedPipe == 0
	return s, nil
}

func (s *stream) Close() error {
	s.stop()
	return s.File.Close()
}

// WriteTo hides os.File's, which doesn't wait for a writer.
func (s *stream) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{s})
}

func (s *stream) Read(p []byte) (n int, err error) {
	if s.ctx.Err() != nil {
		return 0, ended(s.ctx, s.Name())
	}
	if s.begun || len(p) == 0 {
		n, err = s.File.Read(p)
	} else {
		n, err = s.readFirst(p)
	}
	if err != nil && err != io.EOF && s.ctx.Err() != nil {
		err = ended(s.ctx, s.Name())
	}
	return n, err
}

// readFirst does the first read of a FIFO that was opened before its writer. Such a FIFO looks as
// if it had ended: the first end of this kind means that it has not been opened for writing yet.
func (s *stream) readFirst(p []byte) (n int, err error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	waited := false
	err = raw.Read(func(fd uintptr) (done bool) {
		n, failed = syscall.Read(int(fd), p)
		if failed == syscall.EINTR || failed == syscall.EAGAIN {
			failed = nil
			return false
		}
		// A writer that came and went before this Read leaves nothing to wait for.
		done = n != 0 || waited || abandoned(fd)
		waited = true
		return done
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: s.Name(), Err: err}
	}
	s.begun = true
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
