package walk

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/webdataset"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/archive"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// archiveWalker lists the images of archives.
type archiveWalker struct {
	walker
	origin *origin.Archives
	others *webdataset.Samples
	texts  *archiveTexts
	seen   map[string]bool // directories
}

// Archives finds the images of archives. The samples are nil unless the archives are WebDatasets.
func Archives(ctx context.Context, o *options.ImageOptions, src origin.Place) (found *Found, samples *webdataset.Samples, err error) {
	if o.Select.FollowSymlinks {
		return nil, nil, plan.OptionErrorf(optname.SelectSpecFollowSymlinks, "is for directories: links in archives are not followed")
	}
	err = storage.Reread(ctx, src.At.Path(), func(ctx context.Context) (err error) {
		found, samples, err = tryArchives(ctx, o, src)
		return err
	})
	return found, samples, err
}

// tryArchives is Archives, once.
func tryArchives(ctx context.Context, o *options.ImageOptions, src origin.Place) (*Found, *webdataset.Samples, error) {
	a := &archiveWalker{walker: walker{o: o, ctx: ctx}, origin: &origin.Archives{Src: src.At}, seen: map[string]bool{}}
	a.Origin, a.others = a.origin, webdataset.New(o, a.origin)
	a.texts = &archiveTexts{origin: a.origin, kept: map[string][]byte{}}
	a.Files = a.texts
	for _, path := range src.Archives {
		in, err := archive.Open(ctx, path)
		if err != nil {
			return nil, nil, fmt.Errorf("source: %w", err)
		}
		a.origin.Archives = append(a.origin.Archives, in)
		a.origin.Versions = append(a.origin.Versions, origin.VersionAs([]byte(origin.VersionOf(in)), origin.Version{}))
		if err := in.Walk(ctx, a.visit); err != nil {
			return nil, nil, fmt.Errorf("source: %w", err)
		}
	}
	if err := a.dropRepeated(); err != nil {
		return nil, nil, err
	}
	if a.others.Is(a.Images) {
		a.group()
		return &a.Found, a.others, nil
	}
	for path := range a.others.Others() {
		if a.texts.kept[path] != nil {
			a.Stating = append(a.Stating, StatingFile{Path: path})
		} else {
			a.explain(account.OfFile(path), path)
		}
	}
	return &a.Found, nil, nil
}

// visit lists a member of the last archive.
func (a *archiveWalker) visit(m *archive.Member) error {
	if m.Kind == archive.Directory {
		return nil
	}
	key, err := archive.Key(m.Name)
	switch {
	case err != nil && !imagetree.IsImage(m.Name), err == nil && key == "":
		a.Skipped++
		return nil
	case err != nil:
		return a.add(m, m.Name, "the member's name is refused: "+err.Error())
	case imagetree.HiddenPath(key):
		a.leaveHidden(key)
		return nil
	}
	a.addDirectories(key)
	switch {
	case !imagetree.IsImage(key):
		stating := a.mayState(key) && unusableMember(m) == ""
		if stating {
			if err := a.texts.keep(m, key); err != nil {
				return err
			}
		}
		if a.o.ArchiveFormat == options.Files {
			if a.Skipped++; stating {
				a.Stating = append(a.Stating, StatingFile{Path: key})
			} else {
				a.explain(account.OfFile(key), key)
			}
			return nil
		}
		a.Skipped++
		later, err := a.others.Add(m, key, unusableMember(m))
		if err != nil {
			return err
		}
		return a.keep(m, later)
	case !a.wanted(key):
		a.leaveOut(account.Excluded, key)
		return nil
	}
	return a.add(m, key, unusableMember(m))
}

// unusableMember returns the reason why a member cannot be used; empty if it can.
func unusableMember(m *archive.Member) string {
	switch {
	case m.Kind == archive.Link:
		return "the member is a link: write the file itself into the archive"
	case m.Kind != archive.File:
		return "the member is not a file"
	case m.Fault != "":
		return "the member cannot be read: " + m.Fault
	case m.Size > archive.MaxMember:
		return fmt.Sprintf("the member is larger than %d bytes", archive.MaxMember)
	}
	return ""
}

// addDirectories adds the directories of a key that are new.
func (a *archiveWalker) addDirectories(key string) {
	for i := strings.LastIndexByte(key, '/'); i >= 0 && !a.seen[key[:i]]; i = strings.LastIndexByte(key[:i], '/') {
		a.seen[key[:i]] = true
		a.Directories = append(a.Directories, key[:i])
	}
}

// add adds an image. A reason, if not empty, is why it cannot be used.
func (a *archiveWalker) add(m *archive.Member, key, reason string) error {
	n := len(a.origin.Archives) - 1
	p := origin.Image{Path: key, Item: int32(len(a.origin.Members)), Size: m.Size, Version: a.origin.Versions[n]}
	if reason != "" {
		p.Size = 0
		p.AddExtra().Bad = &setdir.BadSample{
			Key: jsontext.Readable(key), Source: storage.Base(a.origin.Archives[n].Path()), Stage: "read", Reason: reason,
		}
	}
	a.Images = append(a.Images, p)
	return a.keep(m, reason == "")
}

// keep appends a member to the origin. In a compressed archive a usable member is read for its hash,
// since the reader passes it anyway.
func (a *archiveWalker) keep(m *archive.Member, usable bool) error {
	n := len(a.origin.Archives) - 1
	kept := origin.Member{Archive: int32(n), Position: m.Position}
	if usable && !a.origin.Archives[n].Seekable() {
		content, err := m.Content()
		if err != nil {
			return err
		}
		h := xxh3.New()
		if _, err := io.Copy(h, content); err != nil {
			return err
		}
		kept.Hash = h.Sum128().Bytes()
	}
	a.origin.Members = append(a.origin.Members, kept)
	return nil
}

// dropRepeated keeps the first of several members of one name in an archive, as tar's listing and
// append order has it; in two archives it is an error.
func (a *archiveWalker) dropRepeated() error {
	slices.SortStableFunc(a.Images, func(p, q origin.Image) int { return strings.Compare(p.Path, q.Path) })
	archiveOf := func(p *origin.Image) int32 { return a.origin.Members[p.Item].Archive }
	var repeated int64
	kept := a.Images[:0]
	for _, p := range a.Images {
		if n := len(kept); n == 0 || kept[n-1].Path != p.Path {
			kept = append(kept, p)
			continue
		}
		if first, second := archiveOf(&kept[len(kept)-1]), archiveOf(&p); first != second {
			return fmt.Errorf("%s is in both %s and %s: a name can be in one archive only", jsontext.Readable(p.Path), a.origin.Archives[first].Path(), a.origin.Archives[second].Path())
		}
		repeated++
		a.Account.Add(account.Repeated, p.Path)
	}
	a.Images = kept
	a.others.Unique()
	a.Skipped += repeated
	if repeated > 0 {
		a.o.Notef("%s with the name of an earlier one left alone", plural.Of(repeated, "member"))
	}
	return nil
}

// group replaces the images by the samples of a WebDataset.
func (a *archiveWalker) group() {
	samples, left, used := a.others.Group(a.Images)
	a.Images = samples
	a.Skipped += int64(len(left)) - used // the other members are counted
	for _, image := range left {
		a.Account.Add(account.NoSample, image)
	}
	if len(left) > 0 {
		a.o.Notef("%s in no sample of the WebDataset left alone, as no member is named like the sample with the extension of an image: such as %s (%s %s takes all images)",
			plural.Of(len(left), "image"), jsontext.Readable(left[0]), optname.ImageOptionsArchiveFormat, options.Files)
	}
}
