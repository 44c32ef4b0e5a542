package listing

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
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/archive"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// archiveWalker lists the images of archives, with the rules and counts of a walker.
type archiveWalker struct {
	*walker
	origin *origin.Archives
	seen   map[string]bool // directories

	// For WebDatasets alone; unused with ArchiveFormat Files.
	others    []otherMember
	classes   map[int32]string // contents of .cls members by item
	json      *jsonFeatures    // nil without ImageOptions.Features
	someLabel bool             // a sample has one
	labels    labelNumbers     // integers
}

// listArchives lists the images of archives.
func (w *walker) listArchives(src origin.Place) (*archiveWalker, error) {
	if w.o.Select.FollowSymlinks {
		return nil, plan.OptionErrorf(optname.SelectSpecFollowSymlinks, "is for directories: links in archives are not followed")
	}
	var a *archiveWalker
	before := *w
	err := storage.Reread(w.ctx, src.At.Path(), func(ctx context.Context) (err error) {
		*w = before
		w.ctx = ctx
		a, err = w.tryArchives(src)
		return err
	})
	w.ctx = before.ctx
	return a, err
}

// tryArchives is listArchives, once.
func (w *walker) tryArchives(src origin.Place) (*archiveWalker, error) {
	a := &archiveWalker{walker: w, origin: &origin.Archives{Src: src.At}, seen: map[string]bool{}, classes: map[int32]string{}}
	if w.o.Labels.File == "" && len(w.o.Features) > 0 {
		a.json = newJSONFeatures(w.o.Features)
	}
	for _, path := range src.Archives {
		in, err := archive.Open(w.ctx, path)
		if err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
		a.origin.Archives = append(a.origin.Archives, in)
		a.origin.Versions = append(a.origin.Versions, origin.VersionAs([]byte(origin.VersionOf(in)), origin.Version{}))
		if err := in.Walk(w.ctx, a.visit); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	if err := a.dropRepeated(); err != nil {
		return nil, err
	}
	if a.isWebDataset() {
		a.groupSamples()
	} else {
		for _, m := range a.others {
			a.explain(account.OfFile(m.path), m.path)
		}
	}
	return a, nil
}

// visit lists a member of the last archive.
func (a *archiveWalker) visit(m *archive.Member) error {
	if m.Kind == archive.Directory {
		return nil
	}
	key, err := archive.Key(m.Name)
	switch {
	case err != nil && !imagetree.IsImage(m.Name), err == nil && key == "":
		a.skipped++
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
		if a.o.ArchiveFormat == options.Files {
			a.leaveOut(account.OfFile(key), key)
			return nil
		}
		a.skipped++
		return a.addOther(m, key)
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
		a.directories = append(a.directories, key[:i])
	}
}

// add adds an image, or one that cannot be used for a reason. That of a compressed archive is read,
// since it is passed anyway.
func (a *archiveWalker) add(m *archive.Member, key, reason string) error {
	n := len(a.origin.Archives) - 1
	p := origin.Image{Path: key, Item: int32(len(a.origin.Members)), Size: m.Size, Version: a.origin.Versions[n]}
	if reason != "" {
		p.Size = 0
		p.AddExtra().Bad = &setdir.BadSample{
			Key: jsontext.Readable(key), Source: storage.Base(a.origin.Archives[n].Path()), Stage: "read", Reason: reason,
		}
	}
	a.images = append(a.images, p)
	return a.keep(m, reason == "")
}

// addOther adds a member that is not an image. It reads those that a WebDataset needs for planning.
func (a *archiveWalker) addOther(m *archive.Member, key string) error {
	other := otherMember{path: key, item: int32(len(a.origin.Members)), stage: "read", reason: unusableMember(m)}
	_, ext := cutLast(key)
	most := int64(0)
	switch {
	case other.reason != "":
	case ext == classExt && a.labelled():
		most = maxClassText
	case ext == jsonExt && a.json != nil:
		most = maxJSON
	}
	if m.Size > most && most > 0 {
		other.reason = fmt.Sprintf("the member is larger than %d bytes", most)
	}
	if most == 0 || other.reason != "" {
		a.others = append(a.others, other)
		return a.keep(m, other.reason == "")
	}
	content, err := m.Content()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if ext == classExt {
		a.classes[other.item] = string(text)
	} else if err := a.json.add(other.item, text); err != nil {
		other.stage, other.reason = "parse", err.Error()
	}
	a.others = append(a.others, other)
	return a.keep(m, false) // it need not be read again
}

// keep appends a member to those of the origin. That of a compressed archive is read if it is
// usable, since it is passed anyway.
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
	slices.SortStableFunc(a.images, func(p, q origin.Image) int { return strings.Compare(p.Path, q.Path) })
	archiveOf := func(p *origin.Image) int32 { return a.origin.Members[p.Item].Archive }
	var repeated int64
	kept := a.images[:0]
	for _, p := range a.images {
		if n := len(kept); n == 0 || kept[n-1].Path != p.Path {
			kept = append(kept, p)
			continue
		}
		if first, second := archiveOf(&kept[len(kept)-1]), archiveOf(&p); first != second {
			return fmt.Errorf("%s is in both %s and %s: a name can be in one archive only", jsontext.Readable(p.Path), a.origin.Archives[first].Path(), a.origin.Archives[second].Path())
		}
		repeated++
		a.account.Add(account.Repeated, p.Path)
	}
	a.images = kept
	slices.SortStableFunc(a.others, func(p, q otherMember) int { return strings.Compare(p.path, q.path) })
	a.others = slices.CompactFunc(a.others, func(p, q otherMember) bool {
		return p.path == q.path && a.origin.Members[p.item].Archive == a.origin.Members[q.item].Archive
	})
	a.skipped += repeated
	if repeated > 0 {
		a.o.Notef("%s with the name of an earlier one left alone", plural.Of(repeated, "member"))
	}
	return nil
}
