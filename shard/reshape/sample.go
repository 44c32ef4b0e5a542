package reshape

import (
	"context"
	"fmt"
	"math"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// SampleOptions are the options of Sample. Exactly one of Count and Share must be set.
type SampleOptions struct {
	Options
	// Count is the number of records; more than the inputs have is an error.
	Count int64
	// Share is the share of the records, above 0 and at most 1. The resulting number is rounded.
	Share float64
}

// Sample makes a new set in the directory out from a random sample of the records of all splits, in
// order. The sample is determined by Seed; all samples of the same size are equally likely.
func Sample(ctx context.Context, in []string, out string, o SampleOptions) (*Report, error) {
	v := newVerb("sample")
	v.Chooser = newSampler(&o)
	switch {
	case o.Count < 0:
		return nil, source.OptionError(optname.SampleOptionsCount, "%d is negative", o.Count)
	case !(o.Share >= 0 && o.Share <= 1):
		return nil, source.OptionError(optname.SampleOptionsShare, "%g is not between 0 and 1", o.Share)
	case o.Count > 0 && o.Share > 0:
		return nil, source.OptionError(optname.SampleOptionsCount, "it excludes %s", optname.SampleOptionsShare)
	case o.Count > 0:
		v.Options = map[string]any{"count": o.Count}
	case o.Share > 0:
		v.Options = map[string]any{"share": o.Share}
	default:
		return nil, source.OptionError(optname.SampleOptionsCount, "want how many records to take, or %s", optname.SampleOptionsShare)
	}
	return rearrange.Make(ctx, in, out, &o.Options, v)
}

// forSample separates these random numbers from others of the same seed.
const forSample = 0x73616d706c65

// sampler chooses each record with probability wanted/left (Fan, Muller, Rezucha 1962; Knuth, The
// Art of Computer Programming 2, Algorithm 3.4.2 S).
type sampler struct {
	o            *SampleOptions
	draws        random.Draws
	left, wanted int64
}

func newSampler(o *SampleOptions) *sampler {
	return &sampler{o: o, draws: random.Draws(random.Key(o.Seed, forSample))}
}

func (s *sampler) Begin(total int64) error {
	s.left, s.wanted = total, s.o.Count
	if s.o.Share > 0 {
		s.wanted = int64(math.Round(s.o.Share * float64(total)))
	}
	if s.wanted > total {
		return fmt.Errorf("%s %d: there are only %s", optname.SampleOptionsCount, s.wanted, plural.Of(total, "record"))
	}
	return nil
}

func (*sampler) Look(*source.Record) (digest.Hash, error) { return digest.Hash{}, nil }

func (s *sampler) Choose(n int64, split int, _ digest.Hash) (int, error) {
	chosen := s.wanted > 0 && s.draws.Exactly(n, uint64(s.left)) < uint64(s.wanted)
	s.left--
	if !chosen {
		return source.Drop, nil
	}
	s.wanted--
	return split, nil
}
