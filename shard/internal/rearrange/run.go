package rearrange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// ErrNothingLeft is returned if the new set would have no records.
var ErrNothingLeft = errors.New("no records are left to write; nothing was written: choose other records, or more of them")

// Make makes a new set in the directory out from the records of the inputs in.
//
// The records are read up to three times: once to count them by their headers, if no manifest gives
// their number; once to choose, if that needs more than record numbers; and once to write them. The
// manifest is put in place after all shards. A run that fails removes what it wrote.
func Make(ctx context.Context, in []string, out string, o *Options, v *Verb) (*Report, error) {
	began := time.Now()
	r, err := Open(ctx, in, out, o, v)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Report.Status == UpToDate:
		r.Report.Seconds = time.Since(began).Seconds()
		return &r.Report, nil
	case r.Old != nil:
		return replaceSet(ctx, in, out, r.Name, r.Old, o, v)
	}
	if r.Dir, err = setdir.OpenOut(ctx, out, v.Name, "", setdir.Options{}); err != nil {
		return nil, err
	}
	defer r.Dir.Close()
	if err := r.run(ctx); err != nil {
		return nil, errors.Join(err, r.undo(ctx))
	}
	r.Report.Seconds = time.Since(began).Seconds()
	return &r.Report, nil
}

// Open finds the inputs and checks the options against them and against the contents of
// the output directory. The returned run has no directory yet; its report's status is "up_to_date"
// if there is nothing to do, and its field Old lists the files of a set to be replaced.
func Open(ctx context.Context, in []string, out string, o *Options, v *Verb) (*Run, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Overwrite && storage.Remote(out) {
		return nil, fmt.Errorf("%s: a set in an object store cannot be replaced in one step: write to a new directory, and remove the old set", out)
	}
	inputs, err := source.Open(ctx, in, Reading(o))
	if err != nil {
		return nil, err
	}
	if err := inputs.MergeManifests(ctx); err != nil {
		return nil, err
	}
	if err := mustBeApart(ctx, in, inputs, out); err != nil {
		return nil, err
	}
	r := &Run{
		Transfer: transfer.Transfer{In: inputs, Compression: o.compression(), MaxOpen: o.maxOpen},
		Options:  o, Verb: v, PartSize: o.partSize,
		Report: Report{Status: "written", Splits: map[string]shard.SplitSummary{}},
	}
	if r.Name, err = o.datasetName(inputs, out); err != nil {
		return nil, err
	}
	if v.Resolve != nil {
		if err := v.Resolve(ctx, inputs); err != nil {
			return nil, err
		}
	}
	if r.Request, err = newRequest(ctx, inputs, o, v, r.Name); err != nil {
		return nil, err
	}
	change, err := setdir.Settle(ctx, storage.Parse(out))
	if err == nil && change == setdir.Stuck {
		err = setdir.CannotOpen(out, change)
	}
	if err != nil {
		return nil, err
	}
	if o.Overwrite {
		r.Old, err = oldFilesOf(ctx, setdir.View(ctx, out))
		return r, err
	}
	report, err := again(ctx, out, &r.Request, v)
	if report != nil {
		r.Report = *report
	}
	return r, err
}

// Run is one run of a verb: a transfer, and what precedes and follows it.
type Run struct {
	transfer.Transfer
	Options *Options
	Verb    *Verb
	// Request is everything that the set depends on.
	Request Request
	// Old are the files of the set to be replaced; nil if there is none.
	Old []string
	// Files are the files that may be written, relative to the directory.
	Files []string
	// Report is the result so far.
	Report Report
	// PlanID is the ID of the plan of a run on many machines, and PartSize the approximate size of its
	// parts in bytes. Default: none, and that of package distribute.
	PlanID   string
	PartSize int64

	sets     []finishedSet              // finished, or about to be
	recorded map[string]json.RawMessage // the effective options
}

func (r *Run) note(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	r.Report.Notes = append(r.Report.Notes, sentence)
	if r.Options.Note != nil {
		r.Options.Note(sentence)
	}
}

func (r *Run) run(ctx context.Context) error {
	defer func() {
		if r.Log != nil {
			r.Log.Close()
		}
	}()
	if err := r.Survey(ctx); err != nil {
		return err
	}
	if err := r.Announce(); err != nil {
		return err
	}
	if err := r.Transfer.Write(ctx); err != nil {
		return err
	}
	if err := r.In.CheckUnchanged(ctx); err != nil {
		return err
	}
	return r.Finish(ctx)
}

