package stats

import (
	"context"

	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// figures is Figures under construction.
type figures struct {
	name            string // of the group; "" for all records
	base            *view  // for the files, the faults, the messages and the labels
	sizes           spread // of the records
	features, lists features.Table[featureStat]
	room            *int // how many more features fit; shared with other figures

	labelValues int // over all label features

	found []*featureStat // result of resolve
	boxes bool           // some of these are sides of boxes
	turn  int64          // number of calls of resolve
}

func (m *measure) newFigures(room *int) *figures {
	o := &InspectOptions{MaxLabels: m.o.MaxLabels, MaxFaults: m.o.MaxFaults}
	return &figures{base: newView(o, m.names), room: room}
}

// find returns the statistics of the next feature of a record, or nil beyond the limit on features.
func (g *figures) find(t *features.Table[featureStat], key []byte) *featureStat {
	f := t.Find(key)
	if f == nil && *g.room > 0 && len(key) <= recordscan.MaxKey {
		*g.room--
		f = t.Add(string(key), featureStat{key: string(key), label: g.base.names.isLabel(string(key)), boxes: isBoxes(string(key))})
	}
	return f
}

// resolve finds the entry of each feature of a record. It returns false for a duplicate key.
func (g *figures) resolve(list []occurrence) bool {
	g.turn++
	g.found, g.boxes = g.found[:0], false
	g.features.Begin()
	for i := range list {
		f := g.find(&g.features, list[i].key)
		g.found = append(g.found, f)
		if f == nil {
			continue
		}
		if f.seen == g.turn {
			return false
		}
		f.seen = g.turn
		g.boxes = g.boxes || f.boxes
	}
	return true
}

func (g *figures) addRecord(size int64, kind message.Type) {
	g.sizes.addInt(size)
	g.base.sum.Records++
	g.base.sum.Messages[string(kind)]++
}

// addFeature adds feature i of the resolved record.
func (g *figures) addFeature(i int, list []occurrence, look *imageScan) {
	f := g.found[i]
	if f == nil {
		g.base.sum.FeaturesOmitted++
		return
	}
	f.records++
	f.add(&list[i], look)
	if f.label {
		g.addLabel(f.key, &list[i], list)
	}
}

func (g *figures) addLists(lists *tfrecord.FeatureLists, look *imageScan) {
	if lists == nil {
		return
	}
	look.group, look.isList = g.name, true
	defer func() { look.isList = false }()
	g.lists.Begin()
	for i := range lists.Len() {
		key, list := lists.At(i)
		f := g.find(&g.lists, key)
		if f == nil {
			g.base.sum.FeaturesOmitted++
			continue
		}
		f.records++
		f.steps.add(int64(list.Len()))
		for step := range list.Len() {
			c := occurrenceOf(nil, list.At(step))
			f.add(&c, look)
		}
	}
}

// merge adds what h saw of the records after those that g has seen.
func (g *figures) merge(h *figures) {
	g.sizes.merge(&h.sizes)
	labels := h.base.labels
	h.base.labels = nil
	g.base.merge(h.base)
	g.mergeLabels(labels)
	g.base.sum.FeaturesOmitted += mergeTables(&g.features, &h.features, g.room) + mergeTables(&g.lists, &h.lists, g.room)
}

func (g *figures) figures(ctx context.Context, o *Options) Figures {
	sum := &g.base.sum
	sequences := sum.Messages[string(message.SequenceExample)]
	f := Figures{
		Records: sum.Records, RecordBytes: g.sizes.numbers(0), Messages: sum.Messages,
		Features:        featureStats(&g.features, sum.Messages[string(message.Example)]+sequences, o),
		FeaturesOmitted: sum.FeaturesOmitted, Labels: g.base.labelCounts(ctx),
		Objects: g.base.objects.objects(ctx, g.base.names, o.Top),
	}
	if g.lists.Len() > 0 {
		f.FeatureLists = featureStats(&g.lists, sequences, o)
	}
	return f
}
