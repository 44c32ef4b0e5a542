package webdataset

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/archive"
	"github.com/tfrec/tfrec/internal/store/storage"
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

// group is one sample of a WebDataset: indexes of images, and of others.
type group struct {
	images, others []int
	cut            func(name string) (key, ext string)
}

// Group groups images with the other members into samples, sorted by path: each keeps one image, and
// its other members become parts of it. It returns the images in no sample, sorted, and the number of
// other members that are in one.
func (s *Samples) Group(images []origin.Image) (samples []origin.Image, left []string, used int64) {
	all := &group{images: make([]int, len(images)), others: make([]int, len(s.others))}
	for i := range all.images {
		all.images[i] = i
	}
	for i := range all.others {
		all.others[i] = i
	}
	s.origin.PartsOf = map[int32][]origin.Part{}
	add := func(g *group) bool {
		chosen := g.choose(images)
		if chosen >= 0 {
			p, n, unused := s.sample(images, g, chosen)
			samples, left, used = append(samples, p), append(left, unused...), used+n
		}
		return chosen >= 0
	}
	for _, g := range s.groups(images, all, cutSample) {
		if len(g.images) == 0 || add(g) {
			continue
		}
		// The key has dots, as in 22.05.png: cut at the last dot, images have other members.
		inner := s.groups(images, g, cutLast)
		if slices.ContainsFunc(inner, func(g *group) bool { return len(g.images) > 0 && len(g.others) == 0 }) {
			for _, i := range g.images {
				left = append(left, images[i].Path)
			}
			continue
		}
		for _, g := range inner {
			add(g)
		}
	}
	slices.Sort(left)
	slices.SortFunc(samples, func(p, q origin.Image) int { return strings.Compare(p.Path, q.Path) })
	return samples, left, used
}

// groups divides members by the keys of their samples.
func (s *Samples) groups(images []origin.Image, of *group, cut func(name string) (key, ext string)) (groups []*group) {
	type sampleKey struct {
		archive int32
		key     string
	}
	byKey := map[sampleKey]*group{}
	groupOf := func(name string, item int32) *group {
		key, _ := cut(name)
		k := sampleKey{s.origin.Members[item].Archive, key}
		if byKey[k] == nil {
			byKey[k] = &group{cut: cut}
			groups = append(groups, byKey[k])
		}
		return byKey[k]
	}
	for _, i := range of.images {
		g := groupOf(images[i].Path, images[i].Item)
		g.images = append(g.images, i)
	}
	for _, i := range of.others {
		g := groupOf(s.others[i].path, s.others[i].item)
		g.others = append(g.others, i)
	}
	return groups
}

// choose returns the image of a sample: of those whose whole extension is an image's, the first in the
// order of imagetree.Extensions, or else the first that is one by its content; -1 if there is none.
func (g *group) choose(images []origin.Image) int {
	for _, want := range imagetree.Extensions {
		for _, i := range g.images {
			if _, ext := g.cut(images[i].Path); "."+ext == want {
				return i
			}
		}
	}
	for _, i := range g.images {
		if !imagetree.IsImage(images[i].Path) {
			return i
		}
	}
	return -1
}

// sample makes one image of a group. It returns how many of the other members are used, and the
// images that are not.
func (s *Samples) sample(images []origin.Image, g *group, chosen int) (p origin.Image, used int64, unused []string) {
	p = images[chosen]
	bad := func(stage, format string, args ...any) { s.reject(&p, stage, fmt.Sprintf(format, args...)) }
	label := false
	var parts []origin.Part
	add := func(m member) (isUsed bool) {
		_, ext := g.cut(m.path)
		switch {
		case m.reason != "":
			bad(m.stage, "%s: %s", jsontext.Readable(m.path), m.reason)
		case ext == classExt && s.labelled():
			_, id, ok := labels.Integer(strings.TrimSpace(s.classes[m.item]))
			if label = true; ok {
				p.Label = s.labels.Shared(strconv.FormatInt(id, 10))
			} else {
				bad("parse", "%s: %q is not an integer", jsontext.Readable(m.path), jsontext.Readable(s.classes[m.item]))
			}
		case ext == jsonExt && s.json != nil:
			s.json.beside[p.Item] = m.item
		case ext == "":
			return false
		default:
			parts = append(parts, origin.Part{Key: ext, Item: m.item})
			p.Size += s.origin.Members[m.item].Position.Size()
		}
		return true
	}
	for _, i := range g.others {
		if add(s.others[i]) {
			s.used[i] = true
			used++
		}
	}
	for _, i := range g.images {
		if i != chosen {
			other := member{path: images[i].Path, item: images[i].Item, stage: "read"}
			if b := images[i].Bad(); b != nil {
				other.reason = b.Reason
			}
			if !add(other) {
				unused = append(unused, other.path)
			}
		}
	}
	if p.Size > archive.MaxMember {
		bad("read", "the members of the sample are larger than %d bytes together", archive.MaxMember)
	}
	if s.labelled() && !label {
		bad("read", "the sample has no .cls member, so it has no label")
	}
	s.someLabel = s.someLabel || label
	if key := sortParts(parts); key != "" {
		bad("read", "the sample has two members .%s", key)
	}
	if len(parts) > 0 && p.Bad() == nil {
		s.origin.PartsOf[p.Item] = parts
	}
	return p, used, unused
}

// reject makes an image a bad sample, unless it is one.
func (s *Samples) reject(p *origin.Image, stage, reason string) {
	if p.Bad() != nil {
		return
	}
	in := s.origin.Archives[s.origin.Members[p.Item].Archive]
	p.AddExtra().Bad = &setdir.BadSample{
		Key: jsontext.Readable(p.Path), Source: storage.Base(in.Path()), Stage: stage, Reason: reason,
	}
}

// sortParts sorts parts by their keys, and returns the first key that two of them have; "" if all
// differ.
func sortParts(parts []origin.Part) (repeated string) {
	slices.SortFunc(parts, func(x, y origin.Part) int { return strings.Compare(x.Key, y.Key) })
	for i := range parts {
		if i > 0 && parts[i].Key == parts[i-1].Key {
			return parts[i].Key
		}
	}
	return ""
}
