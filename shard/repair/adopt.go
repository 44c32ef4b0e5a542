package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/tfds"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// AdoptOptions says how Adopt goes about it. The zero value finds out all by
// itself.
type AdoptOptions struct {
	// Name of the dataset. Default: what a manifest or TFDS's files say, what the
	// names of the shards begin with, else the directory's name in snake case.
	Name string
	// Label is the key of the feature with the label's id. Default: what TFDS's
	// files say, else an int64 feature of one value whose key ends in "label".
	Label string
	// Labels are the names of the labels; an id is a place in the list. Default:
	// those that are found: in a manifest, in a file of TFDS's or a labels.txt, or
	// in the feature of texts beside the label's (image/class/text for
	// image/class/label).
	Labels []string
	// Rename gives the shards the names that TFDS and ours have, when they have
	// others. Without it names are never changed.
	Rename bool
	// Check writes nothing, and says what would be.
	Check bool
	// Workers is how many files are read at a time. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64
	// Progress is counted up while the run goes on, if it is not nil.
	Progress *shard.ReadProgress
}

// AdoptReport is what Adopt found and wrote. Its JSON form is
// `tfrec adopt --json`.
type AdoptReport struct {
	// Status is "written", "up_to_date" when all was right before, "differs" for
	// Check when it was not, or "damaged" when nothing was done because of faults.
	Status  string                        `json:"status"`
	Name    string                        `json:"name"`
	Records int64                         `json:"records"`
	Bytes   int64                         `json:"bytes"`
	Splits  map[string]shard.SplitSummary `json:"splits"`
	// Label is the key of the label feature, "" where none was found.
	Label  string   `json:"label"`
	Labels []string `json:"labels"`
	// TFDS says that tfds.builder_from_directory can load the set.
	TFDS bool `json:"tfds"`
	// Changes are the files that were or would be written, renamed or removed, by
	// their names in the directory.
	Changes []Change `json:"changes"`
	// Faults of the data, which keep it from being adopted.
	Faults []shard.Fault `json:"faults"`
	// Notes are sentences for people about what was found or decided.
	Notes []string `json:"notes,omitempty"`
}

// Change is a file that Adopt writes or would write.
type Change struct {
	File string `json:"file"`
	// Was is "missing", "other" when the file had another content, or the name
	// that it had before.
	Was string `json:"was"`
}

// Adopt makes a set of the files of records in a directory that somebody else
// wrote: a manifest, the indexes and the files that TFDS reads, so that
// tfds.builder_from_directory loads it. All records are read. The shards' bytes
// stay as they are, and so do their names, but for Rename.
//
// Features are inferred from all records. Which split a file is of is told by
// TFDS's files, by its name (birds-train.tfrecord-00000-of-00002, a word such as
// train, test or val in it), and is train otherwise. TFDS's files that are there
// already are kept but for the numbers of records and bytes in
// dataset_info.json. A manifest of ours is brought up to date.
//
// Faults in the data and missing shards are not an error but in the report, and
// nothing is written then. A set that a run of ours has begun and that still lacks
// shards is an *IncompleteError. After an error no file is there that was not before,
// but a renaming may be half done, which the next Adopt finishes.
func Adopt(ctx context.Context, path string, o AdoptOptions) (*AdoptReport, error) {
	a := &adoption{ctx: ctx, o: &o, report: &AdoptReport{
		Splits: map[string]shard.SplitSummary{}, Labels: []string{}, Changes: []Change{}, Faults: []shard.Fault{},
	}}
	if o.Name != "" {
		if err := shard.CheckDataset(o.Name); err != nil {
			return nil, err
		}
	}
	if !o.Check {
		if err := storage.CheckOutput(path); err != nil {
			return nil, err
		}
	}
	if !storage.IsDir(ctx, path) {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is not a directory: adopt takes the directory that holds the shards", path)
	}
	var err error
	if o.Check {
		a.dir = setdir.View(ctx, path)
		begun, err := a.dir.Exists(shard.StateDir + "/" + setdir.RenamesFile)
		if err == nil && begun {
			err = fmt.Errorf("%s: renaming its shards was interrupted: repair.Adopt %[1]s completes it", path)
		}
		if err != nil {
			return nil, err
		}
	} else {
		if a.dir, err = setdir.Open(ctx, path, setdir.Options{Names: shard.ManifestFiles}); err != nil {
			return nil, err
		}
		defer a.dir.Close()
		if err := errors.Join(a.dir.Sweep(), finishRenames(a.dir)); err != nil {
			return nil, err
		}
		defer a.dir.Sweep() // what is left is the next run's to sweep
	}
	if err := a.run(path); err != nil {
		return nil, err
	}
	return a.report, nil
}

