package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// mine reports whether this run makes a shard.
func (r *run) mine(shard int) bool { return r.Task == nil || shard%r.Task.Count == r.Task.Index }

// planFile holds the plan of an array job until the job is finalized.
const planFile = setdir.ArrayPlanFile

// arrayPlan holds everything that the tasks of one array job must agree on and that Finalize needs. Its
// bytes are the same for each task.
type arrayPlan struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Tool    string `json:"tool"`
	// Name, Options, Seed, Decoder and Encoder are the manifest's.
	Name    string                     `json:"name"`
	Options map[string]json.RawMessage `json:"options"`
	Seed    uint64                     `json:"seed"`
	Decoder string                     `json:"decoder"`
	Encoder string                     `json:"encoder"`
	// MaxErrors is the tolerance of Finalize.
	MaxErrors Tolerance `json:"max_errors"`
	Skipped   int64     `json:"skipped_files"`
	LeftOut   []LeftOut `json:"left_out"`
	// Records describes the contents of a record.
	Labels     []string             `json:"labels"`
	Features   []manifest.Feature   `json:"features"`
	Supervised *manifest.Supervised `json:"supervised,omitempty"`
	LabelMap   bool                 `json:"label_map,omitempty"`
	// Shards in the order of the manifest.
	Shards []plannedShard `json:"shards"`

	hash string // see named
}

// plannedShard is one shard of an arrayPlan.
type plannedShard struct {
	File    string `json:"file"`
	Samples int64  `json:"samples"`
	// Outline is a hash of the source's outline.
	Outline string `json:"outline"`
}

const (
	planFormat  = "tfrec.plan"
	planVersion = 1
)

// id returns the name of a plan; empty if there is none.
func (p *arrayPlan) id() string {
	if p == nil {
		return ""
	}
	return p.hash
}

// named computes the name of a complete plan. Each shard is stamped with it, so it is computed
// once.
func (p *arrayPlan) named() *arrayPlan {
	data, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("convert: a plan that was decoded or made of marshalled parts does not marshal: %v", err))
	}
	f := NewFingerprint()
	f.Add(string(data))
	p.hash = f.String()
	return p
}

// agreed is a run that shares its plan with other processes: a task of an array job, or a Job.
type agreed struct{ *run }

func (r *run) agreed() agreed { return agreed{r} }

// makePlan describes what this run would make on its own.
func (r agreed) makePlan() *arrayPlan {
	p := &arrayPlan{
		Format: planFormat, Version: planVersion, Tool: build.Tool, Name: r.Name, Options: r.options, Seed: r.Seed,
		Decoder: r.codecs.Decoder, Encoder: r.codecs.Encoder, MaxErrors: r.MaxErrors, Skipped: r.skipped, LeftOut: r.leftOut,
		Labels: r.described.Labels, Features: r.described.Features, Supervised: r.described.Supervised, LabelMap: r.described.LabelMap,
	}
	for i, j := range r.shards {
		f := NewFingerprint()
		f.Add(string(r.source.Outline(i)))
		p.Shards = append(p.Shards, plannedShard{File: j.Name.String(), Samples: j.Samples, Outline: f.String()})
	}
	return p.named()
}

