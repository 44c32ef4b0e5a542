package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// bucket is a storage.Store through gocloud.dev/blob, with what that leaves to
// each cloud.
type bucket struct {
	blob *blob.Bucket
	url  string // such as s3://bucket
	// server is where the bucket is, in as far as the URL leaves it open: another server, or an
	// account.
	server string
	// version returns the identifier of an object's contents. Default: its ETag.
	version func(*blob.Attributes) string
	// versionRead returns the version of an object that is being read, versionListed of a list
	// entry.
	versionRead   func(*blob.Reader) string
	versionListed func(*blob.ListObject) string
	// sum returns the checksum of the object, if all is set, or range that r reads. Default: none.
	sum func(r *blob.Reader, all bool) storage.Sum
	// sumStated returns the checksum of all of an object. Default: none.
	sumStated func(*blob.Attributes) storage.Sum
	// only has a reader read that version or nothing. Default: any is read.
	only func(version string, as func(any) bool) error
	// status returns the HTTP status that an error stems from, or 0.
	status func(error) int
	// code returns the store's error code, or "".
	code func(error) string
	// sender returns the sender of an object to the store.
	sender func(target) storage.Sender
	// once disables the client's retries, since package storage retries. Default: the client has
	// none.
	once func(context.Context) context.Context
	// atOnce is the number of parts of an object to send at a time.
	atOnce int
}

// Server distinguishes objects of the same URL on different servers.
func (b *bucket) Server() string { return b.server }

// pageSize is the number of objects that a request lists.
const pageSize = 1000

func (b *bucket) List(ctx context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	o := &blob.ListOptions{Prefix: prefix}
	if !deep {
		o.Delimiter = "/"
	}
	return func(yield func(storage.Object, error) bool) {
		token, list := blob.FirstPageToken, new(listing)
		for len(token) > 0 {
			page, err := storage.Retry(ctx, func(ctx context.Context) ([]*blob.ListObject, error) {
				page, next, err := b.blob.ListPage(list.begin(b.asked(ctx)), token, pageSize, o)
				if err != nil {
					return nil, b.failed(err)
				}
				if err := list.got(page); err != nil {
					return nil, err
				}
				token = next
				return page, nil
			})
			if err != nil {
				yield(storage.Object{}, err)
				return
			}
			for _, o := range page {
				is := storage.Object{Name: o.Key, Size: o.Size, ModTime: o.ModTime}
				if !o.IsDir {
					is.Version = versionOr(b.versionListed(o), o.ModTime, o.Size)
				}
				if !yield(is, nil) {
					return
				}
			}
		}
	}
}

// asked returns the context for requests.
func (b *bucket) asked(ctx context.Context) context.Context {
	if b.once == nil {
		return ctx
	}
	return b.once(ctx)
}

func (b *bucket) Stat(ctx context.Context, name string) (storage.Object, error) {
	a, err := b.blob.Attributes(b.asked(ctx), name)
	if err != nil {
		return storage.Object{}, b.failed(err)
	}
	return b.object(name, a), nil
}

func (b *bucket) object(name string, a *blob.Attributes) storage.Object {
	o := storage.Object{Name: name, Size: a.Size, ModTime: a.ModTime, Version: a.ETag}
	if b.version != nil {
		o.Version = b.version(a)
	}
	o.Version = versionOr(o.Version, a.ModTime, a.Size)
	if b.sumStated != nil {
		o.Sum = b.sumStated(a)
	}
	return o
}

// versionOr returns the version of an object, or a substitute if the store has none. Times are in
// seconds: some stores have fractions of them in lists, and none in response headers.
func versionOr(version string, t time.Time, size int64) string {
	if version != "" {
		return version
	}
	return fmt.Sprintf("%s%s, %d bytes", storage.Modified, t.UTC().Format(time.RFC3339), size)
}

// quoted is an ETag as in response headers. Some lists omit the quotes.
func quoted(tag string) string {
	if tag == "" || strings.HasSuffix(tag, `"`) {
		return tag
	}
	return `"` + tag + `"`
}

