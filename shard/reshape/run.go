package reshape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// errNothingLeft is returned if the new set would have no records.
var errNothingLeft = errors.New("no records are left to write; nothing was written: choose other records, or more of them")

// reshape makes a new set in the directory out from the records of the inputs in.
//
// The records are read up to three times: once to count them by their headers, if no manifest gives
// their number; once to choose, if that needs more than record numbers; and once to write them. The
// manifest is put in place after all shards. A run that fails removes what it wrote.
func reshape(ctx context.Context, in []string, out string, o *Options, v *verb) (*Report, error) {
	began := time.Now()
	r, err := openReshaping(ctx, in, out, o, v)
	if err != nil {
		return nil, err
	}
	switch {
	case r.report.Status == upToDate:
		r.report.Seconds = time.Since(began).Seconds()
		return &r.report, nil
	case r.old != nil:
		return replaceSet(ctx, in, out, r.name, r.old, o, v)
	}
	if r.dir, err = setdir.OpenOut(ctx, out, v.name, "", setdir.Options{}); err != nil {
		return nil, err
	}
	defer r.dir.Close()
	if err := r.run(ctx); err != nil {
		return nil, errors.Join(err, r.undo(ctx))
	}
	r.report.Seconds = time.Since(began).Seconds()
	return &r.report, nil
}

// openReshaping finds the inputs and checks the options against them and against the contents of
// the output directory. The returned run has no directory yet; its report's status is "up_to_date"
// if there is nothing to do, and its field old lists the files of a set to be replaced.
func openReshaping(ctx context.Context, in []string, out string, o *Options, v *verb) (*reshaping, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Overwrite && storage.Remote(out) {
		return nil, fmt.Errorf("%s: a set in an object store cannot be replaced in one step: write to a new directory, and remove the old set", out)
	}
	inputs, err := openInputs(ctx, in, o)
	if err != nil {
		return nil, err
	}
	if err := inputs.mergeManifests(ctx); err != nil {
		return nil, err
	}
	if err := mustBeApart(ctx, in, inputs, out); err != nil {
		return nil, err
	}
	r := &reshaping{o: o, verb: v, in: inputs, report: Report{Status: "written", Splits: map[string]shard.SplitSummary{}}}
	if r.name, err = o.datasetName(inputs, out); err != nil {
		return nil, err
	}
	if r.request, err = inputs.request(ctx, o, v, r.name); err != nil {
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
		r.old, err = oldFilesOf(ctx, setdir.View(ctx, out))
		return r, err
	}
	report, err := again(ctx, out, &r.request)
	if report != nil {
		r.report = *report
	}
	return r, err
}

// reshaping is one run of a verb.
type reshaping struct {
	o       *Options
	verb    *verb
	in      *inputs
	dir     *setdir.Dir
	name    string // of the dataset
	request request
	old     []string      // files of the set to be replaced; nil if there is none
	sets    []finishedSet // finished, or about to be
	options map[string]json.RawMessage
	targets []target
	log     *targetLog // nil if each record stays in its split
	files   []string   // that may be written, relative to the directory
	planID  string     // ID of the ReshardPlan; empty without one
	label   string     // key of the feature by which labels are counted; empty without one
	scans   features.Scanners
	report  Report
}

// target is a split of a set to be made.
type target struct {
	dir   *setdir.Dir
	sub   string // dir in the output directory, with a trailing slash; or empty
	split string
	layout
	infos []manifest.Shard // of its finished shards
}

func (t *target) shardName(dataset string, number int64) string {
	return shard.Name{Dataset: dataset, Split: t.split, Index: int(number), Count: int(t.shards)}.String()
}

func (r *reshaping) note(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	r.report.Notes = append(r.report.Notes, sentence)
	if r.o.Note != nil {
		r.o.Note(sentence)
	}
}

func (r *reshaping) run(ctx context.Context) error {
	defer func() {
		if r.log != nil {
			r.log.close()
		}
	}()
	if err := r.survey(ctx); err != nil {
		return err
	}
	if err := r.announce(); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	if err := r.in.checkUnchanged(ctx); err != nil {
		return err
	}
	return r.finish(ctx)
}

