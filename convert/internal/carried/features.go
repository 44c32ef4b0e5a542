package carried

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Features are the features of a source's records that the new records have unchanged: all but those
// that the conversion writes itself.
type Features struct {
	Labels   bool            // they include the labels
	Counted  bool            // each record has one label
	soft     bool            // a record has soft labels
	Replaced map[string]bool // features of the source that are not carried over
	Seen     map[string]*feature
	Records  int64 // added
	// Keypoints is set if a record has keypoints, and Mirrors if the names of the first such keypoints
	// determine their counterparts in a mirror image.
	Keypoints bool
	Mirrors   bool
}

// feature describes the values of a feature.
type feature struct {
	kind        tfrecord.Kind
	mixed       bool  // it has another kind in some records
	records     int64 // that have it
	least, most int   // values of a record
}

// New returns the features to carry over before any record is added.
func New(o *options.ImageOptions) *Features {
	c := &Features{Labels: o.Labels.File == "" && !o.Labels.None, Replaced: map[string]bool{o.ImageFeature(): true}, Seen: map[string]*feature{}}
	for _, key := range imagekey.All {
		switch key {
		case imagekey.Encoded: // an error unless it is the image
		case imagekey.Label, imagekey.Text, imagekey.Synset:
			c.Replaced[key] = !c.Labels
		case imagekey.MixLabel, imagekey.MixWeight:
			c.Replaced[key] = o.Augment.Mixes() || !c.Labels
		case imagekey.Copy, imagekey.Ops:
			c.Replaced[key] = o.Augment.Policy != nil
		default:
			c.Replaced[key] = true
		}
	}
	return c
}

// Add notes the features of a record.
func (c *Features) Add(e *tfrecord.Example) error {
	c.Records++
	for i := range e.Len() {
		key, value := e.At(i)
		c.soft = c.soft || string(key) == imagekey.MixLabel || string(key) == imagekey.MixWeight
		if c.Replaced[string(key)] {
			continue
		}
		if string(key) == objects.KeyKeypointX && value.Len() > 0 && !c.Keypoints {
			c.Keypoints, c.Mirrors = true, mirrorsKeypoints(e)
		}
		f := c.Seen[string(key)]
		if f == nil {
			if len(c.Seen) == recordscan.ManyFeatures || len(key) > recordscan.MaxKey {
				return fmt.Errorf("more than %d features, or one whose key is longer than %d bytes: drop features that differ from record to record", recordscan.ManyFeatures, recordscan.MaxKey)
			}
			f = &feature{kind: value.Kind(), least: value.Len()}
			c.Seen[string(key)] = f
		}
		f.records++
		f.mixed = f.mixed || f.kind != value.Kind()
		f.least, f.most = min(f.least, value.Len()), max(f.most, value.Len())
	}
	return nil
}

// CheckMix returns an error if a policy cannot mix the labels that are carried over. It accepts nil.
func (c *Features) CheckMix(policy string) error {
	if c == nil || !c.Labels {
		return nil
	}
	label := c.Seen[imagekey.Label]
	switch {
	case c.soft:
		return plan.OptionErrorf(optname.AugmentSpecPolicy, "%s mixes images, and those of the records are mixed already, with soft labels: convert the images that they were made from, or give them other labels (%s) or none (%s)", policy, optname.LabelSpecFile, optname.LabelSpecNone)
	case label != nil && label.most > 0 && !c.Counted:
		return plan.OptionErrorf(optname.AugmentSpecPolicy, "%s mixes labels, and the records have not one label of at least 0 each in %s: convert the images that they were made from, or give them other labels (%s) or none (%s)", policy, imagekey.Label, optname.LabelSpecFile, optname.LabelSpecNone)
	}
	return nil
}

