package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Job is a conversion whose shards are made one by one, by number, in an order and by processes
// chosen by the caller, such as a pipeline engine. One process begins it (BeginImages, BeginCSV,
// BeginTable) and ends it with Run; others may join it (JoinImages, JoinCSV, JoinTable) with the
// same input, options and output directory, and make shards of it. Each process plans once by
// itself and compares its plan with the one in the directory, like the tasks of an array job.
//
// Making a shard twice, even concurrently, gives the same shard. Shards that are in place and up to
// date are kept.
type Job struct {
	*shardQueue
	before *Previous
	todo   []int
	closed bool // by Close
}

// Made describes a shard of a Job.
type Made struct {
	File string // its name
	// Samples is the number planned for it, as in Summary.
	Samples, Records, Errors, Filtered int64
	Bytes                              int64 // of the file
}

// Begin makes a Job of an input. It holds the directory exclusively until the plan is written.
func Begin(ctx context.Context, in Input, out string) (_ *Job, err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	if err := in.Scan(ctx, out); err != nil {
		return nil, err
	}
	o := in.Shared()
	if o.Task != nil || o.DryRun {
		return nil, OptionErrorf(optname.OptionsTask, "a conversion whose shards are made elsewhere allows neither tasks nor dry runs")
	}
	dir, err := setdir.Open(ctx, out, setdir.Options{Note: o.Note})
	if err != nil {
		return nil, err
	}
	r, before, err := planInto(ctx, in, dir, began)
	if err == nil {
		before, err = r.agreed().beginJob(ctx, before)
	}
	if closing := dir.Close(); err == nil {
		err = closing
	}
	if err == nil {
		dir, err = setdir.Open(ctx, out, setdir.Options{Join: true, Note: o.Note})
	}
	if err != nil {
		return nil, err
	}
	r.open(dir)
	j := &Job{shardQueue: newShardQueue(ctx, r, in.Close), before: before, todo: r.todo()}
	if len(j.todo) > 0 {
		if err := r.agreed().stillPlanned(); err != nil {
			return nil, errors.Join(err, r.dir.Close())
		}
	}
	r.source.Attach(r.dir)
	return j, nil
}

// beginJob checks the directory as execute does, and writes the plan.
func (r agreed) beginJob(ctx context.Context, before *Previous) (*Previous, error) {
	if err := r.checkNames(); err != nil {
		return nil, err
	}
	if err := r.checkDepfile(ctx); err != nil {
		return nil, err
	}
	before, err := r.reconcile(before)
	if err != nil {
		return nil, err
	}
	r.plan = r.makePlan()
	other, err := readPlan(r.dir)
	if err != nil {
		return nil, err
	}
	if other != nil && other.id() != r.plan.id() {
		r.Notef("discarded the plan of an unfinished conversion: %s", r.otherPlan(other))
	}
	r.Replan = true
	if err := r.keepWhatIsUpToDate(ctx, before); err != nil {
		return nil, err
	}
	r.source.Remember()
	if err := r.sweep(); err != nil { // left by a killed run
		return nil, err
	}
	return before, r.begin(before, len(r.todo()) > 0)
}

// Join makes a Job of an input that another process has begun.
func Join(ctx context.Context, in Input, out string) (_ *Job, err error) {
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	if err := in.Scan(ctx, out); err != nil {
		return nil, err
	}
	dir, err := setdir.Open(ctx, out, setdir.Options{Join: true, Note: in.Shared().Note})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	r, before, err := planInto(ctx, in, dir, time.Now())
	if err != nil {
		return nil, err
	}
	r.stageOver(before)
	r.plan = r.agreed().makePlan()
	planned, err := r.agreed().underWay()
	if err != nil {
		return nil, err
	}
	if !planned {
		return nil, fmt.Errorf("%s has no plan of a running conversion: it is not the directory that the other processes see, or the conversion has ended", out)
	}
	b := newShardQueue(ctx, r, in.Close)
	b.joins = out
	return &Job{shardQueue: b, before: before}, nil
}

// Todo returns the numbers of the shards that were not up to date when the Job was begun,
// ascending; nil for a joined Job. The caller must not modify it.
func (j *Job) Todo() []int { return j.todo }

// Plan identifies the plan: jobs with the same one make the same shards of the same inputs.
func (j *Job) Plan() string { return j.run.plan.id() }

// Shard returns the name of shard i, 0 ≤ i < Shards.
func (j *Job) Shard(i int) string { return j.run.shards[i].Name.String() }

// Shards returns the number of shards of the set.
func (j *Job) Shards() int { return len(j.run.shards) }

// Progress returns the counters of the samples that this process makes, and of those it has to
// make.
func (j *Job) Progress() *Progress { return j.run.progress }

