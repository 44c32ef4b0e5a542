package convert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/shard"
)

// Job is a conversion whose shards are made one by one, by number, in the order
// and by the processes that somebody else chooses, such as an engine for
// pipelines. One process begins it (BeginImages, BeginCSV) and ends it with Run;
// others may join it (JoinImages, JoinCSV) with the same input, options and output
// directory, and make shards of it. All of them plan for themselves, once, and hold
// their plans to the one that lies in the directory, as the tasks of an array job do.
//
// A shard that is made twice, at the same time too, is the same shard. Those that
// are in place and up to date are kept.
type Job struct {
	*shardQueue
	before *previous
	todo   []int
	closed bool // by Close
}

// Made is what a shard of a Job holds.
type Made struct {
	File string // its name
	// Samples planned for it: Records, Errors and Filtered add up to it.
	Samples, Records, Errors, Filtered int64
	Bytes                              int64 // of the file
}

// BeginImages plans what Images would do with the same arguments, as a Job whose
// Run does it. It writes the plan into the directory out, which it shares with those
// that join, and, when there is something to make, removes the manifest. A plan of
// shards that were never made into a set is given up for another one, as long as
// nobody is at work on it: otherwise the error unwraps to shard.ErrBusy.
// Options.Task and Options.DryRun must not be set. Close it.
func BeginImages(ctx context.Context, src, out string, o ImageOptions) (*Job, error) {
	return begin(ctx, &imageInput{o: &o, src: src}, out)
}

// BeginCSV is BeginImages for CSV.
func BeginCSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Job, error) {
	return begin(ctx, &csvInput{o: &o, srcs: srcs}, out)
}

// JoinImages plans again what another process began with BeginImages, to make
// shards of it. Its arguments must be the same, but for Workers, Retries, Overwrite,
// HashInputs, Depfile, Progress and Note. The error says what differs when the plan
// is another one: here, the input may look different. Close it.
func JoinImages(ctx context.Context, src, out string, o ImageOptions) (*Job, error) {
	return join(ctx, &imageInput{o: &o, src: src}, out)
}

// JoinCSV is JoinImages for CSV. With Shuffle, each process that joins reads all of
// the tables.
func JoinCSV(ctx context.Context, srcs []string, out string, o CSVOptions) (*Job, error) {
	return join(ctx, &csvInput{o: &o, srcs: srcs}, out)
}

// begin makes a Job of an input. It is alone in the directory until the plan is
// written.
func begin(ctx context.Context, in input, out string) (_ *Job, err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	if err := in.scan(ctx, out); err != nil {
		return nil, err
	}
	o := in.shared()
	if o.Task != nil || o.DryRun {
		return nil, optionError("Options.Task", "a conversion whose shards are made elsewhere allows neither tasks nor dry runs")
	}
	dir, err := setdir.Open(ctx, out, setdir.Options{Note: o.Note, Names: shard.ManifestFiles})
	if err != nil {
		return nil, err
	}
	r, before, err := planInto(ctx, in, dir, began)
	if err == nil {
		before, err = r.beginJob(ctx, before)
	}
	if closing := dir.Close(); err == nil {
		err = closing
	}
	if err == nil {
		dir, err = setdir.Open(ctx, out, setdir.Options{Join: true, Note: o.Note, Names: shard.ManifestFiles})
	}
	if err != nil {
		return nil, err
	}
	r.open(dir)
	j := &Job{shardQueue: newShardQueue(ctx, r, in.close), before: before, todo: r.todo()}
	if len(j.todo) > 0 {
		if err := r.stillPlanned(); err != nil {
			return nil, errors.Join(err, r.dir.Close())
		}
	}
	r.source.attach(r.dir)
	return j, nil
}

// beginJob looks at the directory as execute does, and puts the plan there.
func (r *run) beginJob(ctx context.Context, before *previous) (*previous, error) {
	if err := r.checkNames(); err != nil {
		return nil, err
	}
	if err := r.checkDepfile(); err != nil {
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
		r.note("discarded the plan of an unfinished conversion: %s", r.plan.difference(other))
	}
	r.Replan = true
	if err := r.keepWhatIsUpToDate(ctx, before); err != nil {
		return nil, err
	}
	r.source.remember()
	if err := r.sweep(); err != nil { // what a killed run left
		return nil, err
	}
	return before, r.begin(before, len(r.todo()) > 0)
}

// join makes a Job of an input that another process has begun.
func join(ctx context.Context, in input, out string) (_ *Job, err error) {
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	if err := in.scan(ctx, out); err != nil {
		return nil, err
	}
	dir, err := setdir.Open(ctx, out, setdir.Options{Join: true, Note: in.shared().Note, Names: shard.ManifestFiles})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	r, before, err := planInto(ctx, in, dir, time.Now())
	if err != nil {
		return nil, err
	}
	r.stageOver(before)
	r.plan = r.makePlan()
	planned, err := r.underWay()
	if err != nil {
		return nil, err
	}
	if !planned {
		return nil, fmt.Errorf("%s has no plan of a running conversion: it is not the directory that the other processes see, or the conversion has ended", out)
	}
	b := newShardQueue(ctx, r, in.close)
	b.joins = out
	return &Job{shardQueue: b, before: before}, nil
}

