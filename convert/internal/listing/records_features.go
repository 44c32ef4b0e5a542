package listing

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/options"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/labels"
	"github.com/tfrec/tfrec/internal/objects"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Carried are the features of TFRecords that become those of the new records, as they are:
// all but those that the conversion writes itself.
type Carried struct {
	Labels   bool            // they have the labels
	Counted  bool            // with one in each record
	soft     bool            // a record has soft labels
	Replaced map[string]bool // features of the source that are not carried over
	Seen     map[string]*carriedFeature
	records  int64 // seen
	// Keypoints are those of the first record that has any; mirrors says that it is known which of them
	// change places in a mirror image.
	Keypoints bool
	Mirrors   bool
}

// carriedFeature describes the values of a feature.
type carriedFeature struct {
	kind        tfrecord.Kind
	mixed       bool  // it has another kind in some records
	records     int64 // that have it
	least, most int   // values of a record
}

// NewCarried returns the features to carry over, before a record was seen.
func NewCarried(o *options.ImageOptions) *Carried {
	c := &Carried{Labels: o.Labels.File == "" && !o.Labels.None, Replaced: map[string]bool{o.ImageFeature(): true}, Seen: map[string]*carriedFeature{}}
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

// add notes the features of a record.
func (c *Carried) add(e *tfrecord.Example) error {
	c.records++
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
			f = &carriedFeature{kind: value.Kind(), least: value.Len()}
			c.Seen[string(key)] = f
		}
		f.records++
		f.mixed = f.mixed || f.kind != value.Kind()
		f.least, f.most = min(f.least, value.Len()), max(f.most, value.Len())
	}
	return nil
}

// CheckMix returns an error if the labels that are carried over cannot be mixed.
func (c *Carried) CheckMix(policy string) error {
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

// describe describes the features for the manifest: as the set does that the records are from, or
// by their values. It refuses one whose key another feature has.
func (c *Carried) describe(l *Listing, o *options.ImageOptions, set *shard.Set) error {
	own := map[string]bool{}
	for _, key := range imagekey.All {
		if c.Replaced[key] || key == imagekey.Encoded {
			own[o.Key(key)] = true
		}
	}
	for _, f := range l.Features { // columns of a table
		own[f.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(c.Seen)) {
		f := c.Seen[key]
		name := o.Key(key)
		if key == imagekey.Encoded {
			name = key // the option renames the image
		}
		if own[name] {
			return fmt.Errorf("the records have a feature %q besides the image, and the new records have another one of that key: give the other one a new name in %s", jsontext.Readable(name), optname.ImageOptionsRename)
		}
		own[name] = true
		if f.mixed || f.kind == tfrecord.KindNone {
			o.Notef("the feature %s has values of several kinds, or none: it is stored, but readers such as TFDS will not see it", jsontext.Readable(key))
			continue
		}
		d := f.describe(key, name, c.records, l, set)
		if strings.HasPrefix(key, objects.KeyPrefix) && o.Encode.Format != options.Keep { // some may be lost
			d.Shape = []int{-1}
			if d.Class == manifest.ClassScalar {
				d.Class = manifest.ClassVector
			}
		}
		if key == objects.KeySegmentation && d.Class == manifest.ClassImage && o.Encode.Format != options.Keep {
			d.Shape = o.MaskShape()
		}
		l.Features = append(l.Features, d)
	}
	return nil
}

// describe describes a feature that is stored as name.
func (f *carriedFeature) describe(key, name string, records int64, l *Listing, set *shard.Set) manifest.Feature {
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
	if key == imagekey.Label && len(l.Labels) > 0 {
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

// recordLabels are the labels that records have.
type recordLabels struct {
	set     *shard.Set
	texts   map[int64]string // names by id
	unclear bool             // an id has several names
	lists   bool             // a record has not exactly one label
	beyond  bool             // one is not an id from 0 to labels.MaxID
	without bool             // one is labels.Unlabelled
	highest int32
	any     bool
}

// add notes the label of a record.
func (r *recordLabels) add(p *origin.Image, e *tfrecord.Example) {
	label, ok := e.Get(imagekey.Label)
	if !ok || label.Kind() != tfrecord.KindInt64 {
		r.lists = true
		return
	}
	for id := range label.Int64List() {
		switch {
		case id == labels.Unlabelled:
			r.without = true
		case id < 0 || id > labels.MaxID:
			r.beyond = true
			return
		default:
			r.any, r.highest = true, max(r.highest, int32(id))
		}
		p.ID = int32(id)
	}
	if label.Len() != 1 {
		r.lists = true
		return
	}
	if p.ID == labels.Unlabelled {
		return
	}
	text, ok := singleBytes(e, imagekey.Text)
	if !ok || len(text) > recordscan.MaxLabelName {
		r.unclear = true
		return
	}
	if name, known := r.texts[int64(p.ID)]; !known {
		if r.texts == nil {
			r.texts = map[int64]string{}
		}
		r.texts[int64(p.ID)] = string(text)
	} else if name != string(text) {
		r.unclear = true
	}
}

// name names the labels: as the set does, by image/class/text, or by their ids. Records without ids
// of their own, or with ids that have no names, keep what they have, and the set has no labels.
func (r *recordLabels) name(l *Listing) {
	l.Carried.Counted = r.any && !r.lists && !r.beyond && !r.without
	stated := r.set != nil && int(r.highest) < len(r.set.Labels) && (r.any || r.without)
	switch {
	case r.beyond, !stated && (!r.any || r.without):
		if r.set != nil && r.set.LabelMap { // the labels are those of objects
			l.Labels, l.LabelMap = slices.Clone(r.set.Labels), true
		}
		return
	case stated:
		l.Labels, l.LabelMap = slices.Clone(r.set.Labels), r.set.LabelMap
	default:
		named := map[int64]string{int64(r.highest): strconv.Itoa(int(r.highest))}
		if !r.unclear {
			maps.Copy(named, r.texts)
		}
		l.Labels = labels.Fill(named)
	}
	for i := range l.Images {
		if p := &l.Images[i]; p.Bad() == nil && l.Carried.Counted {
			p.Label = &l.Labels[p.ID]
		}
	}
}

// HasObjects reports whether records have objects or masks.
func (c *Carried) HasObjects() bool {
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

// MovesCarried reports whether the objects of records are moved with the pixels of their images.
func MovesCarried(o *options.ImageOptions, c *Carried) bool {
	return o.Encode.Format != options.Keep && c.HasObjects()
}

// IsObjects reports whether a feature has an element an object, or is a mask of classes.
func IsObjects(key string) bool {
	return strings.HasPrefix(key, objects.KeyPrefix) || key == objects.KeySegmentation
}

// mirrorsKeypoints reports whether the names of the keypoints in a record say which of them change
// places in a mirror image.
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