// Make makes shard i, unless it is in place and up to date, and describes it. It is safe for
// concurrent use, and works best with a few concurrent calls: shards are begun in the order of the
// calls and made by Options.Workers goroutines. If the next one was requested in time it begins
// before the last is in place or, where writing a shard takes longer than making its records, before
// all of these are made. Memory use does not grow with the number of calls.
//
// A shard that fails is retried Options.Retries times. When ctx ends, Make returns its cause; the
// shard may still be made.
func (j *Job) Make(ctx context.Context, i int) (Made, error) {
	if i < 0 || i >= len(j.run.shards) {
		return Made{}, fmt.Errorf("there is no shard %d of %d", i, len(j.run.shards))
	}
	o := j.ask(i)
	select {
	case <-o.ready:
	case <-ctx.Done():
		return Made{}, context.Cause(ctx)
	}
	if o.err != nil {
		return Made{}, o.err
	}
	d := o.done
	return Made{d.File, d.Samples, d.Records, int64(len(d.Bad)), d.Filtered, d.Bytes}, nil
}

// Run ends the conversion that Begin began: it calls work to make the shards in Todo, wherever that
// happens, and then makes a set of them, like Finalize, with the status and counts of a run without
// a Job. If work returns an error, finished shards are kept for the next run. Run closes the Job.
//
// Shards that are missing after work are a *MissingShardsError; processes still working half a
// minute after it are an error that unwraps to shard.ErrBusy.
func (j *Job) Run(ctx context.Context, work func(context.Context) error) (*Summary, error) {
	defer j.Close()
	if len(j.todo) > 0 {
		if err := work(ctx); err != nil {
			j.stop()
			// If the directory cannot be read, the progress counters remain.
			look, cancel := storage.Cleanup(ctx, lookTimeout)
			defer cancel()
			if others, unknown := j.byOthers(look); unknown == nil {
				j.run.progress.Finished.Store(j.madeHere() + int64(len(others)))
			}
			return nil, j.run.unfinished(ctx, err)
		}
	}
	j.stop()
	sum, err := j.finish(ctx)
	return sum, j.run.unfinished(ctx, err)
}

// lookTimeout bounds the time in which a failed run looks for shards that others made.
const lookTimeout = 10 * time.Second

// byOthers returns the state of the shards that were to be made and were made by others, by number.
func (j *Job) byOthers(ctx context.Context) (map[int]*setdir.Done, error) {
	r := j.run
	var numbers []int
	var files []string
	for _, i := range j.todo {
		if r.done[i] == nil {
			numbers, files = append(numbers, i), append(files, r.shards[i].Name.String())
		}
	}
	staged, placed, err := r.allDone(ctx, files, false, nil)
	if err != nil {
		return nil, err
	}
	made := map[int]*setdir.Done{}
	for n, i := range numbers {
		if done, inPlace := r.agreed().planned(staged[n], placed[n]); done != nil {
			made[i], r.inPlace[i] = done, inPlace
		}
	}
	return made, nil
}

// madeHere is the number of shards made by this process, once the queue has stopped.
func (j *Job) madeHere() int64 {
	n := int64(0)
	for _, i := range j.todo {
		if j.run.done[i] != nil {
			n++
		}
	}
	return n
}

// finish makes a set of the shards, with exclusive access to the directory.
func (j *Job) finish(ctx context.Context) (*Summary, error) {
	r := j.run
	out := r.dir.Path()
	if err := r.dir.Close(); err != nil {
		return nil, err
	}
	dir, err := setdir.OpenWhenFree(ctx, out, setdir.Options{Note: r.Note}, stragglers)
	if err != nil {
		return nil, err
	}
	r.open(dir) // Close closes it
	if len(j.todo) > 0 {
		if err := r.agreed().stillPlanned(); err != nil {
			return nil, err
		}
	}
	others, err := j.byOthers(ctx)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, i := range j.todo {
		switch {
		case r.done[i] != nil:
		case others[i] != nil:
			r.done[i] = others[i]
		default:
			missing = append(missing, r.shards[i].Name.String())
		}
	}
	if missing != nil {
		return nil, &MissingShardsError{Dir: out, Missing: missing, Planned: len(r.shards)}
	}
	sum, err := r.finishing().finish(j.before, len(j.todo) > 0)
	if err == nil {
		err = r.putDepfile(sum.Status)
	}
	return sum, err
}

// stragglers is the time for which Run waits for joined processes that have nothing left to do:
// they release the directory on their own.
const stragglers = 30 * time.Second

// Close releases all resources. It cancels running calls of Make and waits for them, and may be
// called more than once. Finished shards are kept.
func (j *Job) Close() error {
	if j.closed {
		return nil
	}
	j.closed = true
	j.stop()
	j.release()
	if j.joins != "" {
		return nil // the queue has closed it
	}
	return j.run.dir.Close()
}
