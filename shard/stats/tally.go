package stats

import (
	"cmp"
	"slices"
)

// tallySize is the maximum number of values that a tally counts.
const tallySize = 1024

// tally counts how often values occur: exactly while there are at most tallySize distinct values,
// and with a known error for the most frequent ones above that.
//
// When it is full it subtracts the median of its counts from all of them and drops those that were
// not above it: frequent values stay, and each count is too low by at most what was subtracted,
// which is at most 1/512 of everything counted. It is the summary of Misra and Gries (1982) in the
// form of Anderson et al. (A High-Performance Algorithm for Identifying Frequent Items in Data
// Streams, 2017), merged as in Agarwal et al. (Mergeable Summaries, 2012).
type tally[K cmp.Ordered] struct {
	index  map[K]int32 // into counts
	counts []counted[K]
	taken  int64 // subtracted from each count, at most
	spare  []int64
}

// counted is a value and its count.
type counted[K cmp.Ordered] struct {
	key K
	n   int64
}

// full reports whether the tally has as many values as it can hold.
func (t *tally[K]) full() bool { return len(t.counts) >= tallySize }

// insert adds a value that is not in the tally, with count n.
func (t *tally[K]) insert(key K, n int64) {
	if t.index == nil {
		t.index = make(map[K]int32)
	}
	t.index[key] = int32(len(t.counts))
	t.counts = append(t.counts, counted[K]{key, n})
}

// purge makes room for at least half of the values.
func (t *tally[K]) purge() {
	t.spare = t.spare[:0]
	for _, c := range t.counts {
		t.spare = append(t.spare, c.n)
	}
	slices.Sort(t.spare)
	median := t.spare[len(t.spare)/2]
	t.taken += median
	kept := t.counts[:0]
	clear(t.index)
	for _, c := range t.counts {
		if c.n > median {
			t.index[c.key] = int32(len(kept))
			kept = append(kept, counted[K]{c.key, c.n - median})
		}
	}
	clear(t.counts[len(kept):]) // releases the dropped texts
	t.counts = kept
}

// merge adds what another tally counted. It returns false if there was not enough room, and some
// values were dropped.
func (t *tally[K]) merge(u *tally[K]) (room bool) {
	t.taken += u.taken
	for _, c := range u.counts {
		if i, known := t.index[c.key]; known {
			t.counts[i].n += c.n
		} else {
			t.insert(c.key, c.n)
		}
	}
	room = len(t.counts) <= tallySize
	for len(t.counts) > tallySize {
		t.purge()
	}
	return room
}

// most returns the values counted most often, at most n and in that order, without those whose true
// count may be twice the count or more.
func (t *tally[K]) most(n int) []counted[K] {
	list := make([]counted[K], 0, len(t.counts))
	for _, c := range t.counts {
		if c.n > t.taken {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b counted[K]) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.key, b.key))
	})
	return list[:min(n, len(list))]
}

// together returns the number of distinct values of two tallies.
func (t *tally[K]) together(u *tally[K]) int {
	n := len(t.counts)
	for _, c := range u.counts {
		if _, known := t.index[c.key]; !known {
			n++
		}
	}
	return n
}
