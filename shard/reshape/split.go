package reshape

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// ResplitOptions are the options of Resplit. At most one of ByHash, Stratify, Together and List may
// be set. Without them, a record's split is determined by a hash of its bytes: equal records stay
// together, and adding or removing records does not move others.
type ResplitOptions struct {
	Options
	// Splits are the splits and their shares, in the order of the new set. Required unless List is
	// set.
	Splits []shard.SplitShare
	// ByHash is the key of a feature whose value alone determines the split, by a hash: all records
	// with the same value stay together, and other records have no influence. The shares are
	// approximate, and are shares of the values, not the records.
	ByHash string
	// Stratify is the key of a feature, each value of which is split in the ratio of the shares:
	// exactly to within one record per split if records have one value each. A record with several
	// values, such as the classes of the objects of an image, counts for each of them, once; they
	// are split by iterative stratification (Sechidis et al. 2011), the values with the fewest
	// records first, as closely as the other values of their records allow.
	Stratify string
	// Together is the key of a feature whose values must not be divided between splits, such as a
	// patient or a video. Values are assigned in a random order so that the shares are met as
	// closely as the sizes of the values allow.
	Together string
	// List is the split of each key; a record's key is the value of its feature Key. Each record
	// must have a key in the list, and each key in the list a record.
	List map[string]string
	// Key is the feature with the keys of List: text or an integer. Default: image/filename.
	Key string
}

// maxTargets is the maximum number of splits.
const maxTargets = 250

// defaultSplitKey is the feature by which `convert images` identifies a sample.
const defaultSplitKey = imagekey.Filename

// leakAdvice advises how to keep copies of an image in the same split.
func leakAdvice(in *source.Inputs) string {
	if !slices.ContainsFunc(in.Described.Features, func(f manifest.Feature) bool { return f.Key == manifest.CopyKey }) {
		return ""
	}
	return fmt.Sprintf("the records have augmented copies (%s): copies of one image may end up in different splits, a leak; %s %s keeps them in one", manifest.CopyKey, optname.ResplitOptionsTogether, defaultSplitKey)
}

// Resplit makes a new set in the directory out from all records, whatever splits they were in, with
// the splits given by the options. Records keep their order within each split. The same inputs,
// options and seed give the same set.
//
// All records without the feature of ByHash, Stratify or Together count as having the same separate
// value. It is an error if no record has the feature.
func Resplit(ctx context.Context, in []string, out string, o ResplitOptions) (*Report, error) {
	v := newVerb("split")
	how, err := o.check()
	if err != nil {
		return nil, err
	}
	if how.name == "" || how.name == "stratify" {
		v.Advice = leakAdvice
	}
	by := new(byFeature)
	option := how.name // that records the key
	switch how.name {
	case "list":
		v.Splits = slices.Compact(slices.Sorted(maps.Values(o.List)))
		v.Options, option = map[string]any{"list": hashOfList(o.List)}, "key"
	default:
		v.Options = map[string]any{"splits": shares.FormatSplits(o.Splits)}
		for _, s := range o.Splits {
			v.Splits = append(v.Splits, s.Name)
		}
	}
	if how.key != "" {
		v.Resolve = func(ctx context.Context, in *source.Inputs) (err error) {
			by.key, err = in.Feature(ctx, how.field, how.key)
			v.Options[option] = by.key
			return err
		}
	}
	v.Prepare = func(ctx context.Context, in *source.Inputs, _ *setdir.Dir) error {
		var err error
		by.field, by.total = how.field, in.Records()
		switch how.name {
		case "":
			v.Chooser = &contentSplit{o.Splits, o.Seed}
		case "by_hash":
			v.Chooser = &hashSplit{by, o.Splits, o.Seed}
		case "stratify":
			v.Chooser, err = newStratifiedSplit(ctx, in, by, &o)
		case "together":
			v.Chooser, err = newGroupSplit(ctx, in, by, &o)
		case "list":
			v.Chooser = newListSplit(by, v.Splits, o.List)
		}
		return err
	}
	return rearrange.Make(ctx, in, out, &o.Options, v)
}

