package cloud

import (
	"context"
	"errors"
	"io/fs"

	"gocloud.dev/blob"

	"github.com/tfrec/tfrec/internal/storage"
)

// Create implements storage.Store.
func (b *bucket) Create(ctx context.Context, name string, o storage.CreateOptions) (storage.Upload, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := b.blob.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: !o.Replace})
	if err != nil {
		cancel()
		return nil, b.failed(err)
	}
	return &upload{bucket: b, ctx: ctx, cancel: cancel, name: name, w: w}, nil
}

// upload is an object on its way into a bucket.
type upload struct {
	bucket *bucket
	ctx    context.Context
	cancel context.CancelFunc
	name   string
	w      *blob.Writer
}

func (u *upload) Write(p []byte) (int, error) {
	n, err := u.w.Write(p)
	if err != nil {
		err = u.bucket.failed(err)
	}
	return n, err
}

func (u *upload) Commit() (storage.Object, error) {
	defer u.cancel()
	if err := u.w.Close(); err != nil {
		err = u.bucket.failed(err)
		if errors.Is(err, storage.ErrChanged) { // the condition that there be nothing
			err = fs.ErrExist
		}
		return storage.Object{}, err
	}
	return u.bucket.Stat(u.ctx, u.name)
}

func (u *upload) Abort() {
	u.cancel()
	u.w.Close() // fails, as it should: the context is done
}
