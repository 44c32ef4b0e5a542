package shard

import (
	"strings"

	"github.com/tfrec/tfrec/tfrecord"
)

// figures is Figures under construction.
type figures struct {
	name            string // of the group; "" of all records
	base            *view  // for the files, the faults, the messages and the labels
	sizes           spread // of the records
	features, lists statTable

	found []*featureStat // what resolve found
	turn  int64          // the number of resolve's calls
}

func (m *measure) newFigures(room *int) *figures {
	o := &InspectOptions{MaxLabels: m.o.MaxLabels, MaxFaults: m.o.MaxFaults}
	return &figures{base: newView(o, m.names), features: statTable{room: room}, lists: statTable{room: room}}
}

// resolve finds the entry of each feature of a record. It reports false when a
// key comes twice.
func (g *figures) resolve(list []occurrence) bool {
	g.turn++
	g.found = g.found[:0]
	var prev *featureStat
	for i := range list {
		f := g.features.find(prev, list[i].key)
		g.found = append(g.found, f)
		if f == nil {
			continue
		}
		if f.seen == g.turn {
			return false
		}
		f.seen = g.turn
		prev = f
	}
	return true
}

func (g *figures) addRecord(size int64, message Message) {
	g.sizes.addInt(size)
	g.base.sum.Records++
	g.base.sum.Messages[string(message)]++
}

// addFeature adds feature i of the record that was resolved.
func (g *figures) addFeature(i int, list []occurrence, look *picturesLook) {
	f := g.found[i]
	if f == nil {
		g.base.sum.FeaturesOmitted++
		return
	}
	if f.records == 0 {
		f.label = g.base.names.isLabel(f.key)
	}
	f.records++
	f.add(&list[i], look)
	if f.label {
		g.addLabel(f.key, &list[i], list)
	}
}

func (g *figures) addLists(lists *tfrecord.FeatureLists, look *picturesLook) {
	if lists == nil {
		return
	}
	look.group = g.name
	var prev *featureStat
	for i := range lists.Len() {
		key, list := lists.At(i)
		f := g.lists.find(prev, key)
		if f == nil {
			g.base.sum.FeaturesOmitted++
			continue
		}
		prev = f
		f.records++
		f.steps.add(int64(list.Len()))
		for step := range list.Len() {
			c := occurrenceOf(nil, list.At(step))
			f.add(&c, look)
		}
	}
}

// addLabel counts a label, as view.addLabel does.
func (g *figures) addLabel(key string, c *occurrence, list []occurrence) {
	id, _, text, ok := c.one()
	if !ok || c.kind == tfrecord.KindFloat || len(text) > maxLabelName {
		return
	}
	labels := g.base.labels[key]
	if labels == nil {
		labels = &labelCount{ids: map[int64]int64{}, texts: map[string]int64{}, said: map[int64]string{}}
		g.base.labels[key] = labels
	}
	full := len(labels.ids)+len(labels.texts) >= g.base.o.MaxLabels
	if c.kind == tfrecord.KindBytes {
		n, known := labels.texts[string(text)]
		if full && !known {
			labels.omitted++
			return
		}
		labels.texts[string(text)] = n + 1
		return
	}
	n, known := labels.ids[id]
	if full && !known {
		labels.omitted++
		return
	}
	labels.ids[id] = n + 1
	if !known {
		if name, ok := textOf(list, strings.TrimSuffix(key, "label")+"text"); ok {
			labels.said[id] = name
		}
	}
}

// textOf returns the one text of a feature of a record.
func textOf(list []occurrence, key string) (string, bool) {
	for i := range list {
		if c := &list[i]; c.kind == tfrecord.KindBytes && string(c.key) == key {
			_, _, text, ok := c.one()
			return string(text), ok && len(text) <= maxLabelName
		}
	}
	return "", false
}

// merge adds what others saw of the records behind those that g has seen.
func (g *figures) merge(h *figures) {
	g.sizes.merge(&h.sizes)
	g.base.merge(h.base)
	g.base.sum.FeaturesOmitted += g.features.merge(&h.features) + g.lists.merge(&h.lists)
}

func (g *figures) figures(o *StatsOptions) Figures {
	sum := &g.base.sum
	sequences := sum.Messages[string(MessageSequenceExample)]
	f := Figures{
		Records: sum.Records, RecordBytes: g.sizes.numbers(0), Messages: sum.Messages,
		Features:        g.features.stats(sum.Messages[string(MessageExample)]+sequences, o),
		FeaturesOmitted: sum.FeaturesOmitted, Labels: g.base.labelCounts(),
	}
	if len(g.lists.byKey) > 0 {
		f.FeatureLists = g.lists.stats(sequences, o)
	}
	return f
}
