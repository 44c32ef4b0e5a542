package listing

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/archive"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/labels"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
)

// otherMember is a listed member that is not an image, or why it cannot be read.
type otherMember struct {
	path   string
	item   int32
	stage  string // of the reason
	reason string
}

const (
	classExt = "cls"
	jsonExt  = "json"
	// maxClassText is the maximum size of a .cls member in bytes, and maxJSON of a .json member
	// that has features.
	maxClassText = 64
	maxJSON      = 1 << 20
)

// cutSample divides a member's name into the key of its sample and its extension, in lower case:
// "" without one.
func cutSample(name string) (key, ext string) {
	base := path.Base(name)
	i := strings.IndexByte(base, '.')
	if i < 0 {
		return name, ""
	}
	return name[:len(name)-len(base)+i], strings.ToLower(base[i+1:])
}

// cutLast is cutSample at the last dot.
func cutLast(name string) (key, ext string) {
	ext = path.Ext(name)
	return strings.TrimSuffix(name, ext), strings.ToLower(strings.TrimPrefix(ext, "."))
}

// sampleGroup is one sample of a WebDataset: indexes of images, and of others.
type sampleGroup struct {
	images, others []int
	cut            func(name string) (key, ext string)
}

// isWebDataset reports whether the listed archives are WebDatasets.
func (a *archiveWalker) isWebDataset() bool {
	switch {
	case a.o.ArchiveFormat == options.Files, a.o.Annotations.HasObjects(): // whose files may look like a sample's
		return false
	case a.o.ArchiveFormat == options.WebDataset:
		return true
	}
	beside := map[string]bool{}
	for _, m := range a.others {
		for _, cut := range []func(string) (string, string){cutSample, cutLast} {
			if key, ext := cut(m.path); ext == classExt || ext == jsonExt {
				beside[key] = true
			}
		}
	}
	return slices.ContainsFunc(a.images, func(p origin.Image) bool {
		first, _ := cutSample(p.Path)
		last, _ := cutLast(p.Path)
		return beside[first] || beside[last]
	})
}

