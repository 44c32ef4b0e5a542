package stats

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
)

// labelFeatures is the number of label features that may have MaxLabels values each. The product is
// also the limit for all of them together.
const labelFeatures = 4

// addLabel counts labels like view.addLabel.
func (g *figures) addLabel(key string, c *occurrence, list []occurrence) {
	if c.kind == tfrecord.KindInt64 && c.values > 1 && g.base.names.byKey[key] != nil {
		labels := g.labelsOf(key)
		if !c.usual {
			for id := range c.value.Int64List() {
				g.addID(labels, id, 1)
			}
			return
		}
		for at := 0; at < len(c.packed); {
			id, n := binary.Uvarint(c.packed[at:])
			g.addID(labels, int64(id), 1)
			at += n
		}
		return
	}
	id, _, text, ok := c.one()
	if !ok || c.kind == tfrecord.KindFloat || len(text) > recordscan.MaxLabelName {
		return
	}
	labels := g.labelsOf(key)
	if c.kind == tfrecord.KindBytes {
		if n, known := labels.texts[string(text)]; known {
			labels.texts[string(text)] = n + 1
		} else {
			g.addText(labels, string(text), 1)
		}
		return
	}
	if n, known := labels.ids[id]; known {
		labels.ids[id] = n + 1
	} else if g.addID(labels, id, 1) {
		if name, ok := textOf(list, strings.TrimSuffix(key, "label")+"text"); ok {
			labels.said[id] = name
		}
	}
}

func (g *figures) labelsOf(key string) *labelCount {
	labels := g.base.labels[key]
	if labels == nil {
		labels = &labelCount{ids: map[int64]int64{}, texts: map[string]int64{}, said: map[int64]string{}}
		g.base.labels[key] = labels
	}
	return labels
}

// addID counts n records of a label, and reports whether there is room for it.
func (g *figures) addID(labels *labelCount, id, n int64) bool {
	if _, known := labels.ids[id]; !known && !g.roomForLabel(labels, n) {
		return false
	}
	labels.ids[id] += n
	return true
}

// addText is addID for a text label.
func (g *figures) addText(labels *labelCount, text string, n int64) {
	if _, known := labels.texts[text]; known || g.roomForLabel(labels, n) {
		labels.texts[text] += n
	}
}

// roomForLabel reports whether there is room for another label of a feature; if not, its n records
// are counted as omitted.
func (g *figures) roomForLabel(labels *labelCount, n int64) bool {
	limit := g.base.o.MaxLabels
	if len(labels.ids)+len(labels.texts) >= limit || g.labelValues >= labelFeatures*limit {
		labels.omitted += n
		return false
	}
	g.labelValues++
	return true
}

// textOf returns the text of a feature with exactly one value in a record.
func textOf(list []occurrence, key string) (string, bool) {
	for i := range list {
		if c := &list[i]; c.kind == tfrecord.KindBytes && string(c.key) == key {
			_, _, text, ok := c.one()
			return string(text), ok && len(text) <= recordscan.MaxLabelName
		}
	}
	return "", false
}

// mergeLabels adds the labels of the records after those that g has seen.
func (g *figures) mergeLabels(from map[string]*labelCount) {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		labels, more := g.labelsOf(key), from[key]
		labels.omitted += more.omitted
		for _, id := range slices.Sorted(maps.Keys(more.ids)) {
			if g.addID(labels, id, more.ids[id]) && labels.said[id] == "" && more.said[id] != "" {
				labels.said[id] = more.said[id]
			}
		}
		for _, text := range slices.Sorted(maps.Keys(more.texts)) {
			g.addText(labels, text, more.texts[text])
		}
	}
}