func (b *bucket) Open(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, storage.Object, error) {
	var o blob.ReaderOptions
	byTime := strings.HasPrefix(version, storage.Modified)
	if version != "" && !byTime && b.only != nil {
		o.BeforeRead = func(as func(any) bool) error { return b.only(version, as) }
	}
	r, err := b.blob.NewRangeReader(b.asked(ctx), name, offset, length, &o)
	if err != nil {
		err = b.failed(err)
		if o.BeforeRead != nil && errors.Is(err, fs.ErrNotExist) && b.replaced(ctx, name, version) {
			err = storage.ErrChanged
		}
		return nil, storage.Object{}, err
	}
	is := storage.Object{Name: name, Size: r.Size(), ModTime: r.ModTime(), Version: b.versionRead(r)}
	is.Version = versionOr(is.Version, is.ModTime, is.Size)
	if byTime && is.Version != version {
		r.Close() // nothing of it was wanted
		return nil, storage.Object{}, storage.ErrChanged
	}
	if b.sum != nil {
		is.Sum = b.sum(r, offset == 0 && length >= is.Size)
	}
	return body{r, b}, is, nil
}

// replaced reports whether there is an object of that name, and of another
// version: some stores say of an old version just that it is not there.
func (b *bucket) replaced(ctx context.Context, name, version string) bool {
	o, err := b.Stat(ctx, name)
	return err == nil && o.Version != version
}

// body is the body of a response with an object.
type body struct {
	*blob.Reader
	bucket *bucket
}

func (r body) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = r.bucket.failed(err)
	}
	return n, err
}

// failed converts err for package storage: classified and without secrets.
func (b *bucket) failed(err error) error {
	if bad := (*strangeError)(nil); errors.As(err, &bad) {
		return errors.New(scrub(bad.Error())) // without the context that the libraries add
	}
	if errors.Is(err, errReturns) {
		return errReturns
	}
	kind := error(nil)
	switch code := gcerrors.Code(err); code {
	case gcerrors.NotFound:
		kind = fs.ErrNotExist
	case gcerrors.PermissionDenied:
		kind = fs.ErrPermission
	case gcerrors.FailedPrecondition:
		kind = storage.ErrChanged
	case gcerrors.Canceled:
		kind = context.Canceled
	}
	if kind == nil || kind == fs.ErrNotExist {
		switch status := b.status(err); {
		case status == http.StatusMovedPermanently:
			return &answer{"the bucket is in another region: say which in AWS_REGION", errors.ErrUnsupported}
		case status == http.StatusNotFound:
			kind = fs.ErrNotExist
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
			kind = storage.ErrBusy
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			kind = fs.ErrPermission // one library reports "not found"
		case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
			kind = errors.ErrUnsupported // a retry does not help
		}
	}
	text := scrub(err.Error())
	switch {
	case kind == nil:
		return errors.New(text)
	case kind == fs.ErrNotExist || kind == storage.ErrChanged || kind == context.Canceled:
		return kind // the rest is the library's and the server's way to say it
	}
	return &answer{text, kind}
}

// answer is an error of a server's, of a kind.
type answer struct {
	text string
	kind error
}

func (a *answer) Error() string {
	if a.kind == fs.ErrPermission {
		return fmt.Sprintf("permission denied (check the credentials, and that they are for this bucket): %s", a.text)
	}
	return a.text
}

func (a *answer) Unwrap() error { return a.kind }

// secrets are the credentials in URLs and headers.
var secrets = regexp.MustCompile(`(?i)((?:x-amz-(?:signature|credential|security-token)|sig|signature|access_token|upload_id|accountkey|authorization)["']?\s*[=:]\s*["']?(?:bearer |aws4-hmac-sha256 )?)[^\s&;"',]+`)

// scrub takes secrets, and line breaks, out of a text.
func scrub(text string) string {
	return strings.Join(strings.Fields(secrets.ReplaceAllString(text, "${1}...")), " ")
}