// groupSamples replaces the images by samples: each keeps one image, and its other members become
// parts of it. Members of samples without an image count as skipped files.
func (a *archiveWalker) groupSamples() {
	all := &sampleGroup{images: make([]int, len(a.images)), others: make([]int, len(a.others))}
	for i := range all.images {
		all.images[i] = i
	}
	for i := range all.others {
		all.others[i] = i
	}
	a.origin.PartsOf = map[int32][]origin.Part{}
	var samples []origin.Image
	var left []string
	add := func(g *sampleGroup) bool {
		chosen := a.chooseImage(g)
		if chosen >= 0 {
			samples = append(samples, a.sample(g, chosen))
		}
		return chosen >= 0
	}
	for _, g := range a.groups(all, cutSample) {
		if len(g.images) == 0 || add(g) {
			continue
		}
		// Dots in the key, as in 22.05.png: at the last one, images have members beside them.
		inner := a.groups(g, cutLast)
		if slices.ContainsFunc(inner, func(g *sampleGroup) bool { return len(g.images) > 0 && len(g.others) == 0 }) {
			for _, i := range g.images {
				left = append(left, a.images[i].Path)
			}
			continue
		}
		for _, g := range inner {
			add(g)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		a.skipped += int64(len(left)) // others are counted already
		for _, image := range left {
			a.account.Add(account.NoSample, image)
		}
		a.o.Notef("%s in no sample of the WebDataset left alone, as no member is named like the sample with the extension of an image: such as %s (%s %s takes all images)",
			plural.Of(len(left), "image"), jsontext.Readable(left[0]), optname.ImageOptionsArchiveFormat, options.Files)
	}
	slices.SortFunc(samples, func(p, q origin.Image) int { return strings.Compare(p.Path, q.Path) })
	a.images = samples
}

// groups divides members by the keys of their samples.
func (a *archiveWalker) groups(of *sampleGroup, cut func(name string) (key, ext string)) (groups []*sampleGroup) {
	type sampleKey struct {
		archive int32
		key     string
	}
	byKey := map[sampleKey]*sampleGroup{}
	groupOf := func(name string, item int32) *sampleGroup {
		key, _ := cut(name)
		k := sampleKey{a.origin.Members[item].Archive, key}
		if byKey[k] == nil {
			byKey[k] = &sampleGroup{cut: cut}
			groups = append(groups, byKey[k])
		}
		return byKey[k]
	}
	for _, i := range of.images {
		g := groupOf(a.images[i].Path, a.images[i].Item)
		g.images = append(g.images, i)
	}
	for _, i := range of.others {
		g := groupOf(a.others[i].path, a.others[i].item)
		g.others = append(g.others, i)
	}
	return groups
}

// chooseImage returns the image of a sample: of those whose whole extension is an image's, the
// first in the order of imagetree.Extensions; -1 if there is none.
func (a *archiveWalker) chooseImage(g *sampleGroup) int {
	for _, want := range imagetree.Extensions {
		for _, i := range g.images {
			if _, ext := g.cut(a.images[i].Path); "."+ext == want {
				return i
			}
		}
	}
	return -1
}

// sample makes one image of a group.
func (a *archiveWalker) sample(g *sampleGroup, chosen int) origin.Image {
	p := a.images[chosen]
	bad := func(stage, format string, args ...any) {
		if p.Bad() == nil {
			in := a.origin.Archives[a.origin.Members[p.Item].Archive]
			p.AddExtra().Bad = &setdir.BadSample{
				Key: jsontext.Readable(p.Path), Source: storage.Base(in.Path()), Stage: stage,
				Reason: fmt.Sprintf(format, args...),
			}
		}
	}
	label := false
	var parts []origin.Part
	add := func(name string, item int32, stage, reason string) {
		_, ext := g.cut(name)
		switch {
		case reason != "":
			bad(stage, "%s: %s", jsontext.Readable(name), reason)
		case ext == classExt && a.labelled():
			_, id, ok := labels.Integer(strings.TrimSpace(a.classes[item]))
			if label = true; ok {
				p.Label = a.labels.label(strconv.FormatInt(id, 10))
			} else {
				bad("parse", "%s: %q is not an integer", jsontext.Readable(name), jsontext.Readable(a.classes[item]))
			}
		case ext == jsonExt && a.json != nil:
			a.json.beside[p.Item] = item
		case ext == "":
			return
		default:
			parts = append(parts, origin.Part{Key: ext, Item: item})
			p.Size += a.origin.Members[item].Position.Size()
		}
		a.skipped--
	}
	for _, i := range g.others {
		add(a.others[i].path, a.others[i].item, a.others[i].stage, a.others[i].reason)
	}
	for _, i := range g.images {
		if i != chosen {
			a.skipped++
			reason := ""
			if b := a.images[i].Bad(); b != nil {
				reason = b.Reason
			}
			add(a.images[i].Path, a.images[i].Item, "read", reason)
		}
	}
	if p.Size > archive.MaxMember {
		bad("read", "the members of the sample are larger than %d bytes together", archive.MaxMember)
	}
	if a.labelled() && !label {
		bad("read", "the sample has no .cls member, so it has no label")
	}
	a.someLabel = a.someLabel || label
	slices.SortFunc(parts, func(x, y origin.Part) int { return strings.Compare(x.Key, y.Key) })
	for i := range parts {
		if i > 0 && parts[i].Key == parts[i-1].Key {
			bad("read", "the sample has two members .%s", parts[i].Key)
		}
	}
	if len(parts) > 0 && p.Bad() == nil {
		a.origin.PartsOf[p.Item] = parts
	}
	return p
}

// labelled reports whether .cls members are labels.
func (a *archiveWalker) labelled() bool { return !a.o.Labels.None && a.o.Labels.File == "" }

// keepSplits keeps the splits that the names of all archives state.
func (a *archiveWalker) keepSplits(l *Listing) error {
	var paths []string
	for _, in := range a.origin.Archives {
		paths = append(paths, in.Path())
	}
	return l.splitsFromFiles(a.o, paths, func(p *origin.Image) int { return int(a.origin.Members[p.Item].Archive) })
}

// finish adds the labels and features of samples to the listing.
func (a *archiveWalker) finish(l *Listing) error {
	switch {
	case !a.labelled():
		if err := l.number(a.ctx, a.o, nil); err != nil {
			return err
		}
	case !a.someLabel:
		return fmt.Errorf("no sample has a .cls member, so none has a label: label the images with %s, or give %s", optname.LabelSpecFile, optname.LabelSpecNone)
	default:
		l.Labels = a.labels.names
		if err := l.number(a.ctx, a.o, nil); err != nil {
			return err
		}
	}
	if a.json != nil {
		if err := a.json.fill(l); err != nil {
			return err
		}
	}
	return l.describeParts(a.o, a.origin.PartsOf)
}

// describeParts describes the features that parts become, and refuses one that the image has.
func (l *Listing) describeParts(o *options.ImageOptions, parts map[int32][]origin.Part) error {
	counts, samples := map[string]int{}, 0
	for i := range l.Images {
		if l.Images[i].Bad() == nil {
			samples++
			for _, part := range parts[l.Images[i].Item] {
				counts[part.Key]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		taken := slices.ContainsFunc(imagekey.All, func(name string) bool { return o.Key(name) == key })
		if taken || slices.ContainsFunc(l.Features, func(f manifest.Feature) bool { return f.Key == key }) {
			return fmt.Errorf("members .%s become the feature %q, which another feature is called: give that another name", key, key)
		}
		l.Features = append(l.Features, manifest.Feature{Key: key, Kind: string(tables.TypeBytes), Class: manifest.ClassText, Optional: counts[key] < samples})
	}
	return nil
}
