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

// ColumnSpec configures how records become columns.
type ColumnSpec struct {
	// Schema of the columns. Default: that of the manifest, if there is one, else the result of
	// [InferSchema] for the first 100 records of the first non-empty file.
	Schema columns.Schema
	// Batch is the number of records in a batch. Default: 1.
	Batch int
	// DropRemainder drops a smaller last batch.
	DropRemainder bool
	// Workers is the number of batches parsed concurrently. Default: chosen as it runs, up to the
	// Parallelism of the set.
	Workers int
}

// ColumnBatch is a batch of records as columns. It is valid until the next batch is requested,
// which reuses its memory: keep a Clone.
type ColumnBatch struct {
	columns.Columns
	// Epoch is the epoch of the first record (see [Record.Epoch]).
	Epoch int32

	mark mark
}

// State returns the state of a consumer that has received this batch and all before it.
func (b *ColumnBatch) State() State { return b.mark.whole() }

// ParseColumns describes batches of records as columns, parsed in advance and in order. Fields with
// [columns.Steps] make columns of sequences; [Pipe.Windows] cuts these into windows. A record
// that does not match the schema ends the flow with an error that names its file, number, offset
// and feature, unless [SkipBad] allows skipping it.
func ParseColumns(p Pipe, spec ColumnSpec) Flow[*ColumnBatch] {
	return Flow[*ColumnBatch]{func(ctx context.Context, from origin) (source[*ColumnBatch], error) {
		spec := spec
		if spec.Batch == 0 {
			spec.Batch = 1
		}
		if err := checkBatch(spec.Batch); err != nil {
			return nil, err
		}
		return openWorkers(ctx, p, from, func(r *run) (workerSpec[*ColumnBatch], error) { return columnWorks(ctx, r, spec) })
	}}
}

func columnWorks(ctx context.Context, r *run, spec ColumnSpec) (workerSpec[*ColumnBatch], error) {
	schema := spec.Schema
	if schema == nil {
		var err error
		if schema, err = r.set.Schema(ctx); err != nil {
			return workerSpec[*ColumnBatch]{}, err
		}
	}
	if _, err := columns.NewParser(schema); err != nil {
		return workerSpec[*ColumnBatch]{}, err
	}
	if err := schema.CheckBatch(spec.Batch); err != nil {
		return workerSpec[*ColumnBatch]{}, err
	}
	return workerSpec[*ColumnBatch]{
		name:    "parse",
		makes:   fmt.Sprintf("%s,columns%+v", batchName(spec.Batch, spec.DropRemainder), schema),
		cut:     cutter{size: spec.Batch, drop: spec.DropRemainder},
		workers: spec.Workers,
		make:    func() *ColumnBatch { return &ColumnBatch{} },
		begin:   func(b *ColumnBatch, records []Record) { b.Epoch = records[0].Epoch },
		mark:    func(b *ColumnBatch, m mark) { b.mark = m },
		bytes:   func(b *ColumnBatch) int64 { return columnsMemory(&b.Columns) },
		poison:  (*ColumnBatch).poison,
		without: func(b *ColumnBatch, _ []workFault, _ skipCount) int { return b.Rows },
		work: func() func(*ColumnBatch, []Record, int, int, func(int, error) bool) {
			parser, _ := columns.NewParser(schema) // cannot fail: checked above
			return func(b *ColumnBatch, records []Record, _, _ int, fail func(int, error) bool) {
				parser.Reset(&b.Columns)
				touch(records)
				for i := range records {
					if err := parser.Append(&b.Columns, records[i].Data); err != nil && !fail(i, err) {
						return
					}
				}
				parser.Finish(&b.Columns)
			}
		},
	}, nil
}

// columnsMemory is the size of columns in bytes.
func columnsMemory(all *columns.Columns) (n int64) {
	for i := range all.Columns {
		c := &all.Columns[i]
		n += int64(8*cap(c.Int64s) + 4*cap(c.Floats) + cap(c.Bytes) + 8*cap(c.Offsets) + 8*cap(c.Splits) + 8*cap(c.StepSplits))
	}
	return n
}

// inferred is how many records Schema reads to infer a schema.
const inferred = 100

// Schema returns the schema of the set's manifest, or infers one from its first records as
// described at [ColumnSpec].
func (s *Set) Schema(ctx context.Context) (columns.Schema, error) {
	if len(s.joined) > 0 {
		return s.joinedSchema(ctx)
	}
	sources := s.Sources()
	if set := sources[0].Set; set != nil && set.Records == manifest.RecordExample && len(set.Features) > 0 {
		return columns.SchemaOf(set.Features)
	}
	if s.opts.SkipBad.asked() {
		records, err := s.firstIntact(ctx)
		if err != nil {
			return nil, err
		}
		return columns.InferSchema(records)
	}
	var records [][]byte
	for _, source := range sources {
		err := func() error {
			r, err := shard.Open(ctx, source.Path, s.opts.readerOptions(source.Path))
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
func (s *Set) firstIntact(ctx context.Context) (records [][]byte, err error) {
	all := s.with(func(o *Options) {
		o.Worker, o.Workers, o.ShuffleFiles = 0, 1, false
		o.SkipBad, o.OnSkip, o.Logger = SkipBad{Count: maxSkip}, nil, nil
	})
	file := int32(0)
	for r, err := range all.Records().All(ctx) {
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

// joinedSchema is the Schema that all sets have whose files this one has.
func (s *Set) joinedSchema(ctx context.Context) (columns.Schema, error) {
	schema, err := s.joined[0].Schema(ctx)
	if err != nil {
		return nil, err
	}
	for i, of := range s.joined[1:] {
		other, err := of.Schema(ctx)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(schema, other) {
			return nil, fmt.Errorf("reader: pipes 0 and %d of a Mix or Concat have records with different features: give a Schema of those to parse", i+1)
		}
	}
	return schema, nil
}
