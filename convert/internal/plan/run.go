package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/option"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// run is one conversion: what was planned, kept and made.
type run struct {
	target
	destination
	source   Source // nil for a run that only finalizes
	skipped  int64
	leftOut  []LeftOut
	inPlace  []bool         // shards that are kept in dir, and not staged; by number, as done and kept
	done     []*setdir.Done // kept or made
	kept     []bool
	plan     *arrayPlan // of a task of an array job
	began    time.Time
	decoded  *Tally // images by decoder; nil if there is only one
	workers  int    // goroutines that make records
	memory   int64  // as Layout has it
	causes   []string
	progress *Progress
}

// target is the set that a run makes, as it is planned.
type target struct {
	*Options
	described manifest.Manifest
	options   map[string]json.RawMessage // effective, as in the manifest
	table     option.Table               // of all options; nil when a set is finalized
	// hashedOptions are the optionBytes of options.
	hashedOptions string
	codecs        Codecs
	shards        []Shard
}

// destination is the directory of a set with its present contents.
type destination struct {
	dir *setdir.Dir
	// stage is where shards are written if a whole set will be replaced; nil if finished shards are
	// renamed directly into dir.
	stage      *setdir.Dir
	overwrites bool      // the set in dir has other options, so that none of its shards is kept
	before     *Previous // all that an earlier run named, whatever its options
}

// newRun returns a run of a planned source; execute carries it out.
func newRun(o *Options, src Source) (*run, error) {
	l := src.Layout()
	encoded := make(map[string]json.RawMessage, len(l.Options))
	for k, v := range l.Options {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", k, err)
		}
		encoded[k] = b
	}
	described := manifest.Manifest{Labels: []string{}}
	src.Describe(&described)
	r := emptyRun(o, l.Shards, described, encoded, l.Codecs)
	r.table = l.Table
	r.source, r.skipped, r.leftOut, r.decoded = src, l.Skipped, l.LeftOut, l.Decoded
	r.workers, r.memory, r.causes = cmp.Or(l.Workers, r.workers), l.Memory, l.Causes
	return r, nil
}

// emptyRun returns a run of which nothing is done yet.
func emptyRun(o *Options, shards []Shard, described manifest.Manifest, options map[string]json.RawMessage, c Codecs) *run {
	r := &run{
		target:   target{Options: o, described: described, options: options, hashedOptions: string(optionBytes(options)), codecs: c, shards: shards},
		progress: o.Progress, workers: o.Goroutines(),
	}
	if r.progress == nil {
		r.progress = new(Progress)
	}
	r.done, r.kept, r.inPlace = make([]*setdir.Done, len(shards)), make([]bool, len(shards)), make([]bool, len(shards))
	return r
}

// execute compares the plan with the set that an earlier run left, makes the shards that are missing
// or out of date, and writes the manifest.
func (r *run) execute(ctx context.Context, before *Previous) (*Summary, error) {
	if err := r.checkNames(); err != nil {
		return nil, err
	}
	if err := r.checkDepfile(ctx); err != nil {
		return nil, err
	}
	if err := r.refuseUnexpected(); err != nil {
		return nil, err
	}
	if r.Task != nil && !r.DryRun {
		return r.agreed().executeTask(ctx)
	}
	like, err := r.reconcile(before)
	if err != nil {
		return nil, err
	}
	if err := r.keepWhatIsUpToDate(ctx, like); err != nil {
		return nil, err
	}
	todo := r.todo()
	if r.DryRun {
		return r.preview(ctx)
	}
	r.source.Remember()
	if err := r.sweep(); err != nil { // left by a killed run
		return nil, err
	}
	if len(todo) > 0 {
		if err := r.prepareOut(like, todo); err != nil {
			return nil, err
		}
		if err := r.make(ctx, todo); err != nil {
			return nil, err
		}
		r.source.Remember()
	}
	sum, err := r.finishing().finish(like, len(todo) > 0)
	if err == nil {
		err = r.putDepfile(sum.Status)
	}
	return sum, err
}

// reconcile decides whether this run can continue from the results of an earlier one, and returns
// them: nil if they were made with other options and must be replaced. An incomplete set is then
// removed. It returns an error if replacing is not allowed.
func (r *run) reconcile(before *Previous) (*Previous, error) {
	known := before // known to us: their files are not foreign
	r.stageOver(before)
	if before != nil {
		if diff := r.difference(before); diff != "" {
			unfinished := before.manifest == nil && before.samples == 0 && before.options[setdir.OptionVerb] == nil
			if unfinished && !r.Overwrite {
				r.Notef("%s holds an unfinished set made from other inputs or options, which is discarded: %s", r.dir.Path(), diff)
			} else if !r.Overwrite {
				return nil, setdir.MadeOtherwise(r.dir.Path(), diff, optname.OptionsOverwrite.String())
			}
			if !r.DryRun && r.stage == nil {
				if err := r.removeOld(before); err != nil {
					return nil, err
				}
			}
			before = nil
		}
	}
	if err := r.refuseShrink(before); err != nil {
		return nil, err
	}
	return before, r.refuseForeign(known)
}

// stageOver stages the shards of a set that replaces a complete one. Stores have no rename: there
// the manifest is removed first, and its absence marks the set as unfinished.
func (r *run) stageOver(before *Previous) {
	r.before = before
	if before != nil && before.manifest != nil && !r.dir.Remote() {
		r.stage = r.dir.Stage()
		r.overwrites = r.difference(before) != ""
	}
}

