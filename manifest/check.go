package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/plural"
)

// Check returns the contradictions in a manifest, joined; nil if there are none. It reads no files:
// whether the directory has what the manifest lists is for package shard to check.
func (m *Manifest) Check() error {
	var found faults
	if m.Format != Format || m.Version != Version {
		found.add("its format is %q, version %d; want %q, version %d", m.Format, m.Version, Format, Version)
	}
	if m.Name == "" {
		found.add("the dataset has no name")
	}
	if !slices.Contains([]string{"none", "gzip", "zlib", "zstd"}, m.Compression) {
		found.add("unknown compression %q: want none, gzip, zlib or zstd", m.Compression)
	}
	found.checkFeatures(m.Features, m.Labels, m.Supervised)
	found.checkSplits(m.Splits)
	return errors.Join(found...)
}

// CheckFeatures returns the contradictions in a description of records, joined; nil if there are none:
// in the features, between them and the names of the labels, and between them and what is supervised,
// which may be nil.
func CheckFeatures(features []Feature, labels []string, supervised *Supervised) error {
	var found faults
	found.checkFeatures(features, labels, supervised)
	return errors.Join(found...)
}

// faults are the contradictions found so far.
type faults []error

func (found *faults) add(format string, args ...any) {
	*found = append(*found, fmt.Errorf(format, args...))
}

func (found *faults) checkFeatures(features []Feature, labels []string, supervised *Supervised) {
	known := map[string]bool{}
	for _, f := range features {
		if err := f.Check(); err != nil {
			found.add("feature %q: %w", f.Key, err)
		}
		if known[f.Key] {
			found.add("feature %q is described twice", f.Key)
		}
		known[f.Key] = true
		if f.Class == ClassLabel && len(f.Shape) == 0 && len(labels) == 0 { // lists may all be empty
			found.add("feature %q is a label, and there are no label names", f.Key)
		}
	}
	if supervised != nil {
		for _, key := range []string{supervised.Input, supervised.Target} {
			if !known[key] {
				found.add("supervised names a feature %q that is not described", key)
			}
		}
	}
}

// checkSplits adds the contradictions in splits and their shards.
func (found *faults) checkSplits(all []Split) {
	splits, files := map[string]bool{}, map[string]bool{}
	for _, split := range all {
		if !naming.IsSplit(split.Name) {
			found.add("%q is not the name of a split: want letters, digits and _", split.Name)
		}
		if splits[split.Name] {
			found.add("split %s occurs twice", split.Name)
		}
		splits[split.Name] = true
		var records int64
		for _, info := range split.Shards {
			if info.File == "" || strings.ContainsAny(info.File, `/\`) || !filepath.IsLocal(info.File) {
				found.add("%q is not the name of a shard: want a plain file name", info.File)
			}
			if files[info.File] {
				found.add("the manifest names %s twice", info.File)
			}
			files[info.File] = true
			if info.Records < 0 || info.Bytes < 0 {
				found.add("%s has %d records in %d bytes", info.File, info.Records, info.Bytes)
			}
			records += info.Records
		}
		if records != split.Records {
			found.add("split %s: the manifest says %s, its shards have %d", split.Name, plural.Of(split.Records, "record"), records)
		}
	}
}

// kindsOf are the kinds of values that features of a class can have.
var kindsOf = map[FeatureClass][]string{
	ClassScalar: {"bytes", "int64", "float"},
	ClassVector: {"bytes", "int64", "float"},
	ClassImage:  {"bytes"},
	ClassTensor: {"bytes"},
	ClassText:   {"bytes"},
	ClassLabel:  {"int64"},
}

// Check returns an error if no record can be as the feature is described.
func (f Feature) Check() error {
	kinds := kindsOf[f.Class]
	switch {
	case f.Key == "":
		return errors.New("it has no key")
	case kinds == nil:
		return fmt.Errorf("unknown class %q", f.Class)
	case !slices.Contains(kinds, f.Kind):
		return fmt.Errorf("its class is %s, and its kind %q: want %s", f.Class, f.Kind, strings.Join(kinds, ", "))
	}
	for _, n := range f.Shape {
		if n < -1 {
			return fmt.Errorf("%d in shape %v: want a size, or -1 for any", n, f.Shape)
		}
	}
	return nil
}
