package carried

import (
	"maps"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Labels are the labels in a source's records.
type Labels struct {
	Set     *shard.Set       // that all records are from; nil without
	texts   map[int64]string // names by id
	unclear bool             // an id has several names
	lists   bool             // a record has not exactly one label
	beyond  bool             // one is not an id from 0 to labels.MaxID
	without bool             // one is labels.Unlabelled
	highest int32
	any     bool
}

// Add notes the label of a record, and sets the id of its image.
func (r *Labels) Add(p *origin.Image, e *tfrecord.Example) {
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
	text, ok := SingleBytes(e, imagekey.Text)
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

// Name names the labels of images: as Set does, by image/class/text, or by their ids. Counted reports
// whether each record has one label, which its image then has, and labelMap whether the names
// belong to objects. Names is nil without ids, or if ids have no names.
func (r *Labels) Name(images []origin.Image) (names []string, counted, labelMap bool) {
	counted = r.any && !r.lists && !r.beyond && !r.without
	stated := r.Set != nil && int(r.highest) < len(r.Set.Labels) && (r.any || r.without)
	switch {
	case r.beyond, !stated && (!r.any || r.without):
		if r.Set != nil && r.Set.LabelMap { // the labels belong to objects
			names, labelMap = slices.Clone(r.Set.Labels), true
		}
		return names, counted, labelMap
	case stated:
		names, labelMap = slices.Clone(r.Set.Labels), r.Set.LabelMap
	default:
		named := map[int64]string{int64(r.highest): strconv.Itoa(int(r.highest))}
		if !r.unclear {
			maps.Copy(named, r.texts)
		}
		names = labels.Fill(named)
	}
	for i := range images {
		if p := &images[i]; p.Bad() == nil && counted {
			p.Label = &names[p.ID]
		}
	}
	return names, counted, labelMap
}

// SingleBytes returns the only value of a bytes feature.
func SingleBytes(e *tfrecord.Example, key string) ([]byte, bool) {
	f, _ := e.Get(key)
	if f.Kind() != tfrecord.KindBytes || f.Len() != 1 {
		return nil, false
	}
	return f.Bytes()
}