// Survey counts the records, checks them against the manifests and plans the shards.
func (r *Run) Survey(ctx context.Context) error {
	if err := r.In.Count(ctx); err != nil {
		return err
	}
	if err := r.In.HoldToManifests(ctx, r.note); err != nil {
		return err
	}
	r.Report.RecordsIn = r.In.Records()
	if r.Report.RecordsIn == 0 {
		return fmt.Errorf("%w: the inputs hold no records", shard.ErrNoRecords)
	}
	if err := r.In.CheckSchemas(ctx, r.Options.Union, r.note); err != nil {
		return err
	}
	if r.Verb.Prepare != nil {
		if err := r.Verb.Prepare(ctx, r.In, r.Dir); err != nil {
			return err
		}
	}
	if r.Verb.Advice != nil {
		if sentence := r.Verb.Advice(r.In); sentence != "" {
			r.note("%s", sentence)
		}
	}
	r.Order, r.Rewrite = r.Verb.Order, r.Verb.Rewrite // which prepare may have changed
	return r.plan(ctx)
}

// plan decides which records go where, and the number of shards of each target.
func (r *Run) plan(ctx context.Context) error {
	splits := r.Verb.Splits
	if splits == nil {
		splits = r.In.Splits
	}
	if err := shares.CheckShardsOf(splits, r.Options.SplitShards); err != nil {
		return source.OptionError(optname.OptionsSplitShards, "%v", err)
	}
	groups := r.Verb.Groups
	if groups == nil {
		groups = []string{""}
	}
	for _, sub := range groups {
		dir := r.Dir
		if sub != "" {
			dir, sub = r.Dir.Sub(sub), sub+"/"
		}
		for _, split := range splits {
			r.Targets = append(r.Targets, transfer.Target{Dir: dir, Sub: sub, Split: split})
		}
	}
	records, bytes := r.In.BySplit, make([]int64, len(r.Targets))
	if r.Verb.Chooser != nil {
		var err error
		if r.Log, records, bytes, err = assign.Choose(ctx, r.In, r.Verb.Chooser, len(r.Targets), r.Dir); err != nil {
			return err
		}
	} else {
		for _, f := range r.In.Files {
			bytes[f.SplitIndex] += f.Size
		}
	}
	var total int64
	for i := range r.Targets {
		t := &r.Targets[i]
		total += records[i]
		if records[i] == 0 {
			if t.Sub == "" {
				r.note("split %s would be empty: it is left out", t.Split)
			}
			continue
		}
		var err error
		if t.Layout, err = r.Options.cut(t.Split, records[i], bytes[i]); err != nil {
			return err
		}
	}
	if total == 0 {
		return ErrNothingLeft
	}
	return r.nameFiles()
}

// nameFiles lists all files that the run may write.
func (r *Run) nameFiles() error {
	plain := r.Compression == tfrecord.CompressionNone
	subs := map[string]bool{}
	for i := range r.Targets {
		t := &r.Targets[i]
		subs[t.Sub] = true
		for n := range t.Shards {
			file := t.ShardName(r.Name, n)
			r.Files = append(r.Files, t.Sub+file)
			if plain {
				r.Files = append(r.Files, t.Sub+filepath.ToSlash(manifest.IndexPath(file)))
			}
		}
	}
	for sub := range subs {
		r.Files = append(r.Files, sub+manifest.File)
	}
	slices.Sort(r.Files)
	for _, file := range r.Files {
		if base := filepath.Base(file); len(base) > maxFileName {
			return fmt.Errorf("the file %s... would have a name of %d bytes, more than the limit of %d: give a shorter %s", base[:40], len(base), maxFileName, optname.OptionsName)
		}
	}
	return nil
}

// nameDescribing adds the metadata files, which depend on the features, to the list of files.
func (r *Run) nameDescribing(m *manifest.Manifest) error {
	for i := range r.Targets {
		if sub := r.Targets[i].Sub; i == 0 || sub != r.Targets[i-1].Sub {
			for _, file := range m.MetadataFiles() {
				r.Files = append(r.Files, sub+file)
			}
		}
	}
	return r.putRun()
}

// maxFileName is the longest name that file systems support, less the suffixes of temporary files
// and indexes.
const maxFileName = 255 - 20

// Announce records the files of the run before it writes any, so that the next run can clean up if
// this one is killed.
func (r *Run) Announce() error {
	var err error
	if r.recorded, err = rawOptions(r.Options.effective(r.Verb)); err != nil {
		return err
	}
	return r.putRun()
}

func (r *Run) putRun() error {
	return r.Dir.State().PutRun(&setdir.Run{Name: r.Name, Options: r.recorded, Files: r.Files, Plan: r.PlanID, Args: r.Options.Args})
}
