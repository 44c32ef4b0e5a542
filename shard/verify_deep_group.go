package shard

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/labels"
	"github.com/tfrec/tfrec/internal/plural"
)

// deepGroup is what is said of the records of one directory or set, which are held
// to it and to each other.
type deepGroup struct {
	dir string
	set *Set // nil without a manifest
	// expected are the manifest's features by key; nil when it does not say.
	expected map[string]*expectation
	pictures map[string]bool // keys of features that are to be encoded images
	classes  map[string]int  // numbers of classes that TFDS's features.json says

	mu         sync.Mutex
	vocabulary map[string]*vocabulary // by key; nil for those without one
}

// expectation is what a manifest says of a feature.
type expectation struct {
	Feature
	length int // values of it; -1 when that varies
}

func newDeepGroup(ctx context.Context, dir string) *deepGroup {
	g := &deepGroup{dir: dir, pictures: map[string]bool{}, classes: map[string]int{}, vocabulary: map[string]*vocabulary{}}
	// What is wrong with these files is found by the checks of sets.
	if t, err := findTFDS(ctx, dir); err == nil {
		g.classes = t.classes
	}
	features, _ := readObject(ctx, dir+"/"+TFDSFeaturesFile)
	for key, v := range featuresOf(features) {
		if f, ok := v.(object); ok && f["image"] != nil {
			g.pictures[key] = true
		}
	}
	return g
}

// describe takes over what a manifest says. Several sets in one directory leave
// only what their records say themselves.
func (g *deepGroup) describe(s *Set) {
	if g.set != nil {
		if g.set != s && g.set.Fingerprint != s.Fingerprint {
			g.expected = nil
		}
		return
	}
	g.set = s
	if s.Records != RecordExample || len(s.Features) == 0 {
		return
	}
	g.expected = map[string]*expectation{}
	for _, f := range s.Features {
		g.expected[f.Key] = &expectation{f, f.length()}
		if f.Class == ClassImage {
			g.pictures[f.Key] = true
		}
	}
}

// length is how many values the feature has in a record; -1 when that varies.
func (f Feature) length() int {
	if f.Class != ClassVector {
		return 1
	}
	n := 1
	for _, size := range f.Shape {
		if size < 0 {
			return -1
		}
		n *= size
	}
	return n
}

// vocabulary is the names of a feature's labels.
type vocabulary struct {
	names   []string
	ids     map[string]int
	classes int // how many there are
	from    string
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
	return e != nil && e.Class == ClassLabel
}

// vocabularyOf finds the names of a feature's labels; nil when nobody says them.
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
	v := &vocabulary{from: ManifestFile}
	if e := g.expected[key]; e != nil && e.Class == ClassLabel {
		v.names = g.set.Labels
	} else if v.names = labels.ReadBeside(ctx, g.dir, key); v.names != nil {
		v.from = labels.FileName(key)
	}
	v.classes = len(v.names)
	if v.classes == 0 {
		if v.classes, v.from = g.classes[key], TFDSFeaturesFile; v.classes == 0 {
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

// textKey is the key of the feature that holds the names of the labels in key;
// "" when there is none: a bare "text" beside a bare "label" is what is
// labelled.
func textKey(key string) string {
	before, ok := strings.CutSuffix(key, "label")
	if !ok || before == "" {
		return ""
	}
	return before + "text"
}

// labelReport says what the labels of the group were held to.
func (g *deepGroup) labelReport(ctx context.Context, t *deepTable) []DeepLabels {
	list := []DeepLabels{}
	for _, key := range slices.Sorted(maps.Keys(t.labels)) {
		l := DeepLabels{Feature: Readable(key), Path: g.dir, From: "records"}
		if v := g.vocabularyOf(ctx, key); v != nil {
			l.Names, l.From = v.classes, v.from
		} else if !t.labels[key].texts {
			continue
		}
		list = append(list, l)
	}
	return list
}

// notChecked says what could not be looked at in the group.
func (g *deepGroup) notChecked(ctx context.Context, t *deepTable) (texts []string) {
	add := func(format string, args ...any) {
		texts = append(texts, Readable(g.dir)+": "+fmt.Sprintf(format, args...))
	}
	for _, message := range slices.Sorted(maps.Keys(t.messages)) {
		if n := t.messages[message].records; message != MessageExample && message != MessageSequenceExample {
			add("of %s with %s, only duplicates were looked for", plural.Of(n, "record"), messageWords(message))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.labels)) {
		l := t.labels[key]
		switch {
		case g.vocabularyOf(ctx, key) != nil:
		case l.full:
			add("%q has more than %d labels without a vocabulary: their texts were not compared", Readable(key), maxLabelIDs)
		case !l.texts:
			add("%q has no vocabulary and no text next to it", Readable(key))
		}
	}
	if t.features.full {
		add("more than %d features: their kinds and lengths were not compared", maxDeepFeatures)
	}
	return texts
}

func messageWords(m Message) string {
	if m == MessageUnknown {
		return "not a known message"
	}
	return "a " + string(m)
}

// most returns the key of the largest count; of equals the first.
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
