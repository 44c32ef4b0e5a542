package stats

import (
	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/jsontext"
)

// maxTopText is the maximum length of values that are counted individually, in bytes.
const maxTopText = 128

// Texts describes bytes values.
type Texts struct {
	// Exact means that Distinct and the counts are exact, as they are for up to 1024 distinct
	// values of up to 128 bytes.
	Exact bool `json:"exact"`
	// Distinct is the number of distinct values; see DistinctError.
	Distinct int64 `json:"distinct"`
	// Top are the most frequent values, with counts as in Numbers.Top. Values that are not text are
	// formatted as by [jsontext.Readable].
	Top      []Top[string] `json:"top"`
	TopError int64         `json:"top_error"`
	// Long counts values of more than 128 bytes, which are not in Top.
	Long int64 `json:"long,omitempty"`

	count  int64
	counts []counted[string]
}

// texts is Texts under construction.
type texts struct {
	count    int64
	known    tally[string]
	distinct *hyperloglog.Sketch // nil while known has all values
	long     int64
}

// add adds a value.
func (t *texts) add(x []byte) {
	t.count++
	if t.distinct != nil {
		t.distinct.InsertHash(xxh3.Hash(x))
	}
	if len(x) > maxTopText {
		t.long++
		if t.distinct == nil {
			t.startEstimate()
			t.distinct.InsertHash(xxh3.Hash(x))
		}
		return
	}
	if i, known := t.known.index[string(x)]; known {
		t.known.counts[i].n++
		return
	}
	if t.known.full() {
		if t.distinct == nil {
			t.startEstimate()
			t.distinct.InsertHash(xxh3.Hash(x))
		}
		t.known.purge()
	}
	t.known.insert(string(x), 1)
}

func (t *texts) startEstimate() {
	t.distinct = hyperloglog.NewNoSparse()
	for _, c := range t.known.counts {
		t.distinct.InsertHash(xxh3.HashString(c.key))
	}
}

// merge adds another, which must not be used afterwards.
func (t *texts) merge(u *texts) {
	t.count += u.count
	t.long += u.long
	if t.distinct != nil || u.distinct != nil || t.known.together(&u.known) > tallySize {
		if t.distinct == nil {
			t.startEstimate()
		}
		if u.distinct == nil {
			u.startEstimate()
		}
		_ = t.distinct.Merge(u.distinct) // cannot fail: same parameters
	}
	t.known.merge(&u.known)
}

func (t *texts) texts(top int) *Texts {
	if t == nil {
		return nil
	}
	s := &Texts{
		Exact: t.distinct == nil, Distinct: int64(len(t.known.counts)), Top: []Top[string]{},
		TopError: t.known.taken, Long: t.long, count: t.count, counts: t.known.most(tallySize),
	}
	if t.distinct != nil {
		s.Distinct = int64(t.distinct.Estimate())
	}
	for _, c := range s.counts[:min(top, len(s.counts))] {
		s.Top = append(s.Top, Top[string]{jsontext.Readable(c.key), c.n})
	}
	return s
}
