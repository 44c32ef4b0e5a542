package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Tree is the origin of images that are files of a directory tree: on disk, or in a store.
type Tree struct {
	Root        storage.Location
	Directories []string // those listed, below root
	Follow      bool     // symbolic links
	Lists       []string // files that state splits
}

func (t *Tree) at(p *Image) storage.Location { return t.Root.Join(p.Path) }

func (t *Tree) Remote() bool { return t.Root.Remote() }

func (t *Tree) Place() string { return Absolute(t.Root) }

// Absolute returns an absolute path. A URL is the same on every machine.
func Absolute(at storage.Location) string {
	if at.Remote() {
		return at.String()
	}
	abs, err := filepath.Abs(at.Path())
	if err != nil {
		return at.Path()
	}
	return abs
}

// Below returns where a place is below a directory, "" for the directory itself, if it is in it.
func Below(dir, at storage.Location) (rel string, ok bool) {
	placed := func(at storage.Location) string { return strings.TrimSuffix(filepath.ToSlash(Absolute(at)), "/") }
	rel, ok = strings.CutPrefix(placed(at), placed(dir))
	return strings.TrimPrefix(rel, "/"), ok && (rel == "" || rel[0] == '/')
}

func (t *Tree) Source(p *Image) string { return p.Path }

func (t *Tree) Enter(dir string) string {
	return "convert " + jsontext.Readable(t.Root.Join(dir).Path())
}

func (t *Tree) Files(images []Image) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, list := range t.Lists {
			if !yield(list) {
				return
			}
		}
		for _, directory := range t.Directories {
			if !yield(t.Root.Join(directory).Path()) {
				return
			}
		}
		for i := range images {
			if p := &images[i]; p.Bad() == nil && !yield(t.at(p).Path()) {
				return
			}
		}
	}
}

// Find implements origin: a file without an image's extension is accepted, since a table names it.
func (t *Tree) Find(ctx context.Context, name string) (p *Image, reason string, err error) {
	st, err := t.Root.Join(name).Stat(ctx)
	switch {
	case err == nil && !t.Follow && !t.Remote() && t.linked(name):
		return nil, "reached by a symbolic link, and these are not followed: " + jsontext.Readable(name), nil
	case err != nil && !missing(err):
		return nil, "", err
	case err != nil:
		return nil, "", nil
	case !st.Mode().IsRegular():
		return nil, "not a file: " + jsontext.Readable(name), nil
	}
	version := ChangeVersion(storage.Change(st))
	if o, remote := st.Sys().(storage.Object); remote {
		version = o.Version
	}
	return &Image{Path: name, Size: st.Size(), ModTime: st.ModTime().UnixNano(), Version: VersionAs([]byte(version), Version{})}, "", nil
}

// missing reports whether an error means that a file does not exist, or that its name is not valid.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL)
}

// linked reports whether a path below the root passes through a symbolic link.
func (t *Tree) linked(rel string) bool {
	for dir := rel; dir != "."; dir = path.Dir(dir) {
		st, err := os.Lstat(t.Root.Join(dir).Path())
		if err != nil || st.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

func (t *Tree) Load(context.Context, func() (*os.File, error), iter.Seq[*Image]) error {
	return nil
}

func (t *Tree) Unload() error { return nil }

func (t *Tree) Parts(_ *Image, data []byte) ([]byte, Beside) { return data, Beside{} }

func (t *Tree) Hash(*Image) string { return "" }

func (t *Tree) Read(ctx context.Context, p *Image, buf []byte) ([]byte, setdir.Input, error) {
	if t.Remote() {
		return t.readStored(ctx, p, buf)
	}
	data, st, err := readFile(ctx, t.at(p), buf)
	if err != nil || time.Since(st.ModTime()) <= plan.Settled {
		return data, setdir.Input{}, err
	}
	return data, setdir.Input{Key: setdir.InputKey(p.Path), Size: st.Size(), ModTime: st.ModTime().UnixNano(), Version: ChangeVersion(storage.Change(st))}, nil
}

// readStored reads the listed version of an image of a store.
func (t *Tree) readStored(ctx context.Context, p *Image, buf []byte) ([]byte, setdir.Input, error) {
	if p.Size > MaxStored {
		return nil, setdir.Input{}, ErrSize
	}
	version := p.Version.Text()
	data, err := t.at(p).ReadListed(ctx, storage.Object{Size: p.Size, Version: version}, buf)
	if err != nil || strings.HasPrefix(version, storage.Modified) && time.Since(time.Unix(0, p.ModTime)) <= 2*plan.Settled {
		return data, setdir.Input{}, err // stores report times in whole seconds
	}
	return data, setdir.Input{Key: setdir.InputKey(p.Path), Size: p.Size, ModTime: p.ModTime, Version: version}, nil
}

// readFile reads a file into the capacity of buf or a larger buffer; the size and time it returns
// are from before the read.
func readFile(ctx context.Context, file storage.Location, buf []byte) ([]byte, os.FileInfo, error) {
	f, err := file.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, errors.New("not a file")
	}
	if st.Size() > MaxStored {
		return nil, nil, ErrSize
	}
	n := int(st.Size())
	if cap(buf) <= n {
		buf = make([]byte, n+n/4+512)
	}
	// One extra byte detects a file that grows.
	buf = buf[:n+1]
	got, err := io.ReadFull(f, buf)
	if err != io.ErrUnexpectedEOF && err != io.EOF && err != nil {
		return nil, nil, err
	}
	if got != n {
		return nil, nil, fmt.Errorf("the file changed while it was read: %s, then %d", plural.Of(n, "byte"), got)
	}
	return buf[:n], st, nil
}

// EndsRun implements origin. A listed file that no longer exists, or a dangling link, is a bad
// sample; an object that changed since planning is not.
func (t *Tree) EndsRun(err error) bool {
	if errors.Is(err, ErrSize) {
		return false
	}
	if t.Remote() {
		return true
	}
	var system *fs.PathError
	return errors.As(err, &system) && !LeadsNowhere(err)
}

// LeadsNowhere reports whether a path does not exist.
func LeadsNowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