// adoption is a run of Adopt.
type adoption struct {
	ctx    context.Context
	o      *AdoptOptions
	dir    *setdir.Dir
	report *AdoptReport

	before *shard.Manifest // nil without one
	tfds   *tfds.FoundTFDS
	lots   []splitFiles
	files  []*adopted // in the order of the lots
	set    *shard.Manifest
}

func (a *adoption) run(path string) error {
	if err := a.find(path); err != nil {
		return err
	}
	if err := a.look(); err != nil {
		return err
	}
	if len(a.report.Faults) > 0 {
		a.report.Status = "damaged"
		return nil
	}
	if err := a.describe(); err != nil {
		return err
	}
	renames, err := a.renames()
	if err != nil {
		return err
	}
	files, err := a.metadata()
	if err != nil {
		return err
	}
	if err := a.compare(renames, files); err != nil {
		return err
	}
	switch {
	case len(a.report.Changes) == 0:
		a.report.Status = "up_to_date"
	case a.o.Check:
		a.report.Status = "differs"
	default:
		a.report.Status = "written"
		if err := a.write(renames, files); err != nil {
			return errors.Join(err, a.undo(len(renames) > 0))
		}
	}
	return nil
}

// undo removes the files that were not there before the run that failed. What a
// renaming has begun stays for the next run.
func (a *adoption) undo(renaming bool) error {
	var made []string
	for _, c := range a.report.Changes {
		if c.Was == "missing" {
			made = append(made, c.File)
		}
	}
	if !renaming {
		made = append(made, shard.StateDir+"/"+adoptingFile)
	}
	err := a.dir.Remove(made...)
	os.Remove(a.dir.Join(shard.IndexDir))   // fails, as it should, when others are in it; as this:
	os.Remove(a.dir.Join(setdir.ShardsDir)) // fails, as it should, when it holds what is known of shards
	return err
}

// find lists the files, and reads what describes them so far.
func (a *adoption) find(path string) error {
	manifest := filepath.Join(path, shard.ManifestFile)
	var err error
	a.before, err = shard.ReadManifest(a.ctx, manifest)
	switch {
	case err == nil, storage.Missing(err):
	case !recordscan.IsDamage(err):
		return err // it could not be read
	case errors.Is(err, shard.ErrForeign):
		return fmt.Errorf("%s was written by another tool: move it away, since the set's manifest needs that name", manifest)
	default:
		a.note("the manifest is unusable and is rebuilt: %v", err)
	}
	if a.before == nil { // a set that lacks the manifest alone may be adopted
		if missing, err := shard.Unfinished(a.dir); err != nil {
			return err
		} else if missing != nil && missing.Lost > 0 {
			return missing
		}
	}
	files, err := shard.LooseFiles(a.ctx, path)
	if err != nil {
		return err
	}
	if a.tfds, err = tfds.FindTFDS(a.ctx, path); err != nil {
		return err
	}
	var killed adopting
	begun, err := a.dir.State(adoptingFile, &killed)
	if err != nil {
		return err
	}
	if begun && killed.Made {
		a.tfds = &tfds.FoundTFDS{} // files that a killed run made say nothing new
	}
	names := make([]string, len(files))
	for i, s := range files {
		names[i] = filepath.Base(s.Path)
		a.o.Progress.Plan(a.ctx, s.Path)
	}
	var missing []string
	a.lots, missing = intoLots(names, a.before, a.tfds)
	for _, name := range missing {
		a.fault(shard.FileFault(filepath.Join(path, name), tfrecord.PartMissing, "the names of the other shards call for it"))
	}
	return nil
}

func (a *adoption) note(format string, args ...any) {
	a.report.Notes = append(a.report.Notes, fmt.Sprintf(format, args...))
}

func (a *adoption) fault(f shard.Fault) { a.report.Faults = append(a.report.Faults, f) }
