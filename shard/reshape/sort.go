package reshape

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// sorted is the order by the values of a feature.
type sorted struct {
	key    string
	kind   atomic.Int32 // of the values; 0 before the first
	points []cutPoint
}

// sampledPerBucket is the number of records sampled per bucket to find the cuts between buckets;
// the sizes of buckets are then off by about an eighth.
const sampledPerBucket = 64

// maxSortValue is the length of the longest value that records can be sorted by, in bytes: it is
// stored with each record.
const maxSortValue = 1 << 20

// maxCutKey is the maximum length of a cut point's key, which need not be the key of a record.
const maxCutKey = 256

// newCutPoint returns the cut point of a record, and keeps nothing of a longer key.
func newCutPoint(key []byte, r *source.Record) cutPoint {
	key = key[:min(len(key), maxCutKey)]
	return cutPoint{bytes.Clone(key), r.Number, spill.Prefix(key)}
}

// begin samples the records to find the cuts.
func (s *sorted) begin(ctx context.Context, a assignment, buckets int) error {
	s.points = []cutPoint{}
	if buckets <= 1 {
		return nil
	}
	sample, ok, err := s.probe(ctx, a, buckets)
	if err == nil && !ok {
		sample, err = s.sampleAll(ctx, a, buckets)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(sample, func(x, y cutPoint) int {
		return cmp.Or(bytes.Compare(x.key, y.key), cmp.Compare(x.number, y.number))
	})
	for i := 1; i < buckets; i++ {
		if at := i * len(sample) / buckets; at > 0 {
			s.points = append(s.points, sample[at])
		}
	}
	return nil
}

// sampleAll reads all records to sample some.
func (s *sorted) sampleAll(ctx context.Context, a assignment, buckets int) (sample []cutPoint, err error) {
	share := float64(buckets*sampledPerBucket) / float64(a.in.Records())
	least := uint64(math.MaxUint64)
	if share < 1 {
		least = uint64(share * (1 << 63) * 2)
	}
	workers := a.in.Workers
	in := a.in.Stream()
	defer in.Close()
	a.in.Plan()
	type sampled struct {
		*source.Block
		points []cutPoint
	}
	err = par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*sampled) error) error {
			return a.log.deal(ctx, in, nil, func(b *source.Block) error { return give(&sampled{Block: b}) })
		},
		func(ctx context.Context, b *sampled) error {
			if err := b.Check(ctx, a.in.MaxRecord); err != nil {
				return err
			}
			return b.EachRecord(ctx, func(i int, rec *source.Record) error {
				if random.Key(uint64(rec.Number)) > least {
					return nil
				}
				key, err := s.appendKey(appendTarget(nil, b.Target(i)), rec)
				b.points = append(b.points, newCutPoint(key, rec))
				return err
			})
		},
		func(b *sampled) error {
			sample = append(sample, b.points...)
			a.in.Done(b.Block)
			in.Put(b.Block)
			return nil
		})
	if err == nil && a.log != nil { // it will be read again
		err = a.log.flush()
	}
	return sample, err
}

func (s *sorted) cuts() []cutPoint       { return s.points }
func (s *sorted) place(int, int64) int64 { return 0 }

// filled returns an error if no record has the feature.
func (s *sorted) filled() error {
	if s.kind.Load() == 0 {
		return source.OptionError(optname.ReshardOptionsSortBy, "no record has a value of feature %q", s.key)
	}
	return nil
}

// appendKey encodes the first value so that the encodings sort bytewise in the order of the values:
// a zero byte, then an integer or a float from smallest to largest with NaN last, or bytes. A
// missing value is a one byte.
func (s *sorted) appendKey(dst []byte, r *source.Record) ([]byte, error) {
	v, err := s.valueOf(r)
	if err != nil {
		return dst, err
	}
	if kind := int32(v.kind); kind != 0 && !s.kind.CompareAndSwap(0, kind) && s.kind.Load() != kind {
		return dst, &source.UnfitError{Err: fmt.Errorf("%s: %w", optname.ReshardOptionsSortBy, r.Locate(fmt.Errorf("feature %q has values of several kinds, which have no order", s.key)))}
	}
	if len(v.bytes) > maxSortValue {
		return dst, &source.UnfitError{Err: fmt.Errorf("%s: %w", optname.ReshardOptionsSortBy, r.Locate(fmt.Errorf("feature %q has %d bytes, more than the %d that can be sorted by", s.key, len(v.bytes), maxSortValue)))}
	}
	return v.append(dst), nil
}
