package verify

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// scanner checks one record at a time. Its counts are merged with other scanners' counts; findings
// of single records go into the batch.
type scanner struct {
	d       *deepRun
	tables  []deepTable // by group
	records int64
	counts  map[FindingKind]int64
	bad     bool

	images, decoded  int64
	boxes, maskCount int64

	example  tfrecord.Example
	sequence tfrecord.SequenceExample
	thumb    Thumb
	twins    exactDupBatch
	buffer   []byte
	alike    nearDupBatch

	// The current record:
	batch     *deepBatch
	at        recordRef
	group     *deepGroup
	table     *deepTable
	payload   xxh3.Hasher
	any       bool // payload includes an image
	label     uint32
	variant   bool
	hashed    []nearHash // of its images
	seen      []seenImage
	directory []ImageFacts // images under the same key prefix
	sides     []float32    // of its boxes
	keypoints objects.Keypoints
}

func newScanner(d *deepRun) *scanner {
	l := &scanner{d: d, counts: map[FindingKind]int64{}, tables: make([]deepTable, len(d.groups))}
	for i := range l.tables {
		l.tables[i] = newDeepTable()
	}
	return l
}

// lookAt checks all records of a batch. The error is of a temporary file.
func (l *scanner) lookAt(ctx context.Context, file int, b *deepBatch) error {
	f := &l.d.files[file]
	l.batch, l.group, l.table = b, l.d.groups[f.group], &l.tables[f.group]
	from := 0
	for i, end := range b.ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.at = recordRef{file: file, record: b.numbers[i], offset: b.offsets[i]}
		l.record(ctx, b.data[from:end:end])
		from = end
	}
	if err := l.d.twins.add(&l.twins); err != nil {
		return err
	}
	if l.d.alike != nil {
		return l.d.alike.add(&l.alike)
	}
	return nil
}

func (l *scanner) record(ctx context.Context, data []byte) {
	l.records++
	l.payload.Reset()
	l.any, l.label, l.variant, l.hashed = false, 0, false, l.hashed[:0]
	kind := message.Of(data)
	var features *tfrecord.Features
	var lists *tfrecord.FeatureLists
	switch {
	case kind == message.Example && l.example.Parse(data) == nil:
		features = &l.example.Features
	case kind == message.SequenceExample && l.sequence.Parse(data) == nil:
		features, lists = &l.sequence.Context, &l.sequence.Lists
	case kind == message.Example || kind == message.SequenceExample:
		kind = message.Unknown // it has malformed numbers
	}
	if features != nil {
		l.at.key = recordKey(features)
	}
	tallyIn(l.table.messages, kind, l.at)
	if features != nil {
		l.features(ctx, features)
	}
	if lists != nil {
		l.lists(lists)
	}
	hash := digest.Of(data)
	if l.any {
		sum := l.payload.Sum128()
		hash = digest.Hash{Hi: sum.Hi, Lo: sum.Lo}
	}
	l.twins.add(twin{hash: hash, at: l.at, split: l.d.files[l.at.file].split, label: l.label, variant: l.variant})
	if l.variant && l.at.key != "" {
		l.twins.add(l.origin())
	}
	for _, h := range l.hashed {
		l.alike.add(h, twin{hash: hash, at: l.at, split: l.d.files[l.at.file].split, label: l.label, variant: l.variant})
	}
	if l.example.Len() > recordscan.ManyFeatures || l.sequence.Context.Len() > recordscan.ManyFeatures {
		l.example, l.sequence = tfrecord.Example{}, tfrecord.SequenceExample{}
	}
}

// find lists a finding of the current record.
func (l *scanner) find(kind FindingKind, severity Severity, feature, format string, args ...any) {
	l.counts[kind]++
	l.bad = l.bad || severity == SeverityFault
	if len(l.batch.findings) == l.d.max { // the limit of the file is reached
		l.batch.omit(severity)
		return
	}
	l.batch.findings = append(l.batch.findings, l.d.finding(kind, severity, l.at, feature, fmt.Sprintf(format, args...)))
}

// features checks the features of an Example, or of a context.
func (l *scanner) features(ctx context.Context, features *tfrecord.Features) {
	shape := &l.table.schema
	shape.begin()
	drawn := false
	for i := range features.Len() {
		key, value := features.At(i)
		f := shape.add(key, value, l.at, l.group)
		drawn = drawn || f != nil && f.drawn || f == nil && isDrawn(string(key))
		switch value.Kind() {
		case tfrecord.KindBytes:
			if f == nil && !isMask(string(key)) || f != nil && !f.mask {
				l.imageFeature(f, key, value, features)
			}
		case tfrecord.KindInt64:
			l.variant = l.variant || string(key) == manifest.CopyKey
		}
		if f != nil && f.label || f == nil && l.group.isLabel(string(key)) {
			l.ids(ctx, string(key), value, features)
		}
	}
	if drawn {
		l.drawn(features)
	}
	l.allDeclared(features)
	shape.end(l.at)
}

