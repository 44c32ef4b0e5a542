package contents

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// names are the features that name a sample; the first existing one is used.
var names = []string{imagekey.Filename, "filename", "image/source_id", "key", "id"}

// Set describes a whole set, as far as sampling needs it.
type Set struct {
	Sources []shard.Source
	Files   []File // the readable ones of sources
	Records int64
	// Keys of the features shown of a record; empty if there is none.
	ImageKey, Label, Key string
	// inList means that images are in a feature list.
	InList bool
	// variants means that some records are variants of others.
	Variants bool
	// ids names the labels that are numbers.
	Ids map[int64]string
	// classes are the classes of objects. masks means that some images have masks.
	Classes Classes
	Masks   bool
}

// File is a file of records.
type File struct {
	Path, Split string
	Records     int64
	// set is the file's entry in the manifest, nil without one.
	Set *manifest.Shard
}

// Feature summarises one feature over all records.
type Feature struct {
	key    string
	bytes  bool
	images int64
	most   int64 // the largest of its int64s
}

func FeaturesOf(list []stats.Feature) []Feature {
	features := make([]Feature, len(list))
	for i, f := range list {
		features[i] = Feature{key: f.Key, bytes: f.Kinds[tfrecord.KindBytes.String()] > 0}
		if f.Images != nil {
			features[i].images = f.Images.Count
		}
		if f.Int64 != nil {
			features[i].most, _ = strconv.ParseInt(f.Int64.Max.String(), 10, 64)
		}
	}
	return features
}

func FeaturesSeen(list []stats.FeatureSummary) []Feature {
	features := make([]Feature, len(list))
	for i, f := range list {
		features[i] = Feature{key: f.Key, bytes: f.Kinds[tfrecord.KindBytes.String()] > 0}
		for _, n := range f.Formats {
			features[i].images += n
		}
		if f.Int64 != nil {
			features[i].most = f.Int64.Max
		}
	}
	return features
}

// New puts together what was read of the files of sources.
func New(sources []shard.Source, read []stats.FileSummary) *Set {
	c := &Set{Sources: sources}
	known := make(map[string]shard.Source, len(sources))
	for _, s := range sources {
		known[s.Path] = s
	}
	for _, r := range read {
		f := File{Path: r.Path, Split: r.Split, Records: r.Records, Set: known[r.Path].Info}
		if f.Split == "" {
			if name, ok := shard.ParseName(filepath.Base(r.Path)); ok {
				f.Split = name.Split
			}
		}
		c.Records += r.Records
		c.Files = append(c.Files, f)
	}
	return c
}

// Keys are the keys of features that the user names; "" for the usual ones.
type Keys struct{ Image, Label, Key string }

// Resolve finds the features that are shown.
func (c *Set) Resolve(o Keys, features, lists []Feature, labels []stats.LabelCounts, objectsSeen *stats.Objects) error {
	has := func(key string) bool {
		return slices.ContainsFunc(features, func(f Feature) bool { return f.key == key })
	}
	for _, given := range []struct{ flag, key string }{{"picture", o.Image}, {"label", o.Label}, {"key", o.Key}} {
		inList := given.flag == "picture" && slices.ContainsFunc(lists, func(f Feature) bool { return f.key == given.key })
		if given.key != "" && !has(given.key) && !inList {
			return fmt.Errorf("--%s %s: no record has such a feature; tfrec inspect lists those that there are", given.flag, plaintext.Shown(given.key, 200))
		}
	}
	c.ImageKey, c.InList = findImageKey(o.Image, features, lists)
	c.Label, c.Key = o.Label, o.Key
	c.Classes = NewClasses(objectsSeen)
	c.Masks = has(objects.KeyMask) || has(objects.KeySegmentation)
	for _, key := range append([]string{imagekey.Text, imagekey.Label}, labelKeys(labels)...) {
		if c.Label == "" && has(key) {
			c.Label = key
		}
	}
	for _, key := range names {
		if c.Key == "" && has(key) {
			c.Key = key
		}
	}
	for _, l := range labels {
		if l.Key == c.Label {
			c.Ids = make(map[int64]string, len(l.Counts))
			for _, n := range l.Counts {
				if n.ID != nil {
					c.Ids[*n.ID] = n.Name
				}
			}
		}
	}
	c.Variants = c.Key != "" && slices.ContainsFunc(features, func(f Feature) bool { return f.key == imagekey.Copy && f.most > 0 })
	return nil
}

func labelKeys(labels []stats.LabelCounts) []string {
	keys := make([]string, len(labels))
	for i, l := range labels {
		keys[i] = l.Key
	}
	return keys
}

// findImageKey returns the feature with the images: the requested one, the usual one, or the one
// with the most images.
func findImageKey(asked string, features, lists []Feature) (key string, inList bool) {
	most := int64(0)
	for i, list := range [][]Feature{features, lists} {
		for _, f := range list {
			if f.key == asked && asked != "" || asked == "" && f.key == imagekey.Encoded && f.bytes {
				return f.key, i == 1
			}
			if f.images > most {
				key, inList, most = f.key, i == 1, f.images
			}
		}
	}
	return key, inList
}
