package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Limits of the tracking that compares records with each other. Beyond them a comparison is
// skipped, independent of the order of the records.
const (
	maxDeepFeatures = 2000
	maxShapes       = 4096 // distinct sets of features in a record
	maxLengths      = 16   // distinct numbers of values of a feature
)

// schema tracks which features records have, with their kinds and lengths.
type schema struct {
	records  int64
	features features.Table[featureTally]
	lists    features.Table[featureTally]
	shapes   map[digest.Hash]*shapeTally // by a hash of the keys; nil if there are too many
	many     bool                        // there were too many shapes
	full     bool                        // there were too many features; nothing is known

	at   []*featureTally // of the current record
	keys []byte
}

// shapeTally counts the records with the same features.
type shapeTally struct {
	tally1
	keys []string
}

// featureTally describes the values of a feature.
type featureTally struct {
	key     string
	label   bool
	drawn   bool // describes the content of an image, so that numbers of values vary
	mask    bool
	length  int // according to the manifest; -1 if unknown
	records int64
	kinds   [tfrecord.KindInt64 + 1]tally1
	lengths map[int]*tally1 // nil if there are too many
	odd     tally1          // records whose length differs from length
	oddLen  int             // the length in the first of those

	images int64
	others tally1 // bytes that are not images
}

func (s *schema) begin() {
	s.at, s.keys = s.at[:0], s.keys[:0]
	s.features.Begin()
	s.lists.Begin()
}

// add adds a feature of the current record. It returns nil if there are too many features.
func (s *schema) add(key []byte, value tfrecord.Feature, at recordRef, g *deepGroup) *featureTally {
	if s.full {
		return nil
	}
	f := s.features.Find(key)
	if f == nil {
		if f = s.insert(&s.features, key); f == nil {
			return nil
		}
		f.label, f.drawn, f.mask = g.isLabel(f.key), isDrawn(f.key), isMask(f.key)
		if e := g.expected[f.key]; e != nil {
			f.length = e.length
			if e.Optional && e.length == 1 {
				f.length = -1 // an empty feature counts as missing
			}
		}
	}
	s.at = append(s.at, f)
	s.keys = append(append(s.keys, key...), 0)
	f.add(value, at)
	return f
}

// insert adds a feature to a table. It returns nil if there are too many.
func (s *schema) insert(to *features.Table[featureTally], key []byte) *featureTally {
	if s.full || to.Len() >= maxDeepFeatures || len(key) > recordscan.MaxKey {
		s.overflow()
		return nil
	}
	return to.Add(string(key), featureTally{key: string(key), length: -1, lengths: map[int]*tally1{}})
}

func (f *featureTally) add(value tfrecord.Feature, at recordRef) {
	f.records++
	f.kinds[value.Kind()].add(at)
	n := value.Len()
	if f.length >= 0 && n != f.length {
		if f.odd.records == 0 || at.before(f.odd.first) {
			f.oddLen = n
		}
		f.odd.add(at)
	}
	if f.lengths != nil {
		tallyIn(f.lengths, n, at)
		if len(f.lengths) > maxLengths {
			f.lengths = nil
		}
	}
}

// addStep adds a step of a feature list.
func (s *schema) addStep(key []byte, value tfrecord.Feature, at recordRef) *featureTally {
	f := s.lists.Find(key)
	if f == nil {
		if f = s.insert(&s.lists, key); f == nil {
			return nil
		}
		f.lengths = nil
	}
	f.add(value, at)
	return f
}

func (s *schema) overflow() {
	*s = schema{full: true, records: s.records}
}

// end ends the current record.
func (s *schema) end(at recordRef) {
	s.records++
	if s.full || s.many {
		return
	}
	hash := digest.Of(s.keys)
	shape := s.shapes[hash]
	if shape == nil {
		if len(s.shapes) >= maxShapes {
			s.shapes, s.many = nil, true
			return
		}
		shape = &shapeTally{}
		for _, f := range s.at {
			shape.keys = append(shape.keys, f.key)
		}
		s.shapes[hash] = shape
	}
	shape.add(at)
}

func (s *schema) merge(t *schema) {
	s.records += t.records
	if s.full || t.full {
		s.overflow()
		return
	}
	mergeFeatureTallies(&s.features, &t.features)
	mergeFeatureTallies(&s.lists, &t.lists)
	if s.features.Len() > maxDeepFeatures || s.lists.Len() > maxDeepFeatures {
		s.overflow()
		return
	}
	s.many = s.many || t.many
	for hash, u := range t.shapes {
		if known := s.shapes[hash]; known != nil {
			known.merge(&u.tally1)
		} else if !s.many {
			s.shapes[hash] = u
			s.many = len(s.shapes) > maxShapes
		}
	}
	if s.many {
		s.shapes = nil
	}
}

func mergeFeatureTallies(to, from *features.Table[featureTally]) {
	for key, g := range from.All() {
		f := to.Get(key)
		if f == nil {
			to.Add(key, *g)
			continue
		}
		f.records += g.records
		for i := range f.kinds {
			f.kinds[i].merge(&g.kinds[i])
		}
		if g.odd.records > 0 && (f.odd.records == 0 || g.odd.first.before(f.odd.first)) {
			f.oddLen = g.oddLen
		}
		f.odd.merge(&g.odd)
		if f.lengths != nil && g.lengths != nil {
			mergeTallies(f.lengths, g.lengths)
		}
		if g.lengths == nil || len(f.lengths) > maxLengths {
			f.lengths = nil
		}
		f.images += g.images
		f.others.merge(&g.others)
	}
}

