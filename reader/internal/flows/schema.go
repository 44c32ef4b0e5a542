package flows

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/records"
	"github.com/tfrec/tfrec/reader/internal/stages"
	"github.com/tfrec/tfrec/shard"
)

// inferred is the number of records that Schema reads to infer a schema.
const inferred = 100

// Schema returns the schema of the set's manifest, or infers one from its first records.
func Schema(ctx context.Context, s *fileset.Set) (columns.Schema, error) {
	if len(s.Joined) > 0 {
		return joinedSchema(ctx, s.Joined)
	}
	sources := s.Sources()
	if set := sources[0].Set; set != nil && set.Records == manifest.RecordExample && len(set.Features) > 0 {
		return columns.SchemaOf(set.Features)
	}
	if pipeline.MaySkip(s.Opts.SkipBad) {
		records, err := firstIntact(ctx, s)
		if err != nil {
			return nil, err
		}
		return columns.InferSchema(records)
	}
	var records [][]byte
	for _, source := range sources {
		err := func() error {
			r, err := shard.Open(ctx, source.Path, pipeline.ReaderOptions(&s.Opts, source.Path))
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
func firstIntact(ctx context.Context, s *fileset.Set) (intact [][]byte, err error) {
	o := s.Opts
	o.Worker, o.Workers, o.ShuffleFiles = 0, 1, false
	o.SkipBad, o.OnSkip, o.Logger = pipeline.SkipBad{Count: pipeline.MaxSkip}, nil, nil
	all := s.As(o)
	stream, err := stages.Pipe{Set: all, Last: records.Interleave(all, 1, 1)}.Start(ctx, pipeline.Origin{})
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
		if len(intact) == inferred || len(intact) > 0 && r.File != file {
			break
		}
		intact, file = append(intact, slices.Clone(r.Data)), r.File
	}
	return intact, nil
}

// joinedSchema is the schema that all sets have.
func joinedSchema(ctx context.Context, sets []*fileset.Set) (columns.Schema, error) {
	schema, err := Schema(ctx, sets[0])
	if err != nil {
		return nil, err
	}
	for i, of := range sets[1:] {
		other, err := Schema(ctx, of)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(schema, other) {
			return nil, fmt.Errorf("reader: pipes 0 and %d of a Mix or Concat have records with different features: give a Schema of those to parse", i+1)
		}
	}
	return schema, nil
}
