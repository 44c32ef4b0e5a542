package beam

import (
	"context"
	"path/filepath"
	"sync"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard/reshape"
)

func init() {
	register.DoFn2x0[[]byte, func(int)](&listParts{})
	register.DoFn3x1[context.Context, int, func(int, []byte), error](&readPart{})
	register.DoFn4x1[context.Context, int, func(*[]byte) bool, func(string), error](&writeShard{})
	register.Emitter1[int]()
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
}

// The counters of a reshard, in addition to those shared with conversions.
var (
	countRead      = sdk.NewCounter(namespace, "records_read")
	countBytesRead = sdk.NewCounter(namespace, "bytes_read")
	countRecords   = sdk.NewCounter(namespace, "records")
	countKept      = sdk.NewCounter(namespace, "shards_kept")
)

// reshard does what reshape.Reshard does with the same arguments, and makes the same bytes: workers
// read parts of the inputs, Beam's GroupByKey collects the records of each shard, and workers write
// the shards.
func reshard(ctx context.Context, in []string, out string, o reshape.ReshardOptions) (*reshape.Report, error) {
	r, err := reshape.PlanReshard(ctx, in, out, o)
	if err != nil {
		return nil, err
	}
	if plan := r.Plan(); plan != nil && plan.Kept() < plan.Shards() {
		if err := spread(ctx, plan, o.Progress); err != nil {
			return nil, r.Abandon(ctx, err)
		}
	}
	return r.Finish(ctx)
}

// spread has a runner read the parts of a plan and write its shards.
func spread(ctx context.Context, plan *reshape.ReshardPlan, progress *reshape.Progress) error {
	at, err := locate(plan)
	if err != nil {
		return err
	}
	here, cancel := context.WithCancel(ctx)
	running.Store(at, here)
	defer func() {
		running.Delete(at)
		cancel()
	}()
	p := sdk.NewPipeline()
	s := p.Root().Scope("reshard")
	parts := sdk.ParDo(s.Scope("list parts"), &listParts{Parts: plan.Parts()}, sdk.Impulse(s))
	rows := sdk.ParDo(s.Scope("read"), &readPart{Plan: at}, sdk.Reshuffle(s, parts))
	written := sdk.ParDo(s.Scope("write"), &writeShard{Plan: at}, sdk.GroupByKey(s, rows))
	sdk.ParDo0(s.Scope("end"), end, sdk.Reshuffle(s, written)) // as conversions do
	if progress != nil {
		progress.Planned.Store(2 * plan.Records()) // they are read and written
	}
	_, err = execute(ctx, p, func(counts map[string]int64) {
		if progress != nil {
			progress.Done.Store(counts["records_read"] + counts["records"])
			progress.Bytes.Store(counts["bytes_read"] + counts["bytes"])
		}
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// planAt is where a worker finds a plan.
type planAt struct{ Out, ID string }

func locate(plan *reshape.ReshardPlan) (planAt, error) {
	at := planAt{plan.Out(), plan.ID()}
	if storage.Remote(at.Out) {
		return at, nil
	}
	var err error
	at.Out, err = filepath.Abs(at.Out) // workers may have another directory
	return at, err
}

// running are the contexts of the plans that this process has begun, by planAt: the work of its own
// workers ends with them.
var running sync.Map

// within returns a context that ends with the plan's run, too, if that is of this
// process.
func (at planAt) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() bool { return true }
	if run, ok := running.Load(at); ok {
		run := run.(context.Context)
		stop = context.AfterFunc(run, func() { cancel(context.Cause(run)) })
	}
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// listParts gives the numbers of all parts.
type listParts struct{ Parts int }

// ProcessElement is called once.
func (l *listParts) ProcessElement(_ []byte, emit func(int)) {
	for part := range l.Parts {
		emit(part)
	}
}

// readPart reads parts, and gives batches of records with the shards that they go to.
type readPart struct {
	Plan planAt

	plan *reshape.ReshardPlan
}

// Setup opens the plan.
func (r *readPart) Setup(ctx context.Context) (err error) {
	r.plan, err = reshape.OpenReshardPlan(ctx, r.Plan.Out, r.Plan.ID)
	return err
}

// ProcessElement reads one part.
func (r *readPart) ProcessElement(ctx context.Context, part int, emit func(int, []byte)) error {
	within, cancel := r.Plan.within(ctx)
	defer cancel()
	counts, err := r.plan.Read(within, part, func(shard int, batch []byte) error {
		emit(shard, batch)
		return nil
	})
	countRead.Inc(ctx, counts.Records)
	countBytesRead.Inc(ctx, counts.Bytes)
	return err
}

// writeShard writes shards from their batches, and emits their names.
type writeShard struct {
	Plan planAt

	plan *reshape.ReshardPlan
}

// Setup opens the plan.
func (w *writeShard) Setup(ctx context.Context) (err error) {
	w.plan, err = reshape.OpenReshardPlan(ctx, w.Plan.Out, w.Plan.ID)
	return err
}

// ProcessElement writes one shard.
func (w *writeShard) ProcessElement(ctx context.Context, number int, next func(*[]byte) bool, emit func(string)) error {
	within, cancel := w.Plan.within(ctx)
	defer cancel()
	counts, err := w.plan.Write(within, number, func(yield func([]byte, error) bool) {
		for batch := []byte(nil); next(&batch) && yield(batch, nil); {
		}
	})
	if err != nil {
		return err
	}
	if counts.Kept {
		countKept.Inc(ctx, 1)
	}
	countRecords.Inc(ctx, counts.Records)
	countBytes.Inc(ctx, counts.Bytes)
	countShards.Inc(ctx, 1)
	emit(w.plan.ShardFile(number))
	return nil
}
