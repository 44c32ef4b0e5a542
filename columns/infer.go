package columns

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// SchemaOf returns the schema for features as described in a manifest. A feature that varies in
// length, or may be missing from a record, becomes ragged, so that no values are made up. An
// encoded image or tensor is one bytes value.
func SchemaOf(features []manifest.Feature) (Schema, error) {
	var s Schema
	for _, f := range features {
		kind, _ := tfrecord.ParseKind(f.Kind) // Validate refuses KindNone
		field := Field{Key: f.Key, Kind: kind, Ragged: f.Optional || f.Values() < 1}
		if f.Class == manifest.ClassVector && !field.Ragged {
			field.Shape = f.Shape
		}
		s = append(s, field)
	}
	return s, s.Validate()
}

// InferSchema returns a schema of all features in records, ordered by the bytes of their keys: of
// fixed length if all records have the same number of values, otherwise ragged. A later record that
// differs is a parser error.
//
// A feature of two kinds, or without a list in any record, is an error, as is a record that is not
// a tf.train.Example.
func InferSchema(records [][]byte) (Schema, error) {
	if len(records) == 0 {
		return nil, errors.New("schema: no record to infer it from")
	}
	seen := map[string]*sighting{}
	var example tfrecord.Example
	var sequence tfrecord.SequenceExample
	for i, r := range records {
		err := example.Parse(r)
		if err == nil {
			err = refuseLists(&sequence, r)
		}
		if err != nil {
			return nil, fmt.Errorf("schema: record %d of %d looked at: %w", i, len(records), err)
		}
		for k := range example.Len() {
			key, f := example.At(k)
			s := seen[string(key)]
			if s == nil {
				s = &sighting{}
				seen[string(key)] = s
			}
			if err := s.add(f); err != nil {
				return nil, fmt.Errorf("schema: feature %q: %w", key, err)
			}
		}
	}
	var schema Schema
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		s := seen[key]
		if s.kind == tfrecord.KindNone {
			return nil, fmt.Errorf("schema: feature %q has no values in the records looked at: give a schema that says which kind it is", key)
		}
		f := Field{Key: key, Kind: s.kind}
		switch {
		case s.varies || s.records < len(records) || s.values == 0:
			f.Ragged = true
		case s.values > 1:
			f.Shape = []int{s.values}
		}
		schema = append(schema, f)
	}
	return schema, schema.Validate()
}

// sighting describes the occurrences of a feature.
type sighting struct {
	kind    tfrecord.Kind
	records int // records that have it
	values  int // in the first of these
	varies  bool
}

func (s *sighting) add(f tfrecord.Feature) error {
	if f.Kind() == tfrecord.KindNone {
		return nil
	}
	if s.kind == tfrecord.KindNone {
		s.kind, s.values = f.Kind(), f.Len()
	}
	if f.Kind() != s.kind {
		return fmt.Errorf("some records have %v values, others %v", s.kind, f.Kind())
	}
	s.records++
	s.varies = s.varies || f.Len() != s.values
	return nil
}
