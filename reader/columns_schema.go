package reader

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// inferred is how many records flowSchema reads to infer a schema.
const inferred = 100

// flowSchema returns the schema of the set's manifest, or infers one from its first records.
func flowSchema(ctx context.Context, s *fileSet) (columns.Schema, error) {
	if len(s.joined) > 0 {
		return joinedSchema(ctx, s.joined)
	}
	sources := s.Sources()
	if set := sources[0].Set; set != nil && set.Records == manifest.RecordExample && len(set.Features) > 0 {
		return columns.SchemaOf(set.Features)
	}
	if maySkip(s.opts.SkipBad) {
		records, err := firstIntact(ctx, s)
		if err != nil {
			return nil, err
		}
		return columns.InferSchema(records)
	}
	var records [][]byte
	for _, source := range sources {
		err := func() error {
			r, err := shard.Open(ctx, source.Path, readerOptionsOf(&s.opts, source.Path))
			if err != nil {
				return err
			}
			defer r.Close()
			for len(records) < inferred {
				record, err := r.Next()
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				records = append(records, append([]byte(nil), record...))
			}
			return nil
		}()
		if err != nil {
			return nil, err
		}
		if len(records) > 0 {
			break
		}
	}
	return columns.InferSchema(records)
}

// firstIntact returns the first records of the first file that has any, without the damaged ones.
// The stream of the records reports and counts the damage.
func firstIntact(ctx context.Context, s *fileSet) (records [][]byte, err error) {
	o := s.opts
	o.Worker, o.Workers, o.ShuffleFiles = 0, 1, false
	o.SkipBad, o.OnSkip, o.Logger = SkipBad{Count: maxSkip}, nil, nil
	all := s.as(o)
	stream, err := chain{all, all.Interleave(1, 1)}.start(ctx, origin{})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	file := int32(0)
	for {
		r, err := stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(records) == inferred || len(records) > 0 && r.File != file {
			break
		}
		records, file = append(records, slices.Clone(r.Data)), r.File
	}
	return records, nil
}

// joinedSchema is the schema that all sets have.
func joinedSchema(ctx context.Context, sets []*fileSet) (columns.Schema, error) {
	schema, err := flowSchema(ctx, sets[0])
	if err != nil {
		return nil, err
	}
	for i, of := range sets[1:] {
		other, err := flowSchema(ctx, of)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(schema, other) {
			return nil, fmt.Errorf("reader: pipes 0 and %d of a Mix or Concat have records with different features: give a Schema of those to parse", i+1)
		}
	}
	return schema, nil
}
