package reshape

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/splice"
	"github.com/tfrec/tfrec/tfrecord"
)

// SelectFeatures makes a new set in the directory out whose records have only the features with the
// given keys. In a key, * matches any sequence of characters; label is short for image/class/label, if
// no other key ends so. Records must be tf.train.Examples;
// the bytes of the selected features do not change. A key that no record has is an error, returned
// before anything is written.
func SelectFeatures(ctx context.Context, in []string, out string, keys []string, o Options) (*Report, error) {
	keys = slices.Clone(keys)
	rule := func(key string) (string, bool) { return key, matchesAny(keys, key) }
	return reshapeFeatures(ctx, in, out, &o, "select", keys, func() []string { return keys }, rule)
}

// DropFeatures is like SelectFeatures, but keeps all features except those with the given keys.
func DropFeatures(ctx context.Context, in []string, out string, keys []string, o Options) (*Report, error) {
	keys = slices.Clone(keys)
	rule := func(key string) (string, bool) { return key, !matchesAny(keys, key) }
	return reshapeFeatures(ctx, in, out, &o, "drop", keys, func() []string { return keys }, rule)
}

// RenameFeature renames a feature key. A * in From matches any sequence of characters, which
// replaces the * in To.
type RenameFeature struct{ From, To string }

// RenameFeatures makes a new set in the directory out in which some features have other keys; the
// first matching element of keys applies. All other bytes of the records stay the same. A key that
// no record has, or two features that would get the same key, is an error, returned before anything
// is written.
func RenameFeatures(ctx context.Context, in []string, out string, keys []RenameFeature, o Options) (*Report, error) {
	var from []string
	for _, n := range keys {
		if strings.Count(n.From, "*") > 1 || strings.Count(n.From, "*") != strings.Count(n.To, "*") {
			return nil, source.OptionError(optname.RenameFeaturesKeys, "%s=%s: want one * on both sides, or none", n.From, n.To)
		}
		from = append(from, n.From)
	}
	rule := func(key string) (string, bool) {
		for i, n := range keys {
			if matchesKey(from[i], key) {
				return RenameFeature{from[i], n.To}.rename(key), true
			}
		}
		return key, true
	}
	options := func() (options []string) {
		for i, n := range keys {
			options = append(options, from[i]+"="+n.To)
		}
		return options
	}
	return reshapeFeatures(ctx, in, out, &o, "rename", from, options, rule)
}

// rename returns the new name of a key that From matches.
func (n RenameFeature) rename(key string) string {
	before, behind, wild := strings.Cut(n.From, "*")
	if !wild {
		return n.To
	}
	return strings.Replace(n.To, "*", key[len(before):len(key)-len(behind)], 1)
}

// keyArguments are the arguments with the keys, by the option that records them.
var keyArguments = map[string]optname.Name{
	"select": optname.SelectFeaturesKeys, "drop": optname.DropFeaturesKeys, "rename": optname.RenameFeaturesKeys,
}

// reshapeFeatures rewrites all records by a rule for feature keys. Each of keys must match some
// feature; it is replaced by the whole key, which the rule and the recorded options then have.
func reshapeFeatures(ctx context.Context, in []string, out string, o *Options, how string, keys []string, options func() []string, rule func(string) (string, bool)) (*Report, error) {
	argument := keyArguments[how]
	if len(keys) == 0 {
		return nil, source.OptionError(argument, "want keys of features, such as image/encoded or 'image/*'")
	}
	splice := splice.NewPool(rule)
	v := newVerb("features")
	v.Rewrite = spliced(splice)
	v.Resolve = func(ctx context.Context, in *source.Inputs) (err error) {
		for i, key := range keys {
			if strings.Contains(key, "*") {
				continue
			}
			if keys[i], err = in.Feature(ctx, argument, key); err != nil {
				return err
			}
		}
		v.Options = map[string]any{how: options()}
		return nil
	}
	v.Prepare = func(ctx context.Context, in *source.Inputs, _ *setdir.Dir) error {
		features, err := in.Features(ctx)
		if err != nil {
			return err
		}
		for i, key := range keys {
			if slices.ContainsFunc(features, func(f manifest.Feature) bool { return matchesKey(key, f.Key) }) {
				continue
			}
			if keys[i], err = source.FindFeature(argument, key, features); err != nil {
				return err
			}
		}
		_, err = ruledFeatures(features, argument, rule)
		return err
	}
	v.Describe = func(m *manifest.Manifest) error { return describeRuled(m, argument, rule) }
	return rearrange.Make(ctx, in, out, o, v)
}

// spliced returns a rewriter that splices records.
func spliced(s *splice.Pool) func(dst []byte, r *source.Record) ([]byte, error) {
	return func(dst []byte, r *source.Record) ([]byte, error) {
		dst, err := s.Append(dst, r.Data)
		switch {
		case errors.Is(err, tfrecord.ErrMalformed):
			err = &shard.DamagedError{Err: r.Locate(err)}
		case err != nil:
			err = r.Locate(err)
		}
		return dst, err
	}
}

// ruledFeatures applies a rule to the features of records. Errors name the argument with the keys.
func ruledFeatures(features []manifest.Feature, argument optname.Name, rule func(string) (string, bool)) ([]manifest.Feature, error) {
	from := map[string]string{}
	var ruled []manifest.Feature
	for _, f := range features {
		to, keep := rule(f.Key)
		if !keep {
			continue
		}
		if to == "" {
			return nil, source.OptionError(argument, "feature %q would have no name", f.Key)
		}
		if other, taken := from[to]; taken {
			return nil, source.OptionError(argument, "features %q and %q would both be named %q", other, f.Key, to)
		}
		from[to] = f.Key
		f.Key = to
		ruled = append(ruled, f)
	}
	slices.SortFunc(ruled, func(a, b manifest.Feature) int { return strings.Compare(a.Key, b.Key) })
	return ruled, nil
}

// describeRuled applies a rule to a manifest's features.
func describeRuled(m *manifest.Manifest, argument optname.Name, rule func(string) (string, bool)) error {
	features, err := ruledFeatures(m.Features, argument, rule)
	if err != nil {
		return err
	}
	m.Features = features
	if !slices.ContainsFunc(features, func(f manifest.Feature) bool { return f.Class == manifest.ClassLabel }) {
		m.Labels = []string{}
	}
	if s := m.Supervised; s != nil {
		input, keepInput := rule(s.Input)
		target, keepTarget := rule(s.Target)
		m.Supervised = nil
		if keepInput && keepTarget {
			m.Supervised = &manifest.Supervised{Input: input, Target: target}
		}
	}
	return nil
}

func matchesAny(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchesKey(p, key) })
}

// matchesKey reports whether a key matches a pattern, in which * matches any sequence of
// characters, including none.
func matchesKey(pattern, key string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == key
	}
	if len(key) < len(first)+len(last) || !strings.HasPrefix(key, first) || !strings.HasSuffix(key, last) {
		return false
	}
	key = key[len(first) : len(key)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(key, part)
		if at < 0 {
			return false
		}
		key = key[at+len(part):]
	}
	return true
}