// open gives the run its directory again, which was closed in between.
func (r *destination) open(dir *setdir.Dir) {
	r.dir = dir
	if r.stage != nil {
		r.stage = dir.Stage()
	}
}

// into returns the directory for new shards.
func (r *destination) into() *setdir.Dir {
	if r.stage != nil {
		return r.stage
	}
	return r.dir
}

// sweep removes partial files of killed runs.
func (r *destination) sweep() error {
	if r.stage != nil {
		if err := r.stage.Sweep(); err != nil {
			return err
		}
	}
	return r.dir.Sweep()
}

// prepareOut prepares the output for shards that are renamed directly into it.
func (r *run) prepareOut(before *Previous, todo []int) error {
	if r.stage != nil {
		r.noteRoom(todo)
		return nil
	}
	if err := r.announce(before, false); err != nil {
		return err
	}
	return r.removeManifest(before)
}

// todo returns the shards that this run has to make and does not keep, and sets the progress.
func (r *run) todo() []int {
	var todo []int
	var samples int64
	shards := 0
	for i := range r.shards {
		if !r.mine(i) {
			continue
		}
		shards++
		if !r.kept[i] {
			todo = append(todo, i)
			samples += r.shards[i].Samples
		}
	}
	r.progress.Shards.Store(int64(shards))
	r.progress.Kept.Store(int64(shards - len(todo)))
	r.progress.Planned.Store(samples)
	return todo
}

// removeManifest removes what would describe shards that are replaced in place.
func (r *destination) removeManifest(before *Previous) error {
	if r.stage != nil {
		return nil
	}
	describing := []string{manifest.File}
	if before != nil && before.files[manifest.TFDSInfoFile] {
		describing = append(describing, manifest.TFDSInfoFile)
	}
	return r.dir.Remove(describing...)
}

// make makes the given shards. Failed ones are retried Retries times.
func (r *run) make(ctx context.Context, todo []int) error {
	for attempt := 1; ; attempt++ {
		err := r.tryToMake(ctx, todo)
		if err == nil || ctx.Err() != nil || attempt > r.Retries {
			return err
		}
		todo = slices.DeleteFunc(slices.Clone(todo), func(j int) bool { return r.done[j] != nil })
		pause := retryPause << min(attempt-1, 5)
		r.Notef("%v; trying %s again in %v (%d of %d)", err, plural.Of(len(todo), "shard"), pause, attempt, r.Retries)
		if par.Sleep(ctx, pause) != nil {
			return ctx.Err()
		}
	}
}

// retryPause is the delay before the first retry; each further one takes twice as long, up to 32
// times.
const retryPause = time.Second / 2

func (r *run) tryToMake(ctx context.Context, todo []int) error {
	if err := r.source.Prepare(ctx, todo, true); err != nil {
		return err
	}
	defer r.source.Rest()
	next := func(bool) (shard int, more bool, err error) {
		if len(todo) == 0 {
			return 0, false, nil
		}
		shard, todo = todo[0], todo[1:]
		return shard, true, nil
	}
	return r.makeShards(ctx, next, func(shard int, done *setdir.Done) { r.done[shard] = done })
}

// makeShards makes the shards that next returns, each begun before the previous ones are
// in place, and calls made for each that is in place, possibly concurrently for different shards. An
// error of one shard, a *shardError if it is known which, ends all that are in progress.
func (r *run) makeShards(ctx context.Context, next nextShard, made func(shard int, done *setdir.Done)) error {
	w := newWriters(ctx, r, made)
	err := ordered(ctx, r.inTurns(ctx, next, w.turns.Load), r.workers, window(r.workers), heldBytes, r.memory, w.add)
	return w.close(err)
}

// shardError is an error while making one shard.
type shardError struct {
	shard int
	error
}

func (e *shardError) Unwrap() error { return e.error }

// ofShard adds the shard to an error; nil remains nil.
func ofShard(shard int, err error) error {
	if err == nil {
		return nil
	}
	return &shardError{shard, err}
}

// fingerprint hashes the fingerprints of all shards into the set's. It is empty if a shard has none
// yet.
func (r *run) fingerprint() string {
	h := NewFingerprint()
	for _, d := range r.done {
		if d == nil {
			return ""
		}
		h.Add(d.File, d.Shard.Fingerprint)
	}
	return h.String()
}

// manifest describes the finished set.
func (r finishing) manifest() *manifest.Manifest {
	described := r.described
	m := &described
	m.Format, m.Version, m.Tool = manifest.Format, manifest.Version, build.Tool
	m.Name, m.Options, m.Seed, m.Fingerprint = r.Name, r.options, r.Seed, r.fingerprint()
	m.Decoder, m.Encoder = r.codecs.Decoder, r.codecs.Encoder
	m.Compression, m.Records = CompressionName(r.Compression), manifest.RecordExample
	for _, d := range r.done {
		m.Errors += int64(len(d.Bad))
	}
	for i, d := range r.done {
		split := r.shards[i].Name.Split
		if len(m.Splits) == 0 || m.Splits[len(m.Splits)-1].Name != split {
			m.Splits = append(m.Splits, manifest.Split{Name: split})
		}
		s := &m.Splits[len(m.Splits)-1]
		s.Records += d.Records
		s.Shards = append(s.Shards, d.Shard)
	}
	describeDepth(m)
	return m
}

// CompressionName returns the name of a compression in manifests.
func CompressionName(c tfrecord.Compression) string {
	if c == tfrecord.CompressionAuto {
		c = tfrecord.CompressionNone
	}
	return c.String()
}
