package own

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// Convert converts the samples of a source into a set in the directory out.
func Convert(ctx context.Context, src Source, out string, o Options) (*plan.Summary, error) {
	return plan.Run(ctx, New(src, o), out)
}

// New returns the input of Convert.
func New(src Source, o Options) plan.Input { return &input{src: src, o: &o} }

// input is the samples of a source before planning.
type input struct {
	src     Source
	o       *Options
	samples []Sample
}

// Shared implements plan.Input.
func (in *input) Shared() *plan.Options { return &in.o.Options }

// Close implements plan.Input.
func (in *input) Close() {}

// Scan implements plan.Input: it lists the samples.
func (in *input) Scan(ctx context.Context, out string) error {
	if err := in.o.complete(out); err != nil {
		return err
	}
	stated := 0
	for s, err := range in.src.List(ctx) {
		if err == nil {
			err = s.check()
		}
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("list samples: %w", err)
		}
		if s.Split != "" {
			stated++
		}
		in.samples = append(in.samples, s)
	}
	slices.SortFunc(in.samples, func(a, b Sample) int { return strings.Compare(a.Key, b.Key) })
	for i := range in.samples[min(1, len(in.samples)):] {
		if in.samples[i].Key == in.samples[i+1].Key {
			return fmt.Errorf("list samples: %q: %w", in.samples[i].Key, errTwice)
		}
	}
	if stated > 0 && stated < len(in.samples) {
		return fmt.Errorf("list samples: %d of %s state a split: state that of all or of none", stated, plural.Of(int64(len(in.samples)), "sample"))
	}
	if stated > 0 && len(in.o.Splits) > 0 {
		return optionError("Splits", "the samples state their splits: leave it out")
	}
	if len(in.samples) == 0 {
		return errors.New("list samples: the source lists none")
	}
	return nil
}

// check returns an error for a sample that no set can have.
func (s *Sample) check() error {
	switch {
	case s.Key == "" || !utf8.ValidString(s.Key):
		return fmt.Errorf("%q is not a key: want UTF-8 that is not empty", s.Key)
	case s.Size < 0:
		return fmt.Errorf("%q: the size %d is negative", s.Key, s.Size)
	case s.Split != "":
		return shard.CheckSplit(s.Split)
	}
	return nil
}

// Plan implements plan.Input.
func (in *input) Plan(_ context.Context, before *plan.Previous) (plan.Source, error) {
	s := &source{src: in.src, o: in.o, stated: in.samples[0].Split != ""}
	members := s.divide(in.limited())
	names := slices.Sorted(maps.Keys(members))
	if !s.stated {
		names = names[:0]
		for _, share := range in.o.SplitShares() {
			names = append(names, share.Name)
		}
	}
	if err := in.o.CheckShardsOf(names); err != nil {
		return nil, err
	}
	for _, name := range names {
		if len(members[name]) == 0 {
			in.o.Notef("split %s gets no samples and is left out", name)
			continue
		}
		s.planSplit(name, members[name], in.o.ExistingShards(before, name))
	}
	return s, nil
}

// limited returns the samples that Options.Limit keeps, by key.
func (in *input) limited() []Sample {
	if in.o.Limit == 0 || in.o.Limit >= int64(len(in.samples)) {
		return in.samples
	}
	kept := make([]Sample, in.o.Limit)
	for i, at := range plan.Smallest(hashes(in.samples, in.o.Seed, shares.ForLimit), len(kept)) {
		kept[i] = in.samples[at]
	}
	return kept
}

// hashes returns the hash of each sample's key.
func hashes(samples []Sample, seed uint64, p shares.Purpose) []uint64 {
	h := shares.NewHasher(seed, p)
	list := make([]uint64, len(samples))
	for i := range samples {
		list[i] = h.Key(samples[i].Key)
	}
	return list
}

// sizeOf returns the sum of the sizes of samples.
func sizeOf(samples []Sample) (bytes int64) {
	for i := range samples {
		bytes += samples[i].Size
	}
	return bytes
}

