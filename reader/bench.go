package reader

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/tfrec/tfrec/augment"
)

// BenchOptions say which pipeline [Bench] runs: an interleave of 16 files, or of
// as many as there are, record by record in tf.data's order, a shuffle when asked
// for, and batches.
type BenchOptions struct {
	// Parse makes columns of the records, see [ColumnSpec].
	Parse bool
	// Decode makes pictures of them, as float32 from 0 to 1. Not with Parse.
	Decode bool
	// Resize is the size of the pictures; Decode wants one.
	Resize augment.ResizeSpec
	// Batch is how many records a batch has. Default: 1.
	Batch int
	// Shuffle is the size of the shuffle buffer, in records. Default: none.
	Shuffle int
	// Workers is how many goroutines work at the same time. Default:
	// GOMAXPROCS.
	Workers int
	// For is how long to go on. All is read once at least, and then again and
	// again. Default: once.
	For time.Duration
}

// BenchResult is what [Bench] measured. Its JSON form is `tfrec bench --json`.
type BenchResult struct {
	Records       int64   `json:"records"`
	Seconds       float64 `json:"seconds"`
	RecordsPerSec float64 `json:"records_per_s"`
	// MBPerSec is of the records' data, uncompressed, in millions of bytes.
	MBPerSec float64 `json:"mb_per_s"`
	// Bottleneck is what [Bottleneck] says.
	Bottleneck string       `json:"bottleneck"`
	Stages     []BenchStage `json:"stages"`
}

// BenchStage is a [StageStats] in seconds.
type BenchStage struct {
	Name          string  `json:"name"`
	Elements      int64   `json:"elements"`
	Busy          float64 `json:"busy_s"`
	WaitInput     float64 `json:"wait_input_s"`
	BlockedOutput float64 `json:"blocked_output_s"`
	Workers       int     `json:"workers"`
}

// Bench reads what paths stand for as fast as it can, and says how fast that
// was. From the second time on the operating system may have the files in
// memory.
func Bench(ctx context.Context, paths []string, o BenchOptions) (*BenchResult, error) {
	if o.Parse && o.Decode {
		return nil, errors.New("bench: parsing into columns and decoding pictures are two pipelines; want one of them")
	}
	set, err := OpenAll(paths, Options{Parallelism: o.Workers})
	if err != nil {
		return nil, err
	}
	pipe := set.Interleave(min(16, len(set.Sources())), 1)
	if o.Shuffle > 0 {
		pipe = pipe.Shuffle(o.Shuffle)
	}
	pipe = pipe.Repeat(-1)
	o.Batch = max(o.Batch, 1)
	switch {
	case o.Parse:
		return bench(ctx, ParseColumns(pipe, ColumnSpec{Batch: o.Batch, Workers: o.Workers}), o,
			func(b *ColumnBatch) (int, mark) { return b.Rows, b.mark })
	case o.Decode:
		return bench(ctx, Pictures(pipe, PictureSpec{Resize: o.Resize, DType: Float32, Batch: o.Batch, Workers: o.Workers, NoLabels: true}), o,
			func(b *PictureBatch) (int, mark) { return b.Shape[0], b.mark })
	default:
		return bench(ctx, pipe.Batch(o.Batch, false), o,
			func(b *RecordBatch) (int, mark) { return len(b.Records), b.mark })
	}
}

// bench runs a flow over a pipe that repeats until all was read and the time is
// over.
func bench[T any](ctx context.Context, f Flow[T], o BenchOptions, look func(T) (records int, at mark)) (*BenchResult, error) {
	began := time.Now()
	r, err := f.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var res BenchResult
	for {
		v, err := r.Next()
		if err == io.EOF {
			return nil, errors.New("bench: no record in the files")
		}
		if err != nil {
			return nil, err
		}
		n, at := look(v)
		res.Records += int64(n)
		if last := at.block.Records[at.n-1]; last.Epoch > 0 && time.Since(began) >= o.For {
			break
		}
	}
	elapsed := time.Since(began)
	stats := r.Stats()
	res.Seconds = elapsed.Seconds()
	res.RecordsPerSec = float64(res.Records) / res.Seconds
	if end := stats[len(stats)-1]; end.Elements > 0 {
		res.MBPerSec = res.RecordsPerSec * float64(end.Bytes) / float64(end.Elements) / 1e6
	}
	res.Bottleneck = Bottleneck(stats, elapsed, runtime.GOMAXPROCS(0))
	for _, s := range stats {
		res.Stages = append(res.Stages, BenchStage{s.Name, s.Elements, s.Busy.Seconds(), s.WaitInput.Seconds(), s.BlockedOutput.Seconds(), s.Workers})
	}
	return &res, nil
}
