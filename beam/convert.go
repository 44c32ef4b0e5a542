package beam

import (
	"context"
	"fmt"
	"os"
	"sync"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/command"
)

func init() {
	register.DoFn3x1[context.Context, int, func(string), error](&shardMaker{})
	register.Emitter1[string]()
	register.Function1x0(end)
}

// namespace is the counters' namespace.
const namespace = "tfrec"

// The counters of a conversion, as runners show them. They count the contents of the shards that
// the pipeline requested, made or found in place; a runner that counts attempts, not results,
// counts some twice.
var (
	countShards  = sdk.NewCounter(namespace, "shards")
	countSamples = sdk.NewCounter(namespace, "samples")
	countErrors  = sdk.NewCounter(namespace, "errors")
	countBytes   = sdk.NewCounter(namespace, "bytes")
)

// makeShards has a runner make the shards of a conversion.
func makeShards(ctx context.Context, w *command.Work) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	fn := &shardMaker{Args: w.Args, Dir: dir, Plan: w.Job.Plan()}
	here := fn.lend(w.Job) // for workers in this process
	defer fn.takeBack()

	progress := w.Job.Progress()
	counts, err := execute(ctx, pipeline(fn, w.Job.Todo()), func(counts map[string]int64) {
		if !jobopts.IsLoopback() { // otherwise this process counts
			progress.Done.Store(counts["samples"])
			progress.Errors.Store(counts["errors"])
			progress.BytesOut.Store(counts["bytes"])
			progress.Finished.Store(counts["shards"])
		}
	})
	if cause := here.failure(); err != nil && ctx.Err() == nil && cause != nil {
		return cause // err says the same, in the SDK's words
	}
	if err != nil {
		return err
	}
	if w.Note != nil && counts != nil {
		w.Note(fmt.Sprintf("the runner counted %d shards, %d samples, %d errors and %d bytes", counts["shards"], counts["samples"], counts["errors"], counts["bytes"]))
	}
	return nil
}

// pipeline has shards made by their numbers.
func pipeline(fn *shardMaker, numbers []int) *sdk.Pipeline {
	p := sdk.NewPipeline()
	s := p.Root().Scope("convert")
	// Redistributed after Create, so that they are not all on the worker that ran it.
	made := sdk.ParDo(s, fn, sdk.Reshuffle(s, sdk.CreateList(s, numbers)))
	// The names are not used, but while a step without any output runs, prism (2.77.0,
	// stage.Execute) spins and uses a core.
	sdk.ParDo0(s, end, sdk.Reshuffle(s, made))
	return p
}

// end takes the name of a shard that was made.
func end(string) {}

// shardMaker makes shards by their numbers. Its exported fields are sent to workers.
type shardMaker struct {
	Args []string // of the command, for command.JoinJob
	Dir  string   // the driver's working directory, where relative paths begin
	Plan string   // the plan's name

	job    *sharedJob
	bundle *bundle
}

// Setup plans, unless a maker of this process has done so.
func (fn *shardMaker) Setup(ctx context.Context) (err error) {
	fn.job, err = fn.shared(ctx)
	return err
}

// StartBundle begins to make shards of a bundle.
func (fn *shardMaker) StartBundle(ctx context.Context, _ func(string)) {
	fn.bundle = newBundle(ctx, fn.job)
}

// ProcessElement starts to make a shard, and emits the names of shards that have been made. It
// returns when there is a slot for the shard, so that one is always in progress.
func (fn *shardMaker) ProcessElement(ctx context.Context, number int, emit func(string)) error {
	err := fn.bundle.begin(number)
	fn.bundle.report(ctx, emit)
	return err
}

// FinishBundle waits for the shards of the bundle.
func (fn *shardMaker) FinishBundle(ctx context.Context, emit func(string)) error {
	err := fn.bundle.wait()
	fn.bundle.report(ctx, emit)
	return err
}

// ahead bounds the number of shards of a bundle in progress.
const ahead = 4

// bundle is the shards that a runner wants to have made together or not at all.
type bundle struct {
	ctx    context.Context // of its goroutines
	cancel context.CancelFunc
	job    *sharedJob
	slots  chan struct{} // a token for each shard in progress
	active sync.WaitGroup

	mu   sync.Mutex
	made []convert.Made // and not reported yet
	err  error          // the first
}

func newBundle(ctx context.Context, job *sharedJob) *bundle {
	b := &bundle{job: job, slots: make(chan struct{}, ahead)}
	b.ctx, b.cancel = context.WithCancel(ctx)
	return b
}

// begin starts to make a shard when there is a slot. Once one has failed, it waits for those under
// way and returns the error.
func (b *bundle) begin(number int) error {
	b.slots <- struct{}{}
	if b.ctx.Err() != nil {
		<-b.slots
		return b.wait()
	}
	b.active.Go(func() {
		made, err := b.job.Make(b.ctx, number)
		b.mu.Lock()
		defer b.mu.Unlock()
		switch {
		case err == nil:
			b.made = append(b.made, made)
		case b.err == nil:
			b.err = fmt.Errorf("%s: %w", b.job.Shard(number), err)
			b.job.failed(b.err)
			b.cancel()
		}
		<-b.slots
	})
	return nil
}

// wait waits for all shards in progress.
func (b *bundle) wait() error {
	b.active.Wait()
	defer b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		return b.ctx.Err()
	}
	return b.err
}

// report counts and emits what was made since the last time. Beam wants that done
// where it calls.
func (b *bundle) report(ctx context.Context, emit func(string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.made {
		countShards.Inc(ctx, 1)
		countSamples.Inc(ctx, m.Samples)
		countErrors.Inc(ctx, m.Errors)
		countBytes.Inc(ctx, m.Bytes)
		emit(m.File)
	}
	b.made = nil
}
