package walk

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/webdataset"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/archive"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// archiveWalker lists the images of archives.
type archiveWalker struct {
	walker
	origin *origin.Archives
	others *webdataset.Samples
	texts  *archiveTexts
	seen   map[string]bool       // directories
	looked map[string]*extension // of members without an image's
	looks  int                   // members of Seekable archives looked into
}

// extension counts the members of an extension.
type extension struct {
	members int
	images  bool // one of those looked into is an image
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
	a := &archiveWalker{walker: walker{o: o, ctx: ctx}, origin: &origin.Archives{Src: src.At}, seen: map[string]bool{}, looked: map[string]*extension{}}
	a.Origin, a.others = a.origin, webdataset.New(o, a.origin)
	a.texts = &archiveTexts{origin: a.origin, kept: map[string][]byte{}}
	a.Files = a.texts
	for _, at := range src.Archives {
		in, err := archive.Open(ctx, at, o.TrustTimes)
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
	if samples := a.others; samples.Is(a.Images) {
		a.group()
		clear(a.texts.kept) // lists state no splits of samples
		a.explainOthers()
		return &a.Found, samples, nil
	}
	a.explainOthers()
	return &a.Found, nil, nil
}

// explainOthers adds the members to the account that are not images and not used otherwise.
func (a *archiveWalker) explainOthers() {
	for key, image := range a.others.Unused() {
		a.explainMember(key, image)
	}
	a.explainBeside()
}

// explainMember adds a member without an image's extension to the account. It may be an image, or state
// splits, and is then left to the listing.
func (a *archiveWalker) explainMember(key string, image bool) {
	switch {
	case a.texts.kept[key] != nil:
		a.Stating = append(a.Stating, StatingFile{Path: key})
	case !image:
		a.explainByName(key)
	case a.o.Select.Wants(key):
		a.explain(account.ByContent, key)
	}
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
		a.explainByName(m.Name)
		return nil
	case err != nil:
		return a.add(m, m.Name, "the member's name is refused: "+err.Error())
	case imagetree.HiddenPath(key):
		a.leaveHidden(key)
		return nil
	}
	a.addDirectories(key)
	image := imagetree.IsImage(key)
	unusable := unusableMember(m)
	if !image {
		if unusable == "" && a.mayState(key) {
			err = a.texts.keep(m, key)
		} else {
			image, err = a.isImage(m, key, unusable)
		}
		if err != nil {
			return err
		}
		if !image || !a.o.Select.ByContent {
			return a.leave(m, key, unusable, image)
		}
	}
	if !a.wanted(key) {
		a.leaveOut(account.Excluded, key)
		return nil
	}
	return a.add(m, key, unusable)
}

// leave counts a member that does not have the name of an image. It may be part of a sample.
func (a *archiveWalker) leave(m *archive.Member, key, unusable string, image bool) error {
	a.Skipped++
	if a.o.ArchiveFormat == options.Files {
		a.explainMember(key, image)
		return nil
	}
	later, err := a.others.Add(m, key, unusable, image)
	if err != nil {
		return err
	}
	return a.keep(m, later)
}

// isImage reports whether a member without an image's extension begins like an image, as far as
// members are looked into.
func (a *archiveWalker) isImage(m *archive.Member, key, unusable string) (bool, error) {
	if unusable != "" || !a.looksInto(key) {
		return false, nil
	}
	head := make([]byte, headSize)
	n, err := m.Head(head)
	if in := a.origin.Archives[len(a.origin.Archives)-1]; err != nil && (a.o.Select.ByContent || !in.Seekable()) {
		return false, err
	}
	image := beginsImage(head[:n])
	if e := a.looked[strings.ToLower(path.Ext(key))]; e != nil && image {
		e.images = true
	}
	return image, a.ctx.Err()
}

// looksInto reports whether to look into a member without an image's extension: all with
// SelectSpec.ByContent, and those that may be images of compressed archives, which pass anyway. Of
// other archives it takes the first ones of an extension, then ever fewer, but all once one of them
// is an image.
func (a *archiveWalker) looksInto(key string) bool {
	if a.o.Select.ByContent {
		return true
	}
	if !perhapsImage(key) {
		return false
	}
	in := a.origin.Archives[len(a.origin.Archives)-1]
	if !in.Seekable() {
		return true
	}
	of := strings.ToLower(path.Ext(key))
	e := a.looked[of]
	if e == nil {
		e = new(extension)
		a.looked[of] = e
	}
	e.members++
	first, most := looks, mostLooks
	if in.Remote() {
		first, most = looksRemote, mostLooksRemote
	}
	if a.looks == most || e.members > first && bits.OnesCount(uint(e.members)) > 1 && !e.images {
		return false
	}
	a.looks++
	return true
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
	a.Skipped += repeated
	for _, key := range a.others.DropRepeated() {
		repeated++
		a.Account.Add(account.Repeated, key)
	}
	if repeated > 0 {
		a.o.Notef("%s with the name of an earlier one skipped", plural.Of(repeated, "member"))
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
		a.o.Notef("%s in no sample of the WebDataset skipped, as no member is named like the sample with the extension of an image: such as %s (%s %s takes all images)",
			plural.Of(len(left), "image"), jsontext.Readable(left[0]), optname.ImageOptionsArchiveFormat, options.Files)
	}
}