// readPlan reads the plan of the current array job in a directory. It returns nil if there is none.
func readPlan(dir *setdir.Dir) (*arrayPlan, error) {
	data, err := dir.Read(planFile, setdir.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := new(arrayPlan)
	if err := setdir.DecodeState(data, p); err != nil || p.Format != planFormat || p.Version != planVersion {
		return nil, fmt.Errorf("%s is not a plan of this version of tfrec: remove it, and run all tasks again (finished shards are kept)", storage.Join(dir.Path(), planFile))
	}
	return p.named(), nil
}

// executeTask is execute for a task of an array job: it checks that the plan in the directory is
// its own, and makes its share of the shards.
func (r agreed) executeTask(ctx context.Context) (*Summary, error) {
	var before *Previous
	r.plan = r.makePlan()
	var planned bool
	isPlanned := func() (_ bool, err error) {
		planned, err = r.underWay()
		return planned, err
	}
	// Other tasks may have started since the directory was checked, and none starts while it is
	// checked again: their shards are not foreign. If the plan is already this task's, there is
	// nothing to check.
	err := r.dir.WithLockUnless(ctx, "plan", isPlanned, func() (err error) {
		if before, err = readPrevious(r.dir); err != nil {
			return err
		}
		if planned, err := isPlanned(); planned || err != nil {
			return err
		}
		if err := r.checkOptions(before); err != nil {
			return err
		}
		if err := r.refuseShrink(before); err != nil {
			return err
		}
		if err := r.refuseForeign(before); err != nil || before != nil {
			return err
		}
		return r.begin(nil, len(r.todo()) > 0) // there is nothing to keep
	})
	if err == nil && planned && before == nil {
		before, err = readPrevious(r.dir)
	}
	if err != nil {
		return nil, err
	}
	r.stageOver(before)
	if err := r.keepWhatIsUpToDate(ctx, before); err != nil {
		return nil, err
	}
	todo := r.todo()
	err = r.dir.WithLockUnless(ctx, "plan", isPlanned, func() error {
		if err := r.begin(before, len(todo) > 0); err != nil || before == nil || before.manifest != nil {
			return err
		}
		// A reader of an unfinished set would count shards of the abandoned plan as part of this
		// one.
		stale, err := before.stale(r.dir, r.intent(true).Files)
		return errors.Join(err, r.dir.Remove(stale...))
	})
	if err == nil && planned {
		err = r.removeManifest(before)
	}
	if err != nil {
		return nil, err
	}
	r.source.Remember()
	status := Written
	switch {
	case len(todo) == 0:
		status = UpToDate
	case r.progress.Kept.Load() > 0:
		status = Resumed
	}
	if len(todo) > 0 {
		if err := r.make(ctx, todo); err != nil {
			return nil, err
		}
	}
	return r.summary(status, r.plan.id()), nil
}

// checkOptions returns an error if the set in the directory has other options, unless it was never
// finished and Replan abandons it.
func (r agreed) checkOptions(before *Previous) error {
	if before == nil {
		return nil
	}
	diff := r.difference(before)
	replaceable := before.manifest == nil && before.options[setdir.OptionVerb] == nil
	switch {
	case diff == "", replaceable && r.Replan:
		return nil
	case replaceable:
		return setdir.MadeOtherwise(r.dir.Path(), diff, fmt.Sprintf("%s to discard that set, which is unfinished", optname.OptionsReplan))
	}
	return setdir.MadeOtherwise(r.dir.Path(), diff, "")
}

// underWay reports whether the plan in the directory is this run's. It returns an error if it is
// another one that must not be abandoned.
func (r agreed) underWay() (bool, error) {
	p, err := readPlan(r.dir)
	if err != nil || p == nil {
		return false, err
	}
	if p.id() == r.plan.id() {
		return true, nil
	}
	if r.Replan {
		return false, nil
	}
	before, err := readPrevious(r.dir)
	if err != nil {
		return false, err
	}
	if before != nil && before.manifest != nil {
		if err := r.checkOptions(before); err != nil {
			return false, err // Replan would not help
		}
	}
	return false, fmt.Errorf("%s: tasks of another plan are running: %s; give the same input and options, another directory, or %s to discard that plan",
		r.dir.Path(), r.otherPlan(p), optname.OptionsReplan)
}

// stillPlanned returns an error unless the plan in the directory is still this run's, after the
// directory was closed and reopened.
func (r agreed) stillPlanned() error {
	p, err := readPlan(r.dir)
	if err == nil && p.id() != r.plan.id() {
		err = fmt.Errorf("%s: this conversion has ended, or another one has begun in the directory", r.dir.Path())
	}
	return err
}

// begin writes this run's plan unless that was already done. In a store it removes the manifest of
// a finished set if shards must be made.
func (r agreed) begin(before *Previous, makes bool) error {
	planned, err := r.underWay()
	if err != nil {
		return err
	}
	if !planned {
		if !makes && before != nil && before.manifest != nil {
			return nil // the finished set already has this task's shards
		}
		if r.stage == nil {
			run := r.intent(true)
			// Whether or not they exist: tasks of an abandoned plan may still be running.
			run.Stale = before.others(run.Files)
			if err := r.dir.State().PutRun(run); err != nil {
				return err
			}
		}
		data, err := json.Marshal(r.plan)
		if err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if err := r.dir.Put(planFile, append(data, '\n')); err != nil {
			return err
		}
	}
	return r.removeManifest(before)
}

// otherPlan names the first difference of the run's plan from another one.
func (r agreed) otherPlan(was *arrayPlan) string {
	p := r.plan
	if p.Tool != was.Tool {
		return fmt.Sprintf("it is of %s, this is %s", was.Tool, p.Tool)
	}
	t := &target{Options: &Options{Name: p.Name, Shards: 1}, options: p.Options, table: r.table, codecs: Codecs{p.Decoder, p.Encoder}}
	if d := t.difference(&Previous{name: was.Name, options: was.Options, codecs: Codecs{was.Decoder, was.Encoder}}); d != "" {
		return d
	}
	if p.MaxErrors != was.MaxErrors {
		return setdir.Difference(optname.OptionsMaxErrors.String(), was.MaxErrors.String(), p.MaxErrors.String())
	}
	var samples, before int64
	for _, s := range p.Shards {
		samples += s.Samples
	}
	for _, s := range was.Shards {
		before += s.Samples
	}
	if samples != before {
		return fmt.Sprintf("its input has %s, now there are %d", plural.Of(before, "sample"), samples)
	}
	for i, s := range p.Shards {
		if i < len(was.Shards) && s != was.Shards[i] {
			return fmt.Sprintf("its input differs: other keys, labels or sizes of files, or versions of objects, first in %s", s.File)
		}
	}
	return "its input has other labels or features"
}
