package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// workFile creates a temporary file for path, in the same directory. Its name is derived from path,
// so that the next run reuses the file of a killed one, and it is locked, so that two runs never
// write the same file. It is readable only by the owner until it gets its final mode.
func workFile(ctx context.Context, path string) (*os.File, error) {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	if err := inject.Fault(ctx, "create", path); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	f, err := osfile.Lock(filepath.Join(filepath.Dir(path), fmt.Sprintf(".tfrec-work-%x", sum[:6])), 0o600, atomicfile.Lock)
	if errors.Is(err, atomicfile.ErrLocked) {
		return nil, fmt.Errorf("%s: another tfrec is writing it; wait for it to finish", path)
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	err = f.Chmod(0o600)
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		atomicfile.Discard(f)
		return nil, err
	}
	return f, nil
}

// heldFile is a file for random reads, until its context is done.
type heldFile struct {
	ctx      context.Context
	f        storage.File
	progress *shard.ReadProgress
}

func (h heldFile) ReadAt(p []byte, offset int64) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := osfile.NewReader(h.ctx, h.f).ReadAt(p, offset)
	h.progress.Add(n)
	return n, err
}

// Refetch fetches again what tfrecord found to be damaged.
func (h heldFile) Refetch(p []byte, offset int64, good func(p []byte) bool) (bool, error) {
	return storage.Refetch(h.f, p, offset, good)
}

// Size returns the size of the file; 0 if unknown.
func (h heldFile) Size() int64 {
	st, err := h.f.Stat()
	if err != nil {
		return 0
	}
	return st.Size()
}

// from returns a reader that starts at offset.
func (h heldFile) from(offset int64) io.Reader { return io.NewSectionReader(h, offset, 1<<62) }