// splitting is the selected way of splitting.
type splitting struct {
	name  string       // name of the option in the manifest
	field optname.Name // option that gives the feature's key
	key   string
}

// check validates the options and returns the way of splitting.
func (o *ResplitOptions) check() (splitting, error) {
	var ways []splitting
	for _, w := range []splitting{
		{"by_hash", optname.ResplitOptionsByHash, o.ByHash},
		{"stratify", optname.ResplitOptionsStratify, o.Stratify},
		{"together", optname.ResplitOptionsTogether, o.Together},
	} {
		if w.key != "" {
			ways = append(ways, w)
		}
	}
	if o.List != nil {
		key := o.Key
		if key == "" {
			key = defaultSplitKey
		}
		ways = append(ways, splitting{"list", optname.ResplitOptionsKey, key})
	} else if o.Key != "" {
		return splitting{}, source.OptionError(optname.ResplitOptionsKey, "it names the feature that %s goes by, which is not given", optname.ResplitOptionsList)
	}
	switch {
	case len(ways) > 1:
		return splitting{}, source.OptionError(ownOptions["split"][ways[0].name], "it excludes %s", ownOptions["split"][ways[1].name])
	case o.List != nil && len(o.Splits) > 0:
		return splitting{}, source.OptionError(optname.ResplitOptionsSplits, "the list says which splits there are")
	case o.List != nil:
		return ways[0], checkList(o.List)
	case len(o.Splits) == 0:
		return splitting{}, source.OptionError(optname.ResplitOptionsSplits, "want the splits and their shares, such as train=0.9,val=0.1")
	}
	if err := shares.CheckSplits(o.Splits); err != nil {
		return splitting{}, source.OptionError(optname.ResplitOptionsSplits, "%v", err)
	}
	if len(o.Splits) > maxTargets {
		return splitting{}, source.OptionError(optname.ResplitOptionsSplits, "%d splits are too many: want %d at most", len(o.Splits), maxTargets)
	}
	if len(ways) == 1 {
		return ways[0], nil
	}
	return splitting{}, nil
}

// contentSplit splits by a hash of the record.
type contentSplit struct {
	splits []shard.SplitShare
	seed   uint64
}

func (s *contentSplit) Look(r *source.Record) (digest.Hash, error) {
	return digest.Hash{Lo: digest.Of(r.Data).Seeded(s.seed, forSplit)}, nil
}

func (s *contentSplit) Choose(_ int64, _ int, m digest.Hash) (int, error) {
	return shares.ShareOf(m.Lo, s.splits), nil
}

// forSplit separates these hashes from others of the same seed.
const forSplit = "split"

// byFeature hashes the value of one feature.
type byFeature struct {
	key   string
	field optname.Name
	total int64       // number of records
	found atomic.Bool // whether any record has the feature
}

func (b *byFeature) Look(r *source.Record) (digest.Hash, error) {
	value, err := b.value(r)
	return digest.OfValue(value), err
}

// value returns the feature of a record, without values if it is missing.
func (b *byFeature) value(r *source.Record) (tfrecord.Feature, error) {
	e, err := r.Example()
	if err != nil {
		return tfrecord.Feature{}, err
	}
	value, ok := e.Get(b.key)
	if ok && !b.found.Load() {
		b.found.Store(true)
	}
	return value, nil
}

// check is called after all records have been looked at; it returns an error if none has the
// feature.
func (b *byFeature) check() error {
	if !b.found.Load() {
		return source.OptionError(b.field, "no record has a feature %q", b.key)
	}
	return nil
}

// hashSplit splits by a hash of the feature's value.
type hashSplit struct {
	*byFeature
	splits []shard.SplitShare
	seed   uint64
}

func (s *hashSplit) Choose(n int64, _ int, m digest.Hash) (int, error) {
	if n == s.total-1 {
		if err := s.check(); err != nil {
			return source.Drop, err
		}
	}
	return shares.ShareOf(m.Seeded(s.seed, forSplit), s.splits), nil
}
