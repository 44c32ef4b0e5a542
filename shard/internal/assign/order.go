package assign

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

// Assignment is the inputs with the targets of their records.
type Assignment struct {
	In      *source.Inputs
	Log     *TargetLog // nil: each record stays in its split
	Records []int64    // of each target
}

// Ordering is an order of the records in each target.
type Ordering interface {
	// Begin is called once the number of records of each target is known, before the other methods,
	// which may be called concurrently.
	Begin(ctx context.Context, a Assignment, buckets int) error
	// Place returns the new position of record number n of a target, for an order by record number.
	Place(target int, n int64) int64
	// AppendKey appends the sort key of a record to dst, for an order by key: records are sorted by
	// the bytes of their keys, then by number.
	AppendKey(dst []byte, r *source.Record) ([]byte, error)
	// Filled is called after all records have gone through AppendKey or Place.
	Filled() error
	// Cuts returns the exclusive upper bounds of all buckets but the last; nil for an order by
	// record number.
	Cuts() []CutPoint
}

// CutPoint is a point in the order of sorted records.
type CutPoint struct {
	key    []byte // prefixed with the target
	number int64
	prefix uint64 // of key
}

// Shuffled is a random order.
type Shuffled struct {
	// Seed determines the order.
	Seed  uint64
	perms []random.Permutation
}

// Begin implements Ordering, as do the methods below.
func (s *Shuffled) Begin(_ context.Context, a Assignment, _ int) error {
	for i, records := range a.Records {
		s.perms = append(s.perms, random.NewPermutation(records, random.Key(s.Seed, uint64(i))))
	}
	return nil
}

// Find returns the number of the record at a position: the inverse of Place.
func (s *Shuffled) Find(target int, place int64) int64 { return s.perms[target].Find(place) }

func (s *Shuffled) Place(target int, n int64) int64                        { return s.perms[target].At(n) }
func (s *Shuffled) AppendKey(dst []byte, _ *source.Record) ([]byte, error) { return dst, nil }
func (s *Shuffled) Filled() error                                          { return nil }
func (s *Shuffled) Cuts() []CutPoint                                       { return nil }

// Unchanged keeps records in their existing order; it is for more targets than can be written at
// the same time.
type Unchanged struct{}

// Begin implements Ordering, as do the methods below.
func (Unchanged) Begin(context.Context, Assignment, int) error           { return nil }
func (Unchanged) Place(_ int, n int64) int64                             { return n }
func (Unchanged) AppendKey(dst []byte, _ *source.Record) ([]byte, error) { return dst, nil }
func (Unchanged) Filled() error                                          { return nil }
func (Unchanged) Cuts() []CutPoint                                       { return nil }

// AppendTarget appends the target, the prefix of all sort keys.
func AppendTarget(dst []byte, target int) []byte {
	return binary.BigEndian.AppendUint16(dst, uint16(target))
}

// BucketOf returns the bucket that a record belongs to, given the cuts.
func BucketOf(cuts []CutPoint, key []byte, number int64) int {
	first := spill.Prefix(key)
	return sort.Search(len(cuts), func(i int) bool {
		c := &cuts[i]
		if first != c.prefix {
			return first < c.prefix
		}
		return cmp.Or(bytes.Compare(key, c.key), cmp.Compare(number, c.number)) < 0
	})
}
