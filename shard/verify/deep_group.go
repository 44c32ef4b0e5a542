package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/tfds"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// deepGroup describes the records of a directory or set, which are compared with the description
// and with each other.
type deepGroup struct {
	dir string
	set *shard.Set // nil without a manifest
	// expected has the manifest's features by key; nil if there are none.
	expected map[string]*expectation
	images   map[string]bool // keys of features that must be encoded images
	classes  map[string]int  // numbers of classes in TFDS's features.json

	mu         sync.Mutex
	vocabulary map[string]*vocabulary // by key; nil for features without one
	labelMap   error                  // of reading the label map
}

// expectation is the manifest's description of a feature.
type expectation struct {
	manifest.Feature
	length int // number of values; -1 if variable
}

func newDeepGroup(ctx context.Context, dir string) *deepGroup {
	g := &deepGroup{dir: dir, images: map[string]bool{}, classes: map[string]int{}, vocabulary: map[string]*vocabulary{}}
	// Faults of these files are found by the checks of sets.
	if t, err := tfds.FindTFDS(ctx, dir); err == nil {
		g.classes = t.Classes
	}
	features, _ := tfds.ReadObject(ctx, dir+"/"+manifest.TFDSFeaturesFile)
	for key, v := range tfds.FeaturesOf(features) {
		if f, ok := v.(manifest.Object); ok && f["image"] != nil {
			g.images[key] = true
		}
	}
	return g
}

// describe uses the description in a manifest. If there are several sets in a directory, only the
// records themselves are used.
func (g *deepGroup) describe(s *shard.Set) {
	if g.set != nil {
		if g.set != s && g.set.Fingerprint != s.Fingerprint {
			g.expected = nil
		}
		return
	}
	g.set = s
	if s.Records != manifest.RecordExample || len(s.Features) == 0 {
		return
	}
	g.expected = map[string]*expectation{}
	for _, f := range s.Features {
		g.expected[f.Key] = &expectation{f, f.Values()}
		if f.Class == manifest.ClassImage {
			g.images[f.Key] = true
		}
	}
}

// vocabulary has the names of a feature's labels.
type vocabulary struct {
	names   []string         // by id from 0; nil if unknown
	byID    map[int64]string // instead of names, of ids that may have gaps
	ids     map[string]int
	classes int // number of classes
	from    string
}

// has reports whether an id is one of the vocabulary.
func (v *vocabulary) has(id int64) bool {
	if v.byID != nil {
		_, ok := v.byID[id]
		return ok
	}
	return id >= labels.Unlabelled && id < int64(v.classes)
}

// name returns the name of an id that the vocabulary has; false if it has none.
func (v *vocabulary) name(id int64) (string, bool) {
	if v.byID != nil {
		return v.byID[id], true
	}
	if id == labels.Unlabelled || v.names == nil {
		return "", false
	}
	return strings.TrimSuffix(v.names[id], "\r"), true
}

// idsText describes the range of ids.
func (v *vocabulary) idsText() string {
	if v.byID != nil {
		return plural.Of(v.classes, "id") + " in " + v.from
	}
	return plural.Of(v.classes, "label name") + ", for ids from 0"
}

// isLabel reports whether the values of a feature are labels.
func (g *deepGroup) isLabel(key string) bool {
	if strings.HasSuffix(key, "label") {
		return true
	}
	if _, class := g.classes[key]; class {
		return true
	}
	e := g.expected[key]
	return e != nil && e.Class == manifest.ClassLabel
}

// vocabularyOf returns the names of a feature's labels; nil if unknown.
func (g *deepGroup) vocabularyOf(ctx context.Context, key string) *vocabulary {
	g.mu.Lock()
	defer g.mu.Unlock()
	v, known := g.vocabulary[key]
	if !known {
		v = g.findVocabulary(ctx, key)
		g.vocabulary[key] = v
	}
	return v
}

func (g *deepGroup) findVocabulary(ctx context.Context, key string) *vocabulary {
	if key == objects.KeyLabel {
		if byID, err := labelmap.ReadNames(ctx, storage.Join(g.dir, manifest.LabelMapFile)); err != nil {
			g.labelMap = err
		} else if byID != nil {
			return &vocabulary{byID: byID, classes: len(byID), from: manifest.LabelMapFile}
		}
	}
	v := &vocabulary{from: manifest.File}
	if e := g.expected[key]; e != nil && e.Class == manifest.ClassLabel {
		v.names = g.set.Labels
	} else if v.names = labels.ReadBeside(ctx, g.dir, key); v.names != nil {
		v.from = labels.FileName(key)
	}
	v.classes = len(v.names)
	if v.classes == 0 {
		if v.classes, v.from = g.classes[key], manifest.TFDSFeaturesFile; v.classes == 0 {
			return nil
		}
		return v
	}
	v.ids = make(map[string]int, len(v.names))
	for id, name := range v.names {
		v.ids[strings.TrimSuffix(name, "\r")] = id
	}
	return v
}

// textKey returns the key of the feature with the names of the labels in key, or "". A plain
// "label" has none, because a plain "text" next to it is the labelled data.
func textKey(key string) string {
	before, ok := strings.CutSuffix(key, "label")
	if !ok || before == "" {
		return ""
	}
	return before + "text"
}

// labelReport reports the vocabularies that the labels of the group were compared with.
func (g *deepGroup) labelReport(ctx context.Context, t *deepTable) []DeepLabels {
	list := []DeepLabels{}
	for _, key := range slices.Sorted(maps.Keys(t.labels)) {
		l := DeepLabels{Feature: jsontext.Readable(key), Path: g.dir, From: "records"}
		if v := g.vocabularyOf(ctx, key); v != nil {
			l.Names, l.From = v.classes, v.from
		} else if !t.labels[key].texts {
			continue
		}
		list = append(list, l)
	}
	return list
}

// notChecked returns messages about what could not be checked in the group.
func (g *deepGroup) notChecked(ctx context.Context, t *deepTable) (texts []string) {
	add := func(format string, args ...any) {
		texts = append(texts, jsontext.Readable(g.dir)+": "+fmt.Sprintf(format, args...))
	}
	for _, kind := range slices.Sorted(maps.Keys(t.messages)) {
		if n := t.messages[kind].records; kind != message.Example && kind != message.SequenceExample {
			add("of %s with %s, only duplicates were looked for", plural.Of(n, "record"), messageWords(kind))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.labels)) {
		l := t.labels[key]
		switch {
		case g.vocabularyOf(ctx, key) != nil:
		case l.full:
			add("%q has more than %d labels without a vocabulary: their texts were not compared", jsontext.Readable(key), labels.MaxIDs)
		case !l.texts:
			add("%q has no vocabulary and no text next to it", jsontext.Readable(key))
		}
	}
	if g.labelMap != nil {
		add("labels of objects were not looked up: %v", g.labelMap)
	}
	if t.schema.full {
		add("more than %d features: their kinds and lengths were not compared", maxDeepFeatures)
	}
	return texts
}

func messageWords(m message.Type) string {
	if m == message.Unknown {
		return "not a known message"
	}
	return "a " + string(m)
}

// most returns the key with the largest count; the first one if several are equal.
func most[K ~string | ~int | ~uint8](counts map[K]*tally1) (key K, n int64) {
	keys := make([]K, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if counts[k].records > n {
			key, n = k, counts[k].records
		}
	}
	return key, n
}
