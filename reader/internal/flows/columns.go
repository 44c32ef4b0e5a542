package flows

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// ColumnSpec configures how records become columns.
type ColumnSpec struct {
	// Schema of the columns. Default: from the manifest, if there is one, else the result of
	// InferSchema for the first 100 records of the first non-empty file.
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
	// Epoch is the epoch of the first record (see Record.Epoch).
	Epoch int32

	place
}

// Columns returns batches of records as columns.
func Columns(p stages.Pipe, spec ColumnSpec) Flow[*ColumnBatch] {
	return func(ctx context.Context, from pipeline.Origin) (Source[*ColumnBatch], error) {
		spec := spec
		if spec.Batch == 0 {
			spec.Batch = 1
		}
		if err := CheckBatch(spec.Batch); err != nil {
			return nil, err
		}
		return OpenWorkers(ctx, p, from, func(r *pipeline.Run) (WorkerSpec[*ColumnBatch], error) { return columnWorks(ctx, p.Set, spec) })
	}
}

func columnWorks(ctx context.Context, set *fileset.Set, spec ColumnSpec) (WorkerSpec[*ColumnBatch], error) {
	schema := spec.Schema
	if schema == nil {
		var err error
		if schema, err = Schema(ctx, set); err != nil {
			return WorkerSpec[*ColumnBatch]{}, err
		}
	}
	if _, err := columns.NewParser(schema); err != nil {
		return WorkerSpec[*ColumnBatch]{}, err
	}
	if err := schema.CheckBatch(spec.Batch); err != nil {
		return WorkerSpec[*ColumnBatch]{}, err
	}
	return WorkerSpec[*ColumnBatch]{
		Name:    "parse",
		Makes:   fmt.Sprintf("%s,columns%+v", BatchOptions{spec.DropRemainder}.name(spec.Batch), schema),
		Cut:     Cutter{Size: spec.Batch, Drop: spec.DropRemainder},
		Workers: spec.Workers,
		Make:    func() *ColumnBatch { return &ColumnBatch{} },
		Begin:   func(b *ColumnBatch, records []pipeline.Record) { b.Epoch = records[0].Epoch },
		Mark:    func(b *ColumnBatch, m Mark) { b.place = PlaceAt(m) },
		Bytes:   func(b *ColumnBatch) int64 { return ColumnsMemory(&b.Columns) },
		Poison:  (*ColumnBatch).poison,
		Without: func(b *ColumnBatch, _ []pipeline.WorkFault, _ pipeline.SkipCount) int { return b.Rows },
		Work: func() func(*ColumnBatch, []pipeline.Record, int, int, func(int, error) bool) {
			parser, _ := columns.NewParser(schema) // cannot fail: checked above
			return func(b *ColumnBatch, records []pipeline.Record, _, _ int, fail func(int, error) bool) {
				parser.Reset(&b.Columns)
				pipeline.Touch(records)
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

// ColumnsMemory is the size of columns in bytes.
func ColumnsMemory(all *columns.Columns) (n int64) {
	for i := range all.Columns {
		c := &all.Columns[i]
		n += int64(8*cap(c.Int64s) + 4*cap(c.Floats) + cap(c.Bytes) + 8*cap(c.Offsets) + 8*cap(c.Splits) + 8*cap(c.StepSplits))
	}
	return n
}

// Clone returns a copy of the batch that stays valid, with its State.
func (b *ColumnBatch) Clone() *ColumnBatch {
	return &ColumnBatch{Columns: b.Columns.Clone(), Epoch: b.Epoch, place: CopyPlace(&b.place)}
}

// poison overwrites the columns.
func (b *ColumnBatch) poison() { pipeline.PoisonColumns(&b.Columns) }
