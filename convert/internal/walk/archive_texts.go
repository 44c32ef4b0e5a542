package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation/splitlists"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/store/archive"
)

// archiveTexts has the members of archives that are not images. It implements splitlists.Files.
type archiveTexts struct {
	origin *origin.Archives
	kept   map[string][]byte // contents of members that may state splits
	size   int64             // of kept
	all    map[string]text   // by key; nil until one that is not kept is read
}

// text is where a member is.
type text struct {
	in       *archive.Archive
	position archive.Position
}

// keep keeps the content of a member that may state splits. If an archive has several members of
// one name, the first counts; members of one name in several archives must be equal.
func (a *archiveTexts) keep(m *archive.Member, key string) error {
	if a.size += m.Size; a.size > splitlists.MaxList {
		return fmt.Errorf("%s: it and other lists of splits have more than %d bytes", a.Path(key), splitlists.MaxList)
	}
	content, err := m.Content()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	before, ok := a.kept[key]
	switch {
	case !ok:
		a.kept[key] = append([]byte{}, data...)
	case len(a.origin.Archives) > 1 && !bytes.Equal(before, data):
		return fmt.Errorf("%s is in two archives, and differs: leave one out, or convert the archives one by one", jsontext.Readable(key))
	}
	return nil
}

func (a *archiveTexts) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	data, ok := a.kept[name]
	if !ok {
		var err error
		if data, err = a.find(ctx, name, limit); err != nil {
			return nil, err
		}
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: it has more than %d bytes", a.Path(name), limit)
	}
	return data, nil
}

func (a *archiveTexts) Path(name string) string {
	return fmt.Sprintf("%s in %s", jsontext.Readable(name), a.origin.Src.Path())
}

// find reads a member that is not kept.
func (a *archiveTexts) find(ctx context.Context, name string, limit int64) (data []byte, err error) {
	if a.all == nil {
		if err := a.list(ctx); err != nil {
			return nil, err
		}
	}
	at, ok := a.all[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "read", Path: a.Path(name), Err: fs.ErrNotExist}
	case at.position.Size() > limit:
		return nil, fmt.Errorf("%s: it has more than %d bytes", a.Path(name), limit)
	case at.in.Seekable():
		return at.in.Read(ctx, at.position, nil)
	}
	errFound := errors.New("found")
	err = at.in.Walk(ctx, func(m *archive.Member) error {
		if m.Position != at.position || m.Kind != archive.File {
			return nil
		}
		content, err := m.Content()
		if err != nil {
			return err
		}
		if data, err = io.ReadAll(content); err != nil {
			return err
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		return data, nil
	}
	if err == nil {
		err = fmt.Errorf("%s: the archive changed while it was read", at.in.Path())
	}
	return nil, err
}

// list finds all members that can be read and are not images.
func (a *archiveTexts) list(ctx context.Context) error {
	a.all = map[string]text{}
	for _, in := range a.origin.Archives {
		err := in.Walk(ctx, func(m *archive.Member) error {
			key, err := archive.Key(m.Name)
			if _, ok := a.all[key]; !ok && err == nil && m.Kind == archive.File && unusableMember(m) == "" && !imagetree.IsImage(key) {
				a.all[key] = text{in, m.Position}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
