package preview

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord"
)

// names are the features that name a sample; the first existing one is used.
var names = []string{imagekey.Filename, "filename", "image/source_id", "key", "id"}

// contents describes a whole set, as far as sampling needs it.
type contents struct {
	sources []shard.Source
	files   []file // the readable ones of sources
	records int64
	// Keys of the features shown of a record; empty if there is none.
	imageKey, label, key string
	// inList means that images are in a feature list.
	inList bool
	// variants means that some records are variants of others.
	variants bool
	// ids names the labels that are numbers.
	ids map[int64]string
	// classes are the classes of objects. masks means that some images have masks.
	classes classes
	masks   bool
}

// file is a file of records.
type file struct {
	path, split string
	records     int64
	// set is the file's entry in the manifest, nil without one.
	set *manifest.Shard
}

// feature summarises one feature over all records.
type feature struct {
	key    string
	bytes  bool
	images int64
	most   int64 // the largest of its int64s
}

func featuresOf(list []stats.Feature) []feature {
	features := make([]feature, len(list))
	for i, f := range list {
		features[i] = feature{key: f.Key, bytes: f.Kinds[tfrecord.KindBytes.String()] > 0}
		if f.Images != nil {
			features[i].images = f.Images.Count
		}
		if f.Int64 != nil {
			features[i].most, _ = strconv.ParseInt(f.Int64.Max.String(), 10, 64)
		}
	}
	return features
}

func featuresSeen(list []stats.FeatureSummary) []feature {
	features := make([]feature, len(list))
	for i, f := range list {
		features[i] = feature{key: f.Key, bytes: f.Kinds[tfrecord.KindBytes.String()] > 0}
		for _, n := range f.Formats {
			features[i].images += n
		}
		if f.Int64 != nil {
			features[i].most = f.Int64.Max
		}
	}
	return features
}

// newContents puts together what was read of the files of sources.
func newContents(sources []shard.Source, read []stats.FileSummary) *contents {
	c := &contents{sources: sources}
	known := make(map[string]shard.Source, len(sources))
	for _, s := range sources {
		known[s.Path] = s
	}
	for _, r := range read {
		f := file{path: r.Path, split: r.Split, records: r.Records, set: known[r.Path].Info}
		if f.split == "" {
			if name, ok := shard.ParseName(filepath.Base(r.Path)); ok {
				f.split = name.Split
			}
		}
		c.records += r.Records
		c.files = append(c.files, f)
	}
	return c
}

// resolve finds the features that are shown.
func (c *contents) resolve(o *Options, features, lists []feature, labels []stats.LabelCounts, objectsSeen *stats.Objects) error {
	has := func(key string) bool {
		return slices.ContainsFunc(features, func(f feature) bool { return f.key == key })
	}
	for _, given := range []struct{ flag, key string }{{"picture", o.ImageKey}, {"label", o.Label}, {"key", o.Key}} {
		inList := given.flag == "picture" && slices.ContainsFunc(lists, func(f feature) bool { return f.key == given.key })
		if given.key != "" && !has(given.key) && !inList {
			return fmt.Errorf("--%s %s: no record has such a feature; tfrec inspect lists those that there are", given.flag, shown(given.key, 200))
		}
	}
	c.imageKey, c.inList = findImageKey(o.ImageKey, features, lists)
	c.label, c.key = o.Label, o.Key
	c.classes = newClasses(objectsSeen)
	c.masks = has(objects.KeyMask) || has(objects.KeySegmentation)
	for _, key := range append([]string{imagekey.Text, imagekey.Label}, labelKeys(labels)...) {
		if c.label == "" && has(key) {
			c.label = key
		}
	}
	for _, key := range names {
		if c.key == "" && has(key) {
			c.key = key
		}
	}
	for _, l := range labels {
		if l.Key == c.label {
			c.ids = make(map[int64]string, len(l.Counts))
			for _, n := range l.Counts {
				if n.ID != nil {
					c.ids[*n.ID] = n.Name
				}
			}
		}
	}
	c.variants = c.key != "" && slices.ContainsFunc(features, func(f feature) bool { return f.key == imagekey.Copy && f.most > 0 })
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
func findImageKey(asked string, features, lists []feature) (key string, inList bool) {
	most := int64(0)
	for i, list := range [][]feature{features, lists} {
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
