package recordscan

import (
	"context"
	"os"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Open opens a regular file that will be read from its start to its end.
func Open(ctx context.Context, path string) (storage.File, error) {
	return openWith(ctx, path, storage.Open)
}

// OpenOnce is Open for a file that is read only once. Unless it is a member of a
// set it may be a pipe.
func OpenOnce(ctx context.Context, path string, member bool) (storage.File, error) {
	if member {
		return Open(ctx, path)
	}
	return openWith(ctx, path, storage.OpenStream)
}

func openWith(ctx context.Context, path string, open func(context.Context, string) (storage.File, error)) (storage.File, error) {
	if err := inject.Fault(ctx, "open", path); err != nil {
		return nil, err
	}
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	if local, ok := f.(*os.File); ok {
		adviseSequential(local)
	}
	return f, nil
}

// TotalSize returns the total size of files, without those whose size is unavailable.
func TotalSize(ctx context.Context, paths ...string) (total int64) {
	for _, path := range paths {
		if st, err := storage.Stat(ctx, path); err == nil {
			total += st.Size()
		}
	}
	return total
}