// Describe describes the features for the manifest: as set describes them, unless it is nil, or by
// their values. Others are the features that records have from elsewhere; a common key is an error.
// Labelled reports whether labels have names.
func (c *Features) Describe(o *options.ImageOptions, set *shard.Set, others []manifest.Feature, labelled bool) (described []manifest.Feature, err error) {
	own := map[string]bool{}
	for _, key := range imagekey.All {
		if c.Replaced[key] || key == imagekey.Encoded {
			own[o.Key(key)] = true
		}
	}
	for _, f := range others {
		own[f.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(c.Seen)) {
		f := c.Seen[key]
		name := o.Key(key)
		if key == imagekey.Encoded {
			name = key // the option renames the image
		}
		if own[name] {
			return nil, fmt.Errorf("the records have a feature %q besides the image, and the new records have another one of that key: give the other one a new name in %s", jsontext.Readable(name), optname.ImageOptionsRename)
		}
		own[name] = true
		if f.mixed || f.kind == tfrecord.KindNone {
			o.Notef("the feature %s has values of several kinds, or none: it is stored, but readers such as TFDS will not see it", jsontext.Readable(key))
			continue
		}
		d := f.describe(key, name, c.Records, set, labelled)
		if strings.HasPrefix(key, objects.KeyPrefix) && o.Encode.Format != options.Keep { // some may be lost
			d.Shape = []int{-1}
			if d.Class == manifest.ClassScalar {
				d.Class = manifest.ClassVector
			}
		}
		if key == objects.KeySegmentation && d.Class == manifest.ClassImage && o.Encode.Format != options.Keep {
			d.Shape = o.MaskShape()
		}
		described = append(described, d)
	}
	return described, nil
}

// describe describes a feature that is stored as name.
func (f *feature) describe(key, name string, records int64, set *shard.Set, labelled bool) manifest.Feature {
	d := manifest.Feature{Key: name, Kind: f.kind.String(), Class: manifest.ClassScalar, Optional: f.records < records}
	single := f.least == 1 && f.most == 1
	switch {
	case !single && f.least == f.most && f.most > 0:
		d.Class, d.Shape = manifest.ClassVector, []int{f.most}
	case !single:
		d.Class, d.Shape = manifest.ClassVector, []int{-1}
	case f.kind == tfrecord.KindBytes:
		d.Class = manifest.ClassText
	}
	if key == imagekey.Label && labelled {
		d.Class = manifest.ClassLabel
		if !single {
			d.Shape = []int{-1}
		}
	}
	if set == nil || key == imagekey.Label {
		return d
	}
	if i := slices.IndexFunc(set.Features, func(known manifest.Feature) bool { return known.Key == key && known.Kind == d.Kind }); i >= 0 {
		optional := d.Optional
		d = set.Features[i]
		d.Key, d.Optional = name, d.Optional || optional
	}
	return d
}

// HasObjects reports whether records have objects or masks. It is false for nil.
func (c *Features) HasObjects() bool {
	if c == nil {
		return false
	}
	for key := range c.Seen {
		if IsObjects(key) {
			return true
		}
	}
	return false
}

// MovesObjects reports whether the objects of records move with the pixels of their images. It is
// false for nil.
func (c *Features) MovesObjects(o *options.ImageOptions) bool {
	return o.Encode.Format != options.Keep && c.HasObjects()
}

// IsObjects reports whether a feature has one element for each object, or is a mask of classes.
func IsObjects(key string) bool {
	return strings.HasPrefix(key, objects.KeyPrefix) || key == objects.KeySegmentation
}

// mirrorsKeypoints reports whether the names of the keypoints in a record determine their counterparts
// in a mirror image.
func mirrorsKeypoints(e *tfrecord.Example) bool {
	boxes, err := objects.Check(&e.Features)
	if err != nil {
		return false
	}
	var k objects.Keypoints
	if k.Parse(&e.Features, boxes) != nil || k.Count == 0 {
		return false
	}
	var m objects.Mirrors
	return m.Of(k.Names(0)) != nil
}
