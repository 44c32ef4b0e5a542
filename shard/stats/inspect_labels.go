package stats

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// LabelCounts counts the records by label, for one label feature. A record with a list of labels
// counts for each of them.
type LabelCounts struct {
	Key    string  `json:"key"`
	Counts []Label `json:"counts"`
	// Omitted counts records whose labels exceeded InspectOptions.MaxLabels.
	Omitted int64 `json:"omitted,omitempty"`
}

// Label is one label.
type Label struct {
	// ID of a numeric label; nil for a text label.
	ID *int64 `json:"id,omitempty"`
	// Name of the label; empty if unknown.
	Name    string `json:"name,omitempty"`
	Records int64  `json:"records"`
}

// labelCount is a LabelCounts under construction.
type labelCount struct {
	ids     map[int64]int64
	texts   map[string]int64
	said    map[int64]string // names from a text feature of the records
	omitted int64
}

// isLabel reports whether the values of a feature are labels of records: a manifest declares it, or
// its key ends in "label". Labels of objects are counted with the boxes.
func (n *labelNames) isLabel(key string) bool {
	return key != objects.KeyLabel && (strings.HasSuffix(key, "label") || n.byKey[key] != nil)
}

// addLabel counts the value of the label feature key, or each value of a list of ids that a manifest
// declares as labels. Other features without exactly one value are not labels of the record.
func (v *view) addLabel(key string, features *tfrecord.Features, value tfrecord.Feature) {
	ids := value.Kind() == tfrecord.KindInt64
	if value.Len() == 0 || value.Len() > 1 && !(ids && v.names.byKey[key] != nil) {
		return
	}
	c := v.labels[key]
	if c == nil {
		c = &labelCount{ids: map[int64]int64{}, texts: map[string]int64{}, said: map[int64]string{}}
		v.labels[key] = c
	}
	if !ids {
		if text, ok := value.Bytes(); ok && len(text) <= recordscan.MaxLabelName {
			countLabel(c, c.texts, string(text), v.o.MaxLabels)
		}
		return
	}
	names, _ := features.Get(strings.TrimSuffix(key, "label") + "text")
	v.texts = v.texts[:0]
	if names.Len() == value.Len() {
		v.texts = names.AppendBytes(v.texts)
	}
	i := 0
	for id := range value.Int64List() {
		if countLabel(c, c.ids, id, v.o.MaxLabels) && len(v.texts) > 0 && len(v.texts[i]) <= recordscan.MaxLabelName {
			c.said[id] = string(v.texts[i])
		}
		i++
	}
}

// countLabel counts a label, and reports whether it is the first of its kind. Of new labels beyond
// the limit only the number of records is counted.
func countLabel[K comparable](c *labelCount, counts map[K]int64, label K, limit int) (first bool) {
	n, known := counts[label]
	if !known && len(c.ids)+len(c.texts) >= limit {
		c.omitted++
		return false
	}
	counts[label] = n + 1
	return !known
}

func (v *view) mergeLabels(w *view) {
	for key, from := range w.labels {
		to := v.labels[key]
		if to == nil {
			v.labels[key] = from
			continue
		}
		to.omitted += from.omitted
		for _, id := range slices.Sorted(maps.Keys(from.ids)) {
			if _, known := to.ids[id]; !known && len(to.ids)+len(to.texts) >= v.o.MaxLabels {
				to.omitted += from.ids[id]
				continue
			}
			to.ids[id] += from.ids[id]
			if name, ok := from.said[id]; ok && to.said[id] == "" {
				to.said[id] = name
			}
		}
		for _, text := range slices.Sorted(maps.Keys(from.texts)) {
			if _, known := to.texts[text]; !known && len(to.ids)+len(to.texts) >= v.o.MaxLabels {
				to.omitted += from.texts[text]
				continue
			}
			to.texts[text] += from.texts[text]
		}
	}
}

// labelCounts returns the counts of all label features, by key, then id or text.
func (v *view) labelCounts(ctx context.Context) []LabelCounts {
	list := []LabelCounts{}
	for _, key := range slices.Sorted(maps.Keys(v.labels)) {
		c := v.labels[key]
		if len(c.ids)+len(c.texts) == 0 && c.omitted == 0 {
			continue
		}
		counts := LabelCounts{Key: key, Counts: []Label{}, Omitted: c.omitted}
		for _, id := range slices.Sorted(maps.Keys(c.ids)) {
			name := v.names.name(ctx, key, id)
			if name == "" {
				name = c.said[id]
			}
			counts.Counts = append(counts.Counts, Label{ID: &id, Name: jsontext.Readable(name), Records: c.ids[id]})
		}
		for _, text := range slices.Sorted(maps.Keys(c.texts)) {
			counts.Counts = append(counts.Counts, Label{Name: jsontext.Readable(text), Records: c.texts[text]})
		}
		list = append(list, counts)
	}
	return list
}

// labelNames are the names of labels known from files other than the records.
type labelNames struct {
	dirs  []string
	byKey map[string][]string
	// objects are the names of classes of objects by id; nil until objectName is called.
	objects map[int64]string
}

// newLabelNames takes the names from the manifests of the sources. For directories without one they
// are in the files that TFDS writes, which are read when their key is first seen.
func newLabelNames(sources []shard.Source) *labelNames {
	n := &labelNames{byKey: make(map[string][]string)}
	for _, s := range sources {
		if dir := storage.Dir(s.Path); len(n.dirs) == 0 || n.dirs[len(n.dirs)-1] != dir {
			n.dirs = append(n.dirs, dir)
		}
		if s.Set == nil {
			continue
		}
		for _, f := range s.Set.Features {
			if f.Class == manifest.ClassLabel && n.byKey[f.Key] == nil {
				n.byKey[f.Key] = s.Set.Labels
			}
		}
	}
	return n
}

// objectName returns the name of a class of objects: from a label map, else from the label names.
// It ignores label maps that cannot be read, which verify reports.
func (n *labelNames) objectName(ctx context.Context, id int64) string {
	if n.objects == nil {
		n.objects = map[int64]string{}
		for _, dir := range n.dirs {
			if names, err := labelmap.ReadNames(ctx, storage.Join(dir, manifest.LabelMapFile)); err == nil && names != nil {
				n.objects = names
				break
			}
		}
	}
	return cmp.Or(n.objects[id], n.name(ctx, objects.KeyLabel, id))
}

// name returns the name of a label, or "" if it is unknown.
func (n *labelNames) name(ctx context.Context, key string, id int64) string {
	names, known := n.byKey[key]
	if !known {
		for _, dir := range n.dirs {
			if names = labels.ReadBeside(ctx, dir, key); names != nil {
				break
			}
		}
		n.byKey[key] = names
	}
	if id < 0 || id >= int64(len(names)) {
		return ""
	}
	return names[id]
}
