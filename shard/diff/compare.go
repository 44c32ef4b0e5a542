package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// Options are the options of Compare. The zero value compares record by record, in order.
type Options struct {
	// Partial reads the existing shards of incomplete sets, and calls Note for each such set (see
	// [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Unordered compares the records and how often each one occurs, regardless of position.
	Unordered bool
	// Memory bounds the memory of an unordered comparison, in bytes; beyond it, a temporary file is
	// used. Minimum: 1 MB. Default: 256 MiB.
	Memory int64
	// MaxListed is the maximum number of differences listed; all are counted. Default: 10.
	MaxListed int
	// Workers is the number of goroutines that hash records. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Progress, if not nil, is updated during the run. For compressed files that are compared
	// unordered it counts uncompressed bytes.
	Progress *shard.ReadProgress
}

// Report describes how two inputs, a and b, differ. Its JSON form is the output of `tfrec diff
// --json`.
type Report struct {
	// Equal is set if the records are equal and, where both inputs have manifests, the features and
	// labels as well. Different options do not make sets unequal.
	Equal    bool  `json:"equal"`
	RecordsA int64 `json:"records_a"`
	RecordsB int64 `json:"records_b"`
	// Differing counts the positions at which both have a record but the records differ; 0 if
	// unordered.
	Differing int64 `json:"differing"`
	// OnlyA and OnlyB count the records that the other input does not have: those past its end or,
	// if unordered, those that occur less often in it.
	OnlyA int64 `json:"only_a"`
	OnlyB int64 `json:"only_b"`
	// Features counts, by key, the records in which a feature differs, among records that both have
	// and that are Examples.
	Features map[string]int64 `json:"features"`
	// Differences lists the first differences, in order.
	Differences []Difference `json:"differences"`
	// Described lists the differences of the manifests: labels, features and options.
	Described []Described `json:"described"`
	// Faults are faults in the data; nothing after them was compared.
	Faults []shard.Fault `json:"faults"`
}

// Difference is a position at which two inputs differ.
type Difference struct {
	Split string `json:"split"`
	// A and B are the positions of the records; nil for a missing record.
	A *Position `json:"a"`
	B *Position `json:"b"`
	// Features lists the features that differ; empty unless both records are Examples.
	Features []FeatureDifference `json:"features,omitempty"`
	// Objects lists the objects of images (boxes, classes, masks) that differ, 20 at most, if both
	// Examples have any.
	Objects []ObjectDifference `json:"objects,omitempty"`
	// Reason describes the difference without Features, or adds to Objects: more of them differ, or
	// only their order does.
	Reason string `json:"reason,omitempty"`
}

// Position is the position of a record: the Path of its file, and Record, its number in the file from
// 0.
type Position = source.Position

// FeatureDifference is a feature that differs between two Examples.
type FeatureDifference struct {
	Key string `json:"key"`
	// A and B summarize its values; "" for a missing feature.
	A string `json:"a"`
	B string `json:"b"`
}

// Described is a difference between two manifests.
type Described struct {
	// What is "labels", "feature", "splits", "option" or another key of manifests.
	What string `json:"what"`
	// Key is the key of the feature or option; empty for others.
	Key string `json:"key,omitempty"`
	A   string `json:"a"`
	B   string `json:"b"`
	// Matters is set if sets that differ in it are not equal.
	Matters bool `json:"matters"`
}

