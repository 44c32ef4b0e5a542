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
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if m.Format != Format || m.Version != Version {
		fault("its format is %q, version %d; want %q, version %d", m.Format, m.Version, Format, Version)
	}
	if m.Name == "" {
		fault("the dataset has no name")
	}
	if !slices.Contains([]string{"none", "gzip", "zlib", "zstd"}, m.Compression) {
		fault("unknown compression %q: want none, gzip, zlib or zstd", m.Compression)
	}
	m.checkFeatures(fault)
	m.checkSplits(fault)
	return errors.Join(errs...)
}

// checkFeatures reports contradictions in the features, and of the features with what names them.
func (m *Manifest) checkFeatures(fault func(format string, args ...any)) {
	known := map[string]bool{}
	for _, f := range m.Features {
		if err := f.Check(); err != nil {
			fault("feature %q: %w", f.Key, err)
		}
		if known[f.Key] {
			fault("feature %q is described twice", f.Key)
		}
		known[f.Key] = true
		if f.Class == ClassLabel && len(f.Shape) == 0 && len(m.Labels) == 0 { // lists may all be empty
			fault("feature %q is a label, and there are no label names", f.Key)
		}
	}
	if s := m.Supervised; s != nil {
		for _, key := range []string{s.Input, s.Target} {
			if !known[key] {
				fault("supervised names a feature %q that is not described", key)
			}
		}
	}
}

// checkSplits reports contradictions in the splits and their shards.
func (m *Manifest) checkSplits(fault func(format string, args ...any)) {
	splits, files := map[string]bool{}, map[string]bool{}
	for _, split := range m.Splits {
		if !naming.IsSplit(split.Name) {
			fault("%q is not the name of a split: want letters, digits and _", split.Name)
		}
		if splits[split.Name] {
			fault("split %s occurs twice", split.Name)
		}
		splits[split.Name] = true
		var records int64
		for _, info := range split.Shards {
			if info.File == "" || strings.ContainsAny(info.File, `/\`) || !filepath.IsLocal(info.File) {
				fault("%q is not the name of a shard: want a plain file name", info.File)
			}
			if files[info.File] {
				fault("the manifest names %s twice", info.File)
			}
			files[info.File] = true
			if info.Records < 0 || info.Bytes < 0 {
				fault("%s has %d records in %d bytes", info.File, info.Records, info.Bytes)
			}
			records += info.Records
		}
		if records != split.Records {
			fault("split %s: the manifest says %s, its shards have %d", split.Name, plural.Of(split.Records, "record"), records)
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
