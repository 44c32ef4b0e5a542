package cloud

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"unicode/utf8"

	"gocloud.dev/blob"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// target is an object that is to be made.
type target struct {
	name    string
	replace bool
	// mark is unique to the upload and stored in the object's metadata, so that an upload whose
	// response was lost can recognise its own object.
	mark string
}

// markName names the mark among an object's metadata.
const markName = "tfrecupload"

// contentType is the content type of all objects.
const contentType = "application/octet-stream"

// Create implements storage.Store.
func (b *bucket) Create(ctx context.Context, name string, o storage.CreateOptions) (storage.Upload, error) {
	url := b.url + "/" + name
	if name == "" || !utf8.ValidString(name) {
		return nil, &fs.PathError{Op: "write", Path: url, Err: errors.New("names of objects are of UTF-8, and not empty")}
	}
	mark := make([]byte, 16)
	rand.Read(mark)
	s := b.sender(target{name: name, replace: o.Replace, mark: fmt.Sprintf("%x", mark)})
	return storage.NewUpload(ctx, url, s, b.atOnce), nil
}

// Remove implements storage.Store.
func (b *bucket) Remove(ctx context.Context, name string) error {
	_, err := storage.Retry(ctx, func(ctx context.Context) (struct{}, error) {
		err := b.blob.Delete(b.asked(ctx), name)
		if err != nil {
			err = b.failed(err)
		}
		return struct{}{}, err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove", Path: b.url + "/" + name, Err: err}
	}
	return nil
}

// made returns the object that t became, if it is still there.
func (b *bucket) made(ctx context.Context, t target) (storage.Object, error) {
	a, err := b.blob.Attributes(b.asked(ctx), t.name)
	if err != nil {
		return storage.Object{}, b.failed(err)
	}
	if a.Metadata[markName] != t.mark {
		return storage.Object{}, fs.ErrNotExist
	}
	return b.object(t.name, a), nil
}

// refused is an error of a request that makes t as package storage wants it.
func (b *bucket) refused(err error, t target) error {
	status, code := b.status(err), b.code(err)
	switch {
	case code == "NoSuchUpload" || code == "InvalidBlockList":
		return storage.ErrGone
	case !t.replace && (status == http.StatusPreconditionFailed || code == "BlobAlreadyExists"):
		return fs.ErrExist
	case status == http.StatusNotFound:
		return &answer{fmt.Sprintf("%s does not exist or is not visible: create it, or correct its name (%s)", b.url, scrub(err.Error())), fs.ErrNotExist}
	case status == http.StatusNotImplemented || code == "NotImplemented":
		return &answer{fmt.Sprintf("this server cannot do what writing without overwriting takes (conditional requests such as If-None-Match: *, also for uploads in parts): "+
			"take one, or a version of it, that can (%s)", scrub(err.Error())), errors.ErrUnsupported}
	case slices.Contains(passing, code):
		return errors.New(scrub(err.Error()))
	}
	return b.failed(err)
}

// passing are errors that stores give statuses of those that last.
var passing = []string{
	"ConditionalRequestConflict", "OperationAborted", // another request on the same name is in progress
	"RequestTimeout", "IncompleteBody", // the body came too slowly, or not whole
	"BadDigest", "XAmzContentSHA256Mismatch", "Md5Mismatch", "Crc64Mismatch", // something on the way changed it
}

// memSender carries an object into a store in this process's memory.
type memSender struct {
	target
	store *bucket
	data  []byte
}

func (s *memSender) Put(ctx context.Context, data *storage.Payload) (storage.Object, error) {
	return s.write(ctx, data.Bytes())
}

func (s *memSender) write(ctx context.Context, data []byte) (storage.Object, error) {
	err := s.store.blob.WriteAll(ctx, s.name, data, &blob.WriterOptions{
		ContentType: contentType, IfNotExist: !s.replace, Metadata: map[string]string{markName: s.mark},
	})
	if err != nil {
		if err = s.store.failed(err); errors.Is(err, storage.ErrChanged) { // the condition that there be nothing
			err = fs.ErrExist
		}
		return storage.Object{}, err
	}
	return s.FindOwn(ctx)
}

func (s *memSender) Begin(context.Context) error { return nil }

func (s *memSender) Part(_ context.Context, _ int, _ int64, data *storage.Payload, _ bool) error {
	s.data = append(s.data, data.Bytes()...)
	return nil
}

func (s *memSender) Finish(ctx context.Context) (storage.Object, error) {
	return s.write(ctx, s.data)
}

func (s *memSender) Discard(context.Context) error { return nil }

func (s *memSender) FindOwn(ctx context.Context) (storage.Object, error) {
	return s.store.made(ctx, s.target)
}
