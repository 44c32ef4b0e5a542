package webdataset

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/stated"
	"github.com/tfrec/tfrec/convert/internal/tables"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/store/archive"
	"github.com/tfrec/tfrec/manifest"
)

// Samples are the members of archives that are not images, and the samples that they make with those
// that are. They are used in this order: Add, DropRepeated, Is, Group, Unused, Labels, Features.
type Samples struct {
	o         *options.ImageOptions
	origin    *origin.Archives
	others    []member
	used      []bool           // of others: they are in a sample
	classes   map[int32]string // contents of .cls members by item
	json      *jsonFeatures    // nil without ImageOptions.Features
	labels    stated.Labels    // integers
	someLabel bool             // a sample has one
}

// member is a listed member that is not an image, or why it cannot be read.
type member struct {
	path   string
	item   int32
	image  bool   // by its content
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

// New returns the samples of archives, before any member is added.
func New(o *options.ImageOptions, archives *origin.Archives) *Samples {
	s := &Samples{o: o, origin: archives, classes: map[int32]string{}}
	if o.Labels.File == "" && len(o.Features) > 0 {
		s.json = newJSONFeatures(o.Features)
	}
	return s
}

// Add adds the next member of the origin, which is not an image by its name, and may be one by its
// content. Reason is why it cannot be used, if it cannot. Members that decide labels and features
// are read; Add reports whether this one may have to be read later.
func (s *Samples) Add(m *archive.Member, key, reason string, image bool) (later bool, err error) {
	other := member{path: key, item: int32(len(s.origin.Members)), image: image, stage: "read", reason: reason}
	_, ext := cutLast(key)
	most := int64(0)
	switch {
	case other.reason != "":
	case ext == classExt && s.labelled():
		most = maxClassText
	case ext == jsonExt && s.json != nil:
		most = maxJSON
	}
	if m.Size > most && most > 0 {
		other.reason = fmt.Sprintf("the member is larger than %d bytes", most)
	}
	if most == 0 || other.reason != "" {
		s.others = append(s.others, other)
		return other.reason == "", nil
	}
	content, err := m.Content()
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return false, err
	}
	if ext == classExt {
		s.classes[other.item] = string(text)
	} else if err := s.json.add(other.item, text); err != nil {
		other.stage, other.reason = "parse", err.Error()
	}
	s.others = append(s.others, other)
	return false, nil
}

// DropRepeated keeps the first of several members of one name in an archive, and returns the paths
// of the others.
func (s *Samples) DropRepeated() (dropped []string) {
	slices.SortStableFunc(s.others, func(p, q member) int { return strings.Compare(p.path, q.path) })
	kept := s.others[:0]
	for _, m := range s.others {
		if n := len(kept); n > 0 && kept[n-1].path == m.path && s.origin.Members[kept[n-1].item].Archive == s.origin.Members[m.item].Archive {
			dropped = append(dropped, m.path)
		} else {
			kept = append(kept, m)
		}
	}
	s.others = kept
	s.used = make([]bool, len(s.others))
	return dropped
}

// Unused yields the paths of the members in no sample, and whether they are images by their content.
func (s *Samples) Unused() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for i, m := range s.others {
			if !s.used[i] && !yield(m.path, m.image) {
				return
			}
		}
	}
}

// Is reports whether archives with these images are WebDatasets.
func (s *Samples) Is(images []origin.Image) bool {
	switch {
	case s.o.ArchiveFormat == options.Files, s.o.Annotations.HasObjects(): // whose files may look like a sample's
		return false
	case s.o.ArchiveFormat == options.WebDataset:
		return true
	}
	beside := map[string]bool{}
	for _, m := range s.others {
		for _, cut := range []func(string) (string, string){cutSample, cutLast} {
			if key, ext := cut(m.path); ext == classExt || ext == jsonExt {
				beside[key] = true
			}
		}
	}
	return slices.ContainsFunc(images, func(p origin.Image) bool {
		first, _ := cutSample(p.Path)
		last, _ := cutLast(p.Path)
		return beside[first] || beside[last]
	})
}

// labelled reports whether .cls members are labels.
func (s *Samples) labelled() bool { return !s.o.Labels.None && s.o.Labels.File == "" }

// Labels returns the labels of the samples, in the order in which they were found; nil if .cls members
// are not labels. It is an error if no sample has one.
func (s *Samples) Labels() ([]string, error) {
	switch {
	case !s.labelled():
		return nil, nil
	case !s.someLabel:
		return nil, fmt.Errorf("no sample has a .cls member, so none has a label: label the images with %s, or give %s", optname.LabelSpecFile, optname.LabelSpecNone)
	}
	return s.labels.Names, nil
}

// Features gives images the features in .json members, and describes these and those that parts
// become, after the known ones. It adds keys that are not stored to an account.
func (s *Samples) Features(images []origin.Image, known []manifest.Feature, a *account.Account) ([]manifest.Feature, error) {
	features := known
	if s.json != nil {
		described, err := s.json.fill(images, a)
		if err != nil {
			return nil, err
		}
		features = append(features, described...)
	}
	counts, samples := map[string]int{}, 0
	for i := range images {
		if images[i].Bad() == nil {
			samples++
			for _, part := range s.origin.PartsOf[images[i].Item] {
				counts[part.Key]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		taken := slices.ContainsFunc(imagekey.All, func(name string) bool { return s.o.Key(name) == key })
		if taken || slices.ContainsFunc(features, func(f manifest.Feature) bool { return f.Key == key }) {
			return nil, fmt.Errorf("members .%s become the feature %q, which another feature is called: give that another name", key, key)
		}
		features = append(features, manifest.Feature{Key: key, Kind: string(tables.TypeBytes), Class: manifest.ClassText, Optional: counts[key] < samples})
	}
	return features, nil
}
