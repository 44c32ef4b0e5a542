package reader

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/columns"
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

	place
}

// flowColumns returns batches of records as columns.
func flowColumns(p chain, spec ColumnSpec) flow[*ColumnBatch] {
	return func(ctx context.Context, from origin) (source[*ColumnBatch], error) {
		spec := spec
		if spec.Batch == 0 {
			spec.Batch = 1
		}
		if err := checkBatch(spec.Batch); err != nil {
			return nil, err
		}
		return openWorkers(ctx, p, from, func(r *run) (workerSpec[*ColumnBatch], error) { return columnWorks(ctx, p.set, spec) })
	}
}

func columnWorks(ctx context.Context, set *fileSet, spec ColumnSpec) (workerSpec[*ColumnBatch], error) {
	schema := spec.Schema
	if schema == nil {
		var err error
		if schema, err = flowSchema(ctx, set); err != nil {
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
		mark:    func(b *ColumnBatch, m mark) { b.place = placeAt(m) },
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

// Clone returns a copy of the batch that stays valid, with its State.
func (b *ColumnBatch) Clone() *ColumnBatch {
	return &ColumnBatch{Columns: b.Columns.Clone(), Epoch: b.Epoch, place: copyPlace(&b.place)}
}

// poison overwrites the columns.
func (b *ColumnBatch) poison() { poisonColumns(&b.Columns) }