// lists checks the feature lists of a SequenceExample: the kinds of their steps, and images in
// them.
func (l *scanner) lists(lists *tfrecord.FeatureLists) {
	for i := range lists.Len() {
		key, list := lists.At(i)
		for step := range list.Len() {
			value := list.At(step)
			f := l.table.schema.addStep(key, value, l.at)
			if value.Kind() == tfrecord.KindBytes {
				l.imageFeature(f, key, value, nil)
			}
		}
	}
}

// merge adds the counts of another scanner.
func (l *scanner) merge(m *scanner) {
	l.records += m.records
	l.images += m.images
	l.decoded += m.decoded
	l.boxes += m.boxes
	l.maskCount += m.maskCount
	l.bad = l.bad || m.bad
	for kind, n := range m.counts {
		l.counts[kind] += n
	}
	for i := range l.tables {
		l.tables[i].merge(&m.tables[i])
	}
}

// maxRecordKey limits the keys of records in reports, in bytes.
const maxRecordKey = 256

// keyNames are the last parts of the keys of features that identify a record, the likeliest first.
var keyNames = []string{"filename", "file_name", "source_id", "key", "id", "name"}

// recordKey returns the record's own identifier; "" if it has none.
func recordKey(features *tfrecord.Features) string {
	best, found := len(keyNames), ""
	for i := range features.Len() {
		key, value := features.At(i)
		if value.Len() != 1 || value.Kind() == tfrecord.KindFloat {
			continue
		}
		name := key
		if slash := strings.LastIndexByte(string(key), '/'); slash >= 0 {
			name = key[slash+1:]
		}
		rank := slices.Index(keyNames, string(name))
		if rank < 0 || rank >= best {
			continue
		}
		best = rank
		if id, ok := value.Int64(); ok {
			found = strconv.FormatInt(id, 10)
		} else if text, ok := value.Bytes(); ok {
			found = string(text[:min(len(text), maxRecordKey)])
		}
	}
	return found
}

// ids compares the labels in a feature with the vocabulary and with their texts.
func (l *scanner) ids(ctx context.Context, key string, value tfrecord.Feature, features *tfrecord.Features) {
	seen := l.table.label(key)
	v := l.group.vocabularyOf(ctx, key)
	l.label = uint32(digest.OfValue(value).Lo) | 1
	switch value.Kind() {
	case tfrecord.KindFloat:
		for x := range value.FloatList() {
			if x != x || math.IsInf(float64(x), 0) {
				l.find(FindingLabel, SeverityFault, key, "the label is %v", x)
				return
			}
			if v != nil && value.Len() == 1 && (x != float32(math.Trunc(float64(x))) || x < labels.Unlabelled || x >= float32(v.classes)) {
				l.find(FindingLabel, SeverityFault, key, "the label is %v, but there are %d label names", x, v.classes)
				return
			}
		}
	case tfrecord.KindBytes:
		if v == nil || v.ids == nil {
			return
		}
		for text := range value.BytesList() {
			if _, known := v.ids[jsontext.Readable(string(text))]; !known {
				l.find(FindingLabel, SeverityFault, key, "the label %.60q is not one of the %d label names", text, v.classes)
				return
			}
		}
	case tfrecord.KindInt64:
		for id := range value.Int64List() {
			if v != nil && !v.has(id) {
				l.find(FindingLabel, SeverityFault, key, "the label is %d, but there are %s", id, v.idsText())
				return
			}
		}
		l.labelTexts(key, value, v, seen, features)
	}
}

// labelTexts compares labels with their texts.
func (l *scanner) labelTexts(key string, ids tfrecord.Feature, v *vocabulary, seen *labelTally, features *tfrecord.Features) {
	beside := textKey(key)
	if beside == "" {
		return
	}
	text, ok := features.Get(beside)
	if !ok || text.Kind() != tfrecord.KindBytes {
		return
	}
	if text.Len() != ids.Len() {
		l.find(FindingLabelText, SeverityFault, key, "%s, but %s in %q", plural.Of(ids.Len(), "label"), plural.Of(text.Len(), "text"), jsontext.Readable(beside))
		return
	}
	seen.texts = true
	next, stop := iter.Pull(text.BytesList())
	defer stop()
	for id := range ids.Int64List() {
		said, _ := next()
		if v == nil {
			seen.add(id, said, l.at)
			continue
		}
		if name, ok := v.name(id); ok && jsontext.Readable(string(said)) != name {
			l.find(FindingLabelText, SeverityFault, key, "the label %d is %.60q, but %q says %.60q", id, name, jsontext.Readable(beside), said)
			return
		}
	}
}