// source is a planned conversion.
type source struct {
	src     Source
	o       *Options
	stated  bool // samples state their splits
	planned []plan.Shard
	samples [][]Sample // of each shard, in order
}

// divide returns the samples of each split, by key.
func (s *source) divide(samples []Sample) map[string][]Sample {
	divided := s.o.SplitShares()
	of := hashes(samples, s.o.Seed, shares.ForSplit)
	members := map[string][]Sample{}
	for i, one := range samples {
		name := one.Split
		if !s.stated {
			name = divided[shares.ShareOf(of[i], divided)].Name
		}
		members[name] = append(members[name], one)
	}
	return members
}

// planSplit assigns the samples of a split to shards.
func (s *source) planSplit(split string, members []Sample, existing int) {
	count := s.o.CountShards(split, int64(len(members)), "sample", func() int64 { return sizeOf(members) }, existing)
	byKey := func(i, j int) int { return i - j } // as they are sorted
	dealt := plan.Deal(hashes(members, s.o.Seed, shares.ForShard), hashes(members, s.o.Seed, shares.ForOrder), count, s.o.Even, byKey)
	for i, indexes := range dealt {
		samples := make([]Sample, len(indexes))
		for n, at := range indexes {
			samples[n] = members[at]
		}
		s.planned = append(s.planned, plan.Shard{
			Name:    shard.Name{Dataset: s.o.Name, Split: split, Index: i, Count: count},
			Samples: int64(len(samples)), Bytes: sizeOf(samples),
		})
		s.samples = append(s.samples, samples)
	}
}

// Layout implements plan.Source.
func (s *source) Layout() plan.Layout {
	table := s.o.table(s.o.splitsBy(s.stated))
	options := table.Recorded()
	options[plan.OptionSource] = "program"
	s.o.RecordShards(options, s.planned)
	return plan.Layout{Shards: s.planned, Options: options, Table: table}
}

// Describe implements plan.Source.
func (s *source) Describe(m *manifest.Manifest) {
	m.Records = manifest.RecordExample
	m.Features = s.o.Features
	m.Labels, m.Supervised = append([]string{}, s.o.Labels...), s.o.Supervised
}

// LabelCounts implements plan.Source.
func (s *source) LabelCounts(byID map[int32]int64) map[string]int64 {
	if len(s.o.Labels) == 0 {
		return nil
	}
	return plan.CountsByName(byID, s.o.Labels)
}

// Keys implements plan.Source.
func (s *source) Keys(shard int) []string {
	keys := make([]string, len(s.samples[shard]))
	for i, one := range s.samples[shard] {
		keys[i] = one.Key
	}
	return keys
}

// Outline implements plan.Source: keys and versions are all that is known of samples.
func (s *source) Outline(shard int) (identity []byte) {
	for i := range s.samples[shard] {
		identity = s.samples[shard][i].identity(identity)
	}
	return identity
}

// identity appends the identity of a sample.
func (s *Sample) identity(dst []byte) []byte {
	for _, part := range []string{s.Key, s.Version} {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// Known implements plan.Source. It reads nothing.
func (s *source) Known(_ context.Context, shard int, bad []setdir.BadSample) ([]byte, []setdir.BadSample, bool, error) {
	return s.Outline(shard), bad, false, nil
}

// The state of a source is its listing, so there is nothing to save between runs, and no files.

// Attach implements plan.Source.
func (s *source) Attach(*setdir.Dir) {}

// Place implements plan.Source.
func (s *source) Place() string { return "" }

// Remember implements plan.Source.
func (s *source) Remember() {}

// Files implements plan.Source.
func (s *source) Files() iter.Seq[string] { return func(func(string) bool) {} }

// Recall implements plan.Source.
func (s *source) Recall([]int) *setdir.Recall { return nil }

// Inputs implements plan.Source.
func (s *source) Inputs(int) []setdir.Input { return nil }

// Prepare implements plan.Source.
func (s *source) Prepare(context.Context, []int, bool) error { return nil }

// Rest implements plan.Source.
func (s *source) Rest() {}

// AnyOrder implements plan.Source.
func (s *source) AnyOrder() bool { return true }
