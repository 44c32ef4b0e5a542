package verify

import (
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// deepTable has the counts of a scanner for a group. Merging the tables of several scanners gives
// the same result in any order.
type deepTable struct {
	messages map[message.Type]*tally1
	schema   schema
	labels   map[string]*labelTally
}

// tally1 counts records and remembers the first.
type tally1 struct {
	records int64
	first   recordRef
}

func (t *tally1) add(at recordRef) {
	if t.records == 0 || at.before(t.first) {
		t.first = at
	}
	t.records++
}

func (t *tally1) merge(u *tally1) {
	if u.records == 0 {
		return
	}
	if t.records == 0 || u.first.before(t.first) {
		t.first = u.first
	}
	t.records += u.records
}

func tallyIn[K comparable](counts map[K]*tally1, key K, at recordRef) {
	t := counts[key]
	if t == nil {
		t = new(tally1)
		counts[key] = t
	}
	t.add(at)
}

func mergeTallies[K comparable](to, from map[K]*tally1) {
	for key, u := range from {
		if t := to[key]; t != nil {
			t.merge(u)
		} else {
			to[key] = u
		}
	}
}

func newDeepTable() deepTable {
	return deepTable{
		messages: map[message.Type]*tally1{}, labels: map[string]*labelTally{},
		schema: schema{shapes: map[digest.Hash]*shapeTally{}},
	}
}

func (t *deepTable) merge(u *deepTable) {
	mergeTallies(t.messages, u.messages)
	t.schema.merge(&u.schema)
	for key, l := range u.labels {
		if known := t.labels[key]; known != nil {
			known.merge(l)
		} else {
			t.labels[key] = l
		}
	}
}
