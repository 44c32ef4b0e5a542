package verify

import (
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordscan"
)

// labelTally counts the texts in the records for a label feature without a vocabulary.
type labelTally struct {
	texts bool // some records have texts
	pairs map[labelText]*tally1
	full  bool // there were too many to compare
}

// labelText is a label and its text in a record.
type labelText struct {
	id   int64
	text string
}

// label returns the tally of a label feature.
func (t *deepTable) label(key string) *labelTally {
	l := t.labels[key]
	if l == nil {
		l = &labelTally{pairs: map[labelText]*tally1{}}
		t.labels[key] = l
	}
	return l
}

func (l *labelTally) add(id int64, text []byte, at recordRef) {
	if l.full {
		return
	}
	pair := labelText{id, string(text[:min(len(text), recordscan.MaxLabelName)])}
	tallyIn(l.pairs, pair, at)
	l.limit()
}

// limit discards the pairs if there are too many labels for a vocabulary.
func (l *labelTally) limit() {
	if l.full = l.full || len(l.pairs) > labels.MaxIDs; l.full {
		l.pairs = nil
	}
}

func (l *labelTally) merge(m *labelTally) {
	l.texts = l.texts || m.texts
	if l.full = l.full || m.full; !l.full {
		mergeTallies(l.pairs, m.pairs)
	}
	l.limit()
}

// judge finds ids with several texts; the most frequent one is taken to be correct.
func (l *labelTally) judge(key string, found aggregator) {
	texts := map[int64]map[string]*tally1{}
	for pair, t := range l.pairs {
		if texts[pair.id] == nil {
			texts[pair.id] = map[string]*tally1{}
		}
		texts[pair.id][pair.text] = t
	}
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		usual, n := most(texts[id])
		for _, text := range slices.Sorted(maps.Keys(texts[id])) {
			if text != usual {
				found(FindingLabelText, SeverityFault, *texts[id][text], key,
					"the label %d is %.60q in the text next to it, and %.60q in %s", id, text, usual, plural.Of(n, "record"))
			}
		}
	}
}