// judge finds differences between the records of the group.
func (g *deepGroup) judge(ctx context.Context, d *deepRun, t *deepTable, found func(Finding)) {
	aggregate := func(kind FindingKind, severity Severity, of tally1, feature, format string, args ...any) {
		f := d.finding(kind, severity, of.first, feature, fmt.Sprintf(format, args...))
		f.Records = of.records
		found(f)
	}
	usual, _ := most(t.messages)
	for _, kind := range slices.Sorted(maps.Keys(t.messages)) {
		// Arbitrary bytes may occasionally parse as one or the other.
		if kind != usual && t.schema.features.Len() > 0 && (usual == message.Example || usual == message.SequenceExample) {
			aggregate(FindingMessage, SeverityFault, *t.messages[kind], "", "%s, most records hold %s", messageWords(kind), messageWords(usual))
		}
	}
	s := &t.schema
	for _, f := range s.features.All() {
		g.judgeFeature(f, aggregate)
	}
	for _, f := range s.lists.All() {
		f.judgeKinds(tfrecord.KindNone, "", aggregate)
	}
	g.judgeMissing(s, aggregate)
	for _, key := range slices.Sorted(maps.Keys(t.labels)) {
		if g.vocabularyOf(ctx, key) == nil {
			t.labels[key].judge(key, aggregate)
		}
	}
}

// aggregator adds a finding about many records.
type aggregator func(kind FindingKind, severity Severity, of tally1, feature, format string, args ...any)

func (g *deepGroup) judgeFeature(f *featureTally, found aggregator) {
	e := g.expected[f.key]
	switch {
	case g.expected != nil && e == nil:
		all := tally1{}
		for i := range f.kinds {
			all.merge(&f.kinds[i])
		}
		found(FindingSchema, SeverityFault, all, f.key, "the manifest does not have this feature")
	case e != nil:
		kind, _ := tfrecord.ParseKind(e.Kind) // KindNone if the manifest has an unknown kind
		f.judgeKinds(kind, "the manifest says %s", found)
		if f.odd.records > 0 {
			found(FindingSchema, SeverityFault, f.odd, f.key, "%s, the manifest says %d", plural.Of(f.oddLen, "value"), f.length)
		}
	default:
		f.judgeKinds(tfrecord.KindNone, "", found)
		f.judgeLengths(found)
	}
	if f.images > f.others.records && f.others.records > 0 && !g.images[f.key] {
		found(FindingNotImage, SeverityFault, f.others, f.key, "not an image, which the feature has in %s", plural.Of(f.images, "record"))
	}
}

// judgeKinds requires all values to be of kind want, or of the most frequent kind if want is
// KindNone. Empty features may have no kind.
func (f *featureTally) judgeKinds(want tfrecord.Kind, says string, found aggregator) {
	if want == tfrecord.KindNone {
		says = "it is %s in most records"
		for k := tfrecord.KindBytes; k <= tfrecord.KindInt64; k++ {
			if f.kinds[k].records > f.kinds[want].records || want == tfrecord.KindNone && f.kinds[k].records > 0 {
				want = k
			}
		}
	}
	for k := tfrecord.KindBytes; k <= tfrecord.KindInt64; k++ {
		if k != want && f.kinds[k].records > 0 {
			found(FindingSchema, SeverityFault, f.kinds[k], f.key, "the values are %s, "+says, k, want)
		}
	}
}

// A rule is inferred from at least ruleRecords records, of which this percentage must be the same.
const (
	ruleRecords = 20
	ruleShare   = 95
)

// judgeLengths requires the same number of values in all records if almost all have it.
func (f *featureTally) judgeLengths(found aggregator) {
	usual, n := most(f.lengths)
	if f.drawn || f.records < ruleRecords || n*100 < f.records*ruleShare {
		return
	}
	for _, length := range slices.Sorted(maps.Keys(f.lengths)) {
		if length != usual {
			found(FindingSchema, SeverityWarning, *f.lengths[length], f.key, "%s; %d of %s have %d", plural.Of(length, "value"), n, plural.Of(f.records, "record"), usual)
		}
	}
}

// judgeMissing reports features that are missing from records.
func (g *deepGroup) judgeMissing(s *schema, found aggregator) {
	var keys []string
	for key := range s.features.All() {
		keys = append(keys, key)
	}
	for key := range g.expected {
		if s.features.Get(key) == nil && s.records > 0 && !s.full {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		var have int64
		if f := s.features.Get(key); f != nil {
			have = f.records
		}
		e := g.expected[key]
		if have == s.records || e != nil && e.Optional || e == nil && g.expected != nil {
			continue
		}
		lack := tally1{first: recordRef{file: -1}}
		for _, shape := range s.shapes {
			if !slices.Contains(shape.keys, key) && (lack.first.file < 0 || shape.first.before(lack.first)) {
				lack.first = shape.first
			}
		}
		lack.records = s.records - have
		if e != nil {
			found(FindingMissing, SeverityFault, lack, key, "the feature is missing, the manifest says that all records have it")
		} else {
			found(FindingMissing, SeverityWarning, lack, key, "the feature is missing, which %d of %s have", have, plural.Of(s.records, "record"))
		}
	}
}