// survey counts the records, checks them against the manifests and plans the shards.
func (r *reshaping) survey(ctx context.Context) error {
	if err := r.in.count(ctx); err != nil {
		return err
	}
	if err := r.in.holdToManifests(ctx, r.note); err != nil {
		return err
	}
	r.report.RecordsIn = r.in.records()
	if r.report.RecordsIn == 0 {
		return fmt.Errorf("%w: the inputs hold no records", shard.ErrNoRecords)
	}
	if err := r.checkSchemas(ctx); err != nil {
		return err
	}
	if r.verb.prepare != nil {
		if err := r.verb.prepare(ctx, r.in, r.dir); err != nil {
			return err
		}
	}
	if r.verb.advice != nil {
		if sentence := r.verb.advice(r.in); sentence != "" {
			r.note("%s", sentence)
		}
	}
	return r.plan(ctx)
}

// plan decides which records go where, and the number of shards of each target.
func (r *reshaping) plan(ctx context.Context) error {
	splits := r.verb.splits
	if splits == nil {
		splits = r.in.splits
	}
	if err := shares.CheckShardsOf(splits, r.o.SplitShards); err != nil {
		return optionError(optname.OptionsSplitShards, "%v", err)
	}
	groups := r.verb.groups
	if groups == nil {
		groups = []string{""}
	}
	for _, sub := range groups {
		dir := r.dir
		if sub != "" {
			dir, sub = r.dir.Sub(sub), sub+"/"
		}
		for _, split := range splits {
			r.targets = append(r.targets, target{dir: dir, sub: sub, split: split})
		}
	}
	records, bytes := r.in.bySplit, make([]int64, len(r.targets))
	if r.verb.chooser != nil {
		var err error
		if r.log, records, bytes, err = r.in.choose(ctx, r.verb.chooser, len(r.targets), r.dir); err != nil {
			return err
		}
	} else {
		for _, f := range r.in.files {
			bytes[f.split] += f.Size
		}
	}
	var total int64
	for i := range r.targets {
		t := &r.targets[i]
		total += records[i]
		if records[i] == 0 {
			if t.sub == "" {
				r.note("split %s would be empty: it is left out", t.split)
			}
			continue
		}
		var err error
		if t.layout, err = r.o.cut(t.split, records[i], bytes[i]); err != nil {
			return err
		}
	}
	if total == 0 {
		return errNothingLeft
	}
	return r.nameFiles()
}

// nameFiles lists all files that the run may write.
func (r *reshaping) nameFiles() error {
	plain := r.o.compression() == tfrecord.CompressionNone
	subs := map[string]bool{}
	for i := range r.targets {
		t := &r.targets[i]
		subs[t.sub] = true
		for n := range t.shards {
			file := t.shardName(r.name, n)
			r.files = append(r.files, t.sub+file)
			if plain {
				r.files = append(r.files, t.sub+filepath.ToSlash(manifest.IndexPath(file)))
			}
		}
	}
	for sub := range subs {
		r.files = append(r.files, sub+manifest.File)
	}
	slices.Sort(r.files)
	for _, file := range r.files {
		if base := filepath.Base(file); len(base) > maxFileName {
			return fmt.Errorf("the file %s... would have a name of %d bytes, more than the limit of %d: give a shorter %s", base[:40], len(base), maxFileName, optname.OptionsName)
		}
	}
	return nil
}

// nameDescribing adds the metadata files, which depend on the features, to the list of files.
func (r *reshaping) nameDescribing(m *manifest.Manifest) error {
	for i := range r.targets {
		if sub := r.targets[i].sub; i == 0 || sub != r.targets[i-1].sub {
			for _, file := range m.MetadataFiles() {
				r.files = append(r.files, sub+file)
			}
		}
	}
	return r.putRun()
}

// maxFileName is the longest name that file systems support, less the suffixes of temporary files
// and indexes.
const maxFileName = 255 - 20

// announce records the files of the run before it writes any, so that the next run can clean up if
// this one is killed.
func (r *reshaping) announce() error {
	var err error
	if r.options, err = rawOptions(r.o.effective(r.verb)); err != nil {
		return err
	}
	return r.putRun()
}

func (r *reshaping) putRun() error {
	return r.dir.State().PutRun(&setdir.Run{Name: r.name, Options: r.options, Files: r.files, Plan: r.planID, Args: r.o.Args})
}
