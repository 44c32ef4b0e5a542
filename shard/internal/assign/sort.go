package assign

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

// Sorted is the order by the values of a feature.
type Sorted struct {
	// Key is the key of the feature.
	Key    string
	kind   atomic.Int32 // of the values; 0 before the first
	points []CutPoint
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
func newCutPoint(key []byte, r *source.Record) CutPoint {
	key = key[:min(len(key), maxCutKey)]
	return CutPoint{bytes.Clone(key), r.Number, spill.Prefix(key)}
}

// Begin samples the records to find the cuts.
func (s *Sorted) Begin(ctx context.Context, a Assignment, buckets int) error {
	s.points = []CutPoint{}
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
	slices.SortFunc(sample, func(x, y CutPoint) int {
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
func (s *Sorted) sampleAll(ctx context.Context, a Assignment, buckets int) (sample []CutPoint, err error) {
	share := float64(buckets*sampledPerBucket) / float64(a.In.Records())
	least := uint64(math.MaxUint64)
	if share < 1 {
		least = uint64(share * (1 << 63) * 2)
	}
	workers := a.In.Workers
	in := a.In.Stream()
	defer in.Close()
	a.In.Plan()
	type sampled struct {
		*source.Block
		points []CutPoint
	}
	err = par.Map(ctx, workers, 2*workers+2,
		func(ctx context.Context, give func(*sampled) error) error {
			return a.Log.Deal(ctx, in, nil, func(b *source.Block) error { return give(&sampled{Block: b}) })
		},
		func(ctx context.Context, b *sampled) error {
			if err := b.Check(ctx, a.In.MaxRecord); err != nil {
				return err
			}
			return b.EachRecord(ctx, func(i int, rec *source.Record) error {
				if random.Key(uint64(rec.Number)) > least {
					return nil
				}
				key, err := s.AppendKey(AppendTarget(nil, b.Target(i)), rec)
				b.points = append(b.points, newCutPoint(key, rec))
				return err
			})
		},
		func(b *sampled) error {
			sample = append(sample, b.points...)
			a.In.Done(b.Block)
			in.Put(b.Block)
			return nil
		})
	if err == nil && a.Log != nil { // it will be read again
		err = a.Log.flush()
	}
	return sample, err
}

// Cuts implements Ordering.
func (s *Sorted) Cuts() []CutPoint { return s.points }

// Place is not used: this is an order by key.
func (s *Sorted) Place(int, int64) int64 { return 0 }

// Filled returns an error if no record has the feature.
func (s *Sorted) Filled() error {
	if s.kind.Load() == 0 {
		return source.OptionError(optname.ReshardOptionsSortBy, "no record has a value of feature %q", s.Key)
	}
	return nil
}

// AppendKey encodes the first value so that the encodings sort bytewise in the order of the values:
// a zero byte, then an integer or a float from smallest to largest with NaN last, or bytes. A
// missing value is a one byte.
func (s *Sorted) AppendKey(dst []byte, r *source.Record) ([]byte, error) {
	v, err := s.valueOf(r)
	if err != nil {
		return dst, err
	}
	if kind := int32(v.kind); kind != 0 && !s.kind.CompareAndSwap(0, kind) && s.kind.Load() != kind {
		return dst, &source.UnfitError{Err: fmt.Errorf("%s: %w", optname.ReshardOptionsSortBy, r.Locate(fmt.Errorf("feature %q has values of several kinds, which have no order", s.Key)))}
	}
	if len(v.bytes) > maxSortValue {
		return dst, &source.UnfitError{Err: fmt.Errorf("%s: %w", optname.ReshardOptionsSortBy, r.Locate(fmt.Errorf("feature %q has %d bytes, more than the %d that can be sorted by", s.Key, len(v.bytes), maxSortValue)))}
	}
	return v.append(dst), nil
}
