package reshape

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"sort"

	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// assignment is the inputs with the targets of their records.
type assignment struct {
	in      *source.Inputs
	log     *targetLog // nil: each record stays in its split
	records []int64    // of each target
}

// ordering is an order of the records in each target.
type ordering interface {
	// begin is called once the number of records of each target is known, before the other methods,
	// which may be called concurrently.
	begin(ctx context.Context, a assignment, buckets int) error
	// place returns the new position of record number n of a target, for an order by record number.
	place(target int, n int64) int64
	// appendKey appends the sort key of a record to dst, for an order by key: records are sorted by
	// the bytes of their keys, then by number.
	appendKey(dst []byte, r *source.Record) ([]byte, error)
	// filled is called after all records have gone through appendKey or place.
	filled() error
	// cuts returns the exclusive upper bounds of all buckets but the last; nil for an order by
	// record number.
	cuts() []cutPoint
}

// cutPoint is a point in the order of sorted records.
type cutPoint struct {
	key    []byte // prefixed with the target
	number int64
	prefix uint64 // of key
}

// shuffled is a random order.
type shuffled struct {
	seed  uint64
	perms []random.Permutation
}

func (s *shuffled) begin(_ context.Context, a assignment, _ int) error {
	for i, records := range a.records {
		s.perms = append(s.perms, random.NewPermutation(records, random.Key(s.seed, uint64(i))))
	}
	return nil
}

// find returns the number of the record at a position: the inverse of place.
func (s *shuffled) find(target int, place int64) int64 { return s.perms[target].Find(place) }

func (s *shuffled) place(target int, n int64) int64                        { return s.perms[target].At(n) }
func (s *shuffled) appendKey(dst []byte, _ *source.Record) ([]byte, error) { return dst, nil }
func (s *shuffled) filled() error                                          { return nil }
func (s *shuffled) cuts() []cutPoint                                       { return nil }

// unchanged keeps records in their existing order; it is for more targets than can be written at
// the same time.
type unchanged struct{}

func (unchanged) begin(context.Context, assignment, int) error           { return nil }
func (unchanged) place(_ int, n int64) int64                             { return n }
func (unchanged) appendKey(dst []byte, _ *source.Record) ([]byte, error) { return dst, nil }
func (unchanged) filled() error                                          { return nil }
func (unchanged) cuts() []cutPoint                                       { return nil }

// appendTarget appends the target, the prefix of all sort keys.
func appendTarget(dst []byte, target int) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(target))
}

// bucketOf returns the bucket that a record belongs to, given the cuts.
func bucketOf(cuts []cutPoint, key []byte, number int64) int {
	first := spill.Prefix(key)
	return sort.Search(len(cuts), func(i int) bool {
		c := &cuts[i]
		if first != c.prefix {
			return first < c.prefix
		}
		return cmp.Or(bytes.Compare(key, c.key), cmp.Compare(number, c.number)) < 0
	})
}
