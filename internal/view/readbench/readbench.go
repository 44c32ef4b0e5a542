// Package readbench measures how fast package reader delivers the records of a set.
package readbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/reader"
)

// Options configure the pipeline that [Run] runs: an interleave of up to 16 files, record by
// record in tf.data's order, an optional cache and shuffle, and batches.
type Options struct {
	// Partial and Note are as in [reader.Options].
	Partial bool
	Note    func(sentence string)
	// SkipBad and OnSkip are as in [reader.Options].
	SkipBad reader.SkipBad
	OnSkip  func(reader.Skipped)
	// Parse parses the records into columns, see [reader.ColumnSpec].
	Parse bool
	// Decode decodes the records into images, as float32 from 0 to 1. Not with Parse.
	Decode bool
	// Resize is the size of the images; Decode requires it.
	Resize augment.ResizeSpec
	// Batch is the number of records in a batch. Default: 1.
	Batch int
	// Shuffle is the size of the shuffle buffer, in records. Default: none.
	Shuffle int
	// Cache, if not nil, caches the records after the interleave: later passes read from it, and so
	// does the first if the cache existed before.
	Cache *reader.CacheOptions
	// Workers is the number of goroutines that work at the same time, per stage and in total.
	// Default: chosen as it runs, up to GOMAXPROCS in total.
	Workers int
	// Memory is as in [reader.Options].
	Memory int64
	// For is the minimum duration. Everything is read at least once, and then again until the time
	// is up. Default: once.
	For time.Duration
	// Limit ends the run after that time also if not everything was read. Default: none.
	Limit time.Duration
}

// Result has the measurements of [Run]. Its JSON form is `tfrec bench --json`.
type Result struct {
	// Records is the number of records read: Passes whole passes over the set, and CutOff records
	// of one more that the time limit cut off.
	Records       int64   `json:"records"`
	Passes        int64   `json:"passes"`
	CutOff        int64   `json:"cut_off"`
	Seconds       float64 `json:"seconds"`
	RecordsPerSec float64 `json:"records_per_s"`
	// MBPerSec is of the records' data, uncompressed, in millions of bytes.
	MBPerSec float64 `json:"mb_per_s"`
	// Bottleneck is the bottleneck in the [reader.Report].
	Bottleneck string             `json:"bottleneck"`
	Memory     reader.MemoryStats `json:"memory"`
	Stages     []Stage            `json:"stages"`
}

// Stage is a [reader.StageStats] in seconds.
type Stage struct {
	Name          string  `json:"name"`
	Elements      int64   `json:"elements"`
	Busy          float64 `json:"busy_s"`
	WaitInput     float64 `json:"wait_input_s"`
	BlockedOutput float64 `json:"blocked_output_s"`
	Workers       int     `json:"workers"`
	Awaited       float64 `json:"awaited_s"`
	QueueSize     int     `json:"queue_size"`
	Auto          bool    `json:"auto"`
	Changes       int64   `json:"changes"`
}

// Run reads the files that paths name as fast as it can and returns how fast that was. From the
// second run on, the operating system may have the files in its page cache.
func Run(ctx context.Context, paths []string, o Options) (*Result, error) {
	if o.Parse && o.Decode {
		return nil, errors.New("reader: parsing into columns and decoding images are two pipelines; want one of them")
	}
	if o.Batch < 0 || o.Shuffle < 0 || o.For < 0 || o.Limit < 0 {
		return nil, fmt.Errorf("reader: Batch %d, Shuffle %d, For %v, Limit %v: want 0 or more of each", o.Batch, o.Shuffle, o.For, o.Limit)
	}
	set, err := reader.OpenAll(ctx, paths, reader.Options{Parallelism: o.Workers, Readers: o.Workers, Memory: o.Memory, BatchWithinEpoch: true, Partial: o.Partial, Note: o.Note, SkipBad: o.SkipBad, OnSkip: o.OnSkip})
	if err != nil {
		return nil, err
	}
	pipe := set.Interleave(min(16, len(set.Sources())), 1)
	if o.Cache != nil {
		pipe = pipe.Cache(*o.Cache)
	}
	if o.Shuffle > 0 {
		pipe = pipe.Shuffle(o.Shuffle)
	}
	if o.For > 0 {
		pipe = pipe.Repeat(-1)
	}
	o.Batch = max(o.Batch, 1)
	switch {
	case o.Parse:
		return run(ctx, reader.ParseColumns(pipe, reader.ColumnSpec{Batch: o.Batch, Workers: o.Workers}), o,
			func(b *reader.ColumnBatch) (int, int32) { return b.Rows, b.Epoch })
	case o.Decode:
		return run(ctx, reader.Images(pipe, reader.ImageSpec{Resize: o.Resize, DType: reader.Float32, Batch: o.Batch, Workers: o.Workers, NoLabels: true}), o,
			func(b *reader.ImageBatch) (int, int32) { return b.Shape[0], b.Epoch })
	default:
		return run(ctx, reader.Batch(pipe, o.Batch, reader.BatchOptions{}), o,
			func(b []reader.Record) (int, int32) { return len(b), b[0].Epoch })
	}
}

// run runs a flow over a repeating pipe until everything was read and the time is up. Its batches
// end with a pass.
func run[T any](ctx context.Context, f reader.Flow[T], o Options, look func(T) (records int, epoch int32)) (*Result, error) {
	began := time.Now()
	r, err := f.Start(ctx, reader.From{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var res Result
	for {
		over := time.Since(began) >= o.For
		if over && res.Passes > 0 || o.Limit > 0 && res.Records > 0 && time.Since(began) >= o.Limit {
			break
		}
		v, err := r.Next()
		if err == io.EOF {
			if res.Records == 0 {
				return nil, errors.New("reader: no records in the files")
			}
			res.Passes, res.CutOff = res.Passes+1, 0
			break
		}
		if err != nil {
			return nil, err
		}
		n, of := look(v)
		if epoch := int64(of); epoch > res.Passes {
			res.Passes, res.CutOff = epoch, 0
			if over {
				break // this batch belongs to the next pass
			}
		}
		res.Records += int64(n)
		res.CutOff += int64(n)
	}
	elapsed := time.Since(began)
	if pass := res.Records - res.CutOff; res.Passes > 0 && res.CutOff > 0 && res.CutOff == pass/res.Passes {
		res.Passes, res.CutOff = res.Passes+1, 0
	}
	report := r.Report()
	stats := report.Stages
	res.Memory = report.Memory
	res.Seconds = elapsed.Seconds()
	res.RecordsPerSec = float64(res.Records) / res.Seconds
	if end := stats[len(stats)-1]; end.Elements > 0 {
		res.MBPerSec = res.RecordsPerSec * float64(end.Bytes) / float64(end.Elements) / 1e6
	}
	res.Bottleneck = report.Bottleneck
	for _, s := range stats {
		res.Stages = append(res.Stages, Stage{
			s.Name, s.Elements, s.Busy.Seconds(), s.WaitInput.Seconds(), s.BlockedOutput.Seconds(),
			s.Workers, s.Awaited.Seconds(), s.QueueSize, s.Auto, s.Changes,
		})
	}
	return &res, nil
}