// Compare compares the records of a and b (see [shard.Expand]): the bytes of the payloads, not how
// they are distributed over files. If both have the same splits, each split is compared with its
// counterpart; otherwise all records are compared in the order of the files.
//
// Differences, and faults in the data, are not errors: they are in the report.
func Compare(ctx context.Context, a, b string, o Options) (*Report, error) {
	if o.MaxListed <= 0 {
		o.MaxListed = 10
	}
	d := &difference{o: &o, report: &Report{
		Features: map[string]int64{}, Differences: []Difference{}, Described: []Described{}, Faults: []shard.Fault{},
	}}
	ro := source.Options{
		Expand: shard.ExpandOptions{Partial: o.Partial, Note: o.Note}, Memory: o.Memory, Workers: o.Workers, MaxRecord: o.MaxRecord,
	}
	err := ro.Check()
	for i, path := range []string{a, b} {
		if err == nil {
			d.sides[i], err = source.Open(ctx, []string{path}, ro)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, side := range d.sides {
		for _, f := range side.Files {
			o.Progress.Plan(ctx, f.Path)
		}
	}
	d.describe(d.sides[0].Files[0].Set, d.sides[1].Files[0].Set)
	if o.Unordered {
		err = d.unordered(ctx)
	} else {
		err = d.ordered(ctx)
	}
	if err == nil {
		err = errors.Join(d.sides[0].CheckUnchanged(ctx), d.sides[1].CheckUnchanged(ctx))
	}
	r := d.report
	var bad *shard.DamagedError
	if errors.As(err, &bad) {
		err = nil
		var fault *tfrecord.Error
		errors.As(bad.Err, &fault)
		r.Faults = append(r.Faults, shard.FaultOf(fault.Name, fault))
	}
	if err != nil {
		return nil, err
	}
	r.Equal = r.Differing+r.OnlyA+r.OnlyB == 0 && len(r.Faults) == 0 &&
		!slices.ContainsFunc(r.Described, func(d Described) bool { return d.Matters })
	return r, nil
}

// difference is a run of Compare.
type difference struct {
	o      *Options
	sides  [2]*source.Inputs
	report *Report
}

// list adds a difference unless MaxListed have been listed.
func (d *difference) list(one Difference) {
	if len(d.report.Differences) < d.o.MaxListed {
		d.report.Differences = append(d.report.Differences, one)
	}
}

// sameSplits reports whether both have the same splits.
func (d *difference) sameSplits() bool {
	return slices.Equal(slices.Sorted(slices.Values(d.sides[0].Splits)), slices.Sorted(slices.Values(d.sides[1].Splits)))
}

// describe compares two manifests.
func (d *difference) describe(a, b *shard.Set) {
	if a == nil || b == nil {
		return
	}
	add := func(what, key, x, y string, matters bool) {
		if x != y {
			d.report.Described = append(d.report.Described, Described{what, key, x, y, matters})
		}
	}
	add("labels", "", labelsInShort(a.Labels, b.Labels), labelsInShort(b.Labels, a.Labels), true)
	features := func(s *shard.Set) map[string]string {
		said := map[string]string{}
		for _, f := range s.Features {
			said[f.Key] = featureInShort(f)
		}
		return said
	}
	// Unknown features do not contradict known ones.
	if len(a.Features) > 0 && len(b.Features) > 0 {
		eachKey(features(a), features(b), func(key, x, y string) { add("feature", key, x, y, true) })
	}
	add("name", "", a.Name, b.Name, false)
	add("compression", "", a.Compression, b.Compression, false)
	add("decoder", "", a.Decoder, b.Decoder, false)
	add("encoder", "", a.Encoder, b.Encoder, false)
	add("seed", "", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed), false)
	add("splits", "", splitsInShort(a.Manifest), splitsInShort(b.Manifest), false)
	options := func(s *shard.Set) map[string]string {
		said := map[string]string{}
		for key, v := range s.Options {
			if text, ok := jsontext.Compact(v); ok {
				said[key] = text
			}
		}
		return said
	}
	eachKey(options(a), options(b), func(key, x, y string) { add("option", key, x, y, false) })
}

// eachKey calls f with the values of each key that is in at least one of the maps.
func eachKey(a, b map[string]string, f func(key, x, y string)) {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		f(key, a[key], b[key])
	}
}

// labelsInShort lists a few labels, starting at the first that differs from other.
func labelsInShort(labels, other []string) string {
	const few = 5
	first := 0
	for first < min(len(labels), len(other)) && labels[first] == other[first] {
		first++
	}
	if first == len(labels) && first == len(other) {
		return ""
	}
	some := labels[first:min(len(labels), first+few)]
	return fmt.Sprintf("%s, from %d on %s", plural.Of(len(labels), "label"), first, plural.Quoted(some, few))
}

func featureInShort(f manifest.Feature) string {
	words := []string{f.Kind, string(f.Class)}
	if len(f.Shape) > 0 {
		words = append(words, fmt.Sprint(f.Shape))
	}
	words = append(words, f.DType, f.Encoding)
	if f.Optional {
		words = append(words, "optional")
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

func splitsInShort(m *manifest.Manifest) string {
	splits := slices.SortedFunc(slices.Values(m.Splits), func(a, b manifest.Split) int { return cmp.Compare(a.Name, b.Name) })
	words := make([]string, len(splits))
	for i, s := range splits {
		words[i] = fmt.Sprintf("%s: %d in %s", s.Name, s.Records, plural.Of(len(s.Shards), "shard"))
	}
	return strings.Join(words, ", ")
}
