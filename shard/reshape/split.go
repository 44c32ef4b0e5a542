package reshape

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/digest"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/shares"
	"github.com/tfrec/tfrec/shard"
)

// ResplitOptions says how Resplit deals records to splits. At most one of ByHash,
// Stratify, Together and List is given. With none of them a record's split is
// told by a hash of its bytes: records that are the same stay together, and
// others that come or go move none.
type ResplitOptions struct {
	ReshapeOptions
	// Splits and their shares, in the order of the new set. Needed for all but List.
	Splits []shard.SplitShare
	// ByHash is the key of a feature whose value alone tells the split, by a
	// hash: all records of a value stay together, and no other record matters.
	// The shares are those of the values, about.
	ByHash string
	// Stratify is the key of a feature of which each value is split in the
	// ratio of the shares, exactly within one record for each split.
	Stratify string
	// Together is the key of a feature of which no value may be in two splits,
	// such as a patient or a video. Values are dealt in a random order so that
	// the shares are met as closely as the sizes of the values allow.
	Together string
	// List gives the split of each key: the value of the feature Key. Each
	// record must have a key of the list, and each key of the list a record.
	List map[string]string
	// Key is the feature that holds the keys of List: text, or a number.
	// Default: image/filename.
	Key string
}

// defaultSplitKey is what `convert images` knows a sample by.
const defaultSplitKey = "image/filename"

// leakAdvice says how copies of an image stay out of other splits than its own.
func leakAdvice(in *inputs) string {
	if !slices.ContainsFunc(in.described.Features, func(f shard.Feature) bool { return f.Key == shard.CopyKey }) {
		return ""
	}
	return fmt.Sprintf("the records have augmented copies (%s): copies of one image may end up in different splits, a leak; ResplitOptions.Together %s keeps them in one", shard.CopyKey, defaultSplitKey)
}

// Resplit makes a new set in the directory out of all records, whatever splits they
// were in, with the splits that the options say. Records keep their order
// within each. The same inputs, options and seed give the same set.
//
// A record that lacks the feature of ByHash, Stratify or Together counts as
// one with a value of its own, the same for all that lack it; that no record
// has the feature is an error.
func Resplit(ctx context.Context, in []string, out string, o ResplitOptions) (*ReshapeReport, error) {
	v := &verb{name: "split"}
	how, err := o.check()
	if err != nil {
		return nil, err
	}
	if how.name == "" || how.name == "stratify" {
		v.advice = leakAdvice
	}
	by := &byFeature{key: how.key}
	switch how.name {
	case "list":
		v.splits = slices.Compact(slices.Sorted(maps.Values(o.List)))
		v.options = map[string]any{"list": hashOfList(o.List), "key": how.key}
	default:
		v.options = map[string]any{"splits": shares.FormatSplits(o.Splits)}
		for _, s := range o.Splits {
			v.splits = append(v.splits, s.Name)
		}
		if how.name != "" {
			v.options[how.name] = how.key
		}
	}
	v.prepare = func(ctx context.Context, in *inputs, _ *setdir.Dir) error {
		if how.key != "" {
			if err := in.checkFeature(how.field, how.key); err != nil {
				return err
			}
		}
		by.field, by.total = how.field, in.records()
		var err error
		switch how.name {
		case "":
			v.chooser = &contentSplit{o.Splits, o.Seed}
		case "by_hash":
			v.chooser = &hashSplit{by, o.Splits, o.Seed}
		case "stratify":
			v.chooser, err = newStratifiedSplit(ctx, in, by, &o)
		case "together":
			v.chooser, err = newGroupSplit(ctx, in, by, &o)
		case "list":
			v.chooser = newListSplit(by, v.splits, o.List)
		}
		return err
	}
	return reshape(ctx, in, out, &o.ReshapeOptions, v)
}

// splitting is the way that was chosen.
type splitting struct {
	name  string // of the option in the manifest
	field string // that the feature's key comes from
	key   string
}

// check finds the way that is asked for.
func (o *ResplitOptions) check() (splitting, error) {
	var ways []splitting
	for _, w := range []splitting{
		{"by_hash", "ResplitOptions.ByHash", o.ByHash},
		{"stratify", "ResplitOptions.Stratify", o.Stratify},
		{"together", "ResplitOptions.Together", o.Together},
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
		ways = append(ways, splitting{"list", "ResplitOptions.Key", key})
	} else if o.Key != "" {
		return splitting{}, optionError("ResplitOptions.Key", "it names the feature that ResplitOptions.List goes by, which is not given")
	}
	switch {
	case len(ways) > 1:
		return splitting{}, optionError(optionNames[ways[0].name], "it excludes %s", optionNames[ways[1].name])
	case o.List != nil && len(o.Splits) > 0:
		return splitting{}, optionError("ResplitOptions.Splits", "the list says which splits there are")
	case o.List != nil:
		return ways[0], checkList(o.List)
	case len(o.Splits) == 0:
		return splitting{}, optionError("ResplitOptions.Splits", "want the splits and their shares, such as train=0.9,val=0.1")
	}
	if err := shares.CheckSplits(o.Splits); err != nil {
		return splitting{}, optionError("ResplitOptions.Splits", "%v", err)
	}
	if len(o.Splits) > maxTargets {
		return splitting{}, optionError("ResplitOptions.Splits", "%d splits are too many: want %d at most", len(o.Splits), maxTargets)
	}
	if len(ways) == 1 {
		return ways[0], nil
	}
	return splitting{}, nil
}

// contentSplit goes by a hash of the record.
type contentSplit struct {
	splits []shard.SplitShare
	seed   uint64
}

func (s *contentSplit) look(r *record) (digest.Hash, error) {
	return digest.Hash{Lo: digest.Of(r.data).Seeded(s.seed, forSplit)}, nil
}

func (s *contentSplit) choose(_ int64, _ int, m digest.Hash) (int, error) {
	return shares.ShareOf(m.Lo, s.splits), nil
}

// forSplit is the purpose of the hashes here.
const forSplit = "split"

// byFeature looks at the value of one feature.
type byFeature struct {
	key, field string
	total      int64       // records
	found      atomic.Bool // a record has the feature
}

func (b *byFeature) look(r *record) (digest.Hash, error) {
	e, err := r.example()
	if err != nil {
		return digest.Hash{}, err
	}
	value, ok := e.Get(b.key)
	if ok && !b.found.Load() {
		b.found.Store(true)
	}
	return digest.OfValue(value), nil
}

// check is called when all records were looked at.
func (b *byFeature) check() error {
	if !b.found.Load() {
		return optionError(b.field, "no record has a feature %q", b.key)
	}
	return nil
}

// hashSplit goes by a hash of the feature's value.
type hashSplit struct {
	*byFeature
	splits []shard.SplitShare
	seed   uint64
}

func (s *hashSplit) choose(n int64, _ int, m digest.Hash) (int, error) {
	if n == s.total-1 {
		if err := s.check(); err != nil {
			return drop, err
		}
	}
	return shares.ShareOf(m.Seeded(s.seed, forSplit), s.splits), nil
}