// Todo returns the numbers of the shards that were not up to date when the Job was
// begun, ascending; none for one that was joined. The caller must not change it.
func (j *Job) Todo() []int { return j.todo }

// Plan names the plan: jobs with the same one make the same shards of the same inputs.
func (j *Job) Plan() string { return j.run.plan.id() }

// Shard returns the name of a shard by its number, from 0 to before what Shards
// returns.
func (j *Job) Shard(i int) string { return j.run.jobs[i].name.String() }

// Shards returns how many shards the set has.
func (j *Job) Shards() int { return len(j.run.jobs) }

// Progress is what counts the samples that this process makes, and those that it
// has to make.
func (j *Job) Progress() *Progress { return j.run.progress }

// Make makes one shard by its number, unless it is in place and up to date, and
// returns what it holds. It may be called from any number of goroutines, and is best
// called from a few: shards are made by Options.Workers goroutines, one behind the
// other in the order of the calls, and the next one is begun before the last is in
// place if it was asked for by then. What is held in memory does not grow with the calls.
//
// A shard that fails is tried again as often as Options.Retries says. When ctx ends,
// Make returns its cause; the shard may be made all the same.
func (j *Job) Make(ctx context.Context, i int) (Made, error) {
	if i < 0 || i >= len(j.run.jobs) {
		return Made{}, fmt.Errorf("there is no shard %d of %d", i, len(j.run.jobs))
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

// Run ends the conversion that Begin began: it has work make what Todo names,
// wherever that is, and then makes a set of it, as Finalize does, with the status
// and counts of a run without a Job. Work that returns an error leaves what is
// finished for the next run. The Job is closed when Run returns.
//
// Shards that are missing after work are a *MissingShardsError; processes that are
// at work half a minute after it an error that unwraps to shard.ErrBusy.
func (j *Job) Run(ctx context.Context, work func(context.Context) error) (*Summary, error) {
	defer j.Close()
	if len(j.todo) > 0 {
		if err := work(ctx); err != nil {
			j.stop()
			// Without a directory that answers there is what the progress was told.
			if others, unknown := j.byOthers(context.WithoutCancel(ctx)); unknown == nil {
				j.run.progress.Finished.Store(j.madeHere() + int64(len(others)))
			}
			return nil, j.run.unfinished(ctx, err)
		}
	}
	j.stop()
	sum, err := j.finish(ctx)
	return sum, j.run.unfinished(ctx, err)
}

// byOthers returns what is known of the shards of the plan that were to be made, and
// were made by others, by number.
func (j *Job) byOthers(ctx context.Context) (map[int]*setdir.Done, error) {
	r := j.run
	var numbers []int
	var files []string
	for _, i := range j.todo {
		if r.done[i] == nil {
			numbers, files = append(numbers, i), append(files, r.jobs[i].name.String())
		}
	}
	staged, placed, err := r.allDone(ctx, files, false)
	if err != nil {
		return nil, err
	}
	made := map[int]*setdir.Done{}
	for n, i := range numbers {
		if done, inPlace := r.planned(staged[n], placed[n]); done != nil {
			made[i], r.inPlace[i] = done, inPlace
		}
	}
	return made, nil
}

// madeHere is how many shards this process has made, once the queue has stopped.
func (j *Job) madeHere() int64 {
	n := int64(0)
	for _, i := range j.todo {
		if j.run.done[i] != nil {
			n++
		}
	}
	return n
}

// finish makes a set of the shards, alone in the directory.
func (j *Job) finish(ctx context.Context) (*Summary, error) {
	r := j.run
	out := r.dir.Path()
	if err := r.dir.Close(); err != nil {
		return nil, err
	}
	dir, err := setdir.OpenWhenFree(ctx, out, setdir.Options{Note: r.Note, Names: shard.ManifestFiles}, stragglers)
	if err != nil {
		return nil, err
	}
	r.open(dir) // Close closes it
	if len(j.todo) > 0 {
		if err := r.stillPlanned(); err != nil {
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
			missing = append(missing, r.jobs[i].name.String())
		}
	}
	if missing != nil {
		return nil, &MissingShardsError{Dir: out, Missing: missing, Planned: len(r.jobs)}
	}
	sum, err := r.finish(j.before, len(j.todo) > 0)
	if err == nil {
		err = r.putDepfile(sum.Status)
	}
	return sum, err
}

// stragglers is how long Run waits for processes that joined and have nothing
// left to do: they give the directory back on their own.
const stragglers = 30 * time.Second

// Close gives everything back. It waits for what Make has under way, which it
// cancels, and may be called again. Shards that are finished remain.
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
