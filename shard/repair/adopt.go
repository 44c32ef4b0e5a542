package repair

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/tfds"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// AdoptOptions configures Adopt. The zero value infers everything.
type AdoptOptions struct {
	// Name of the dataset. Default: from the manifest or TFDS's files, else the common prefix of
	// the shards' names, else the directory's name in snake case.
	Name string
	// Label is the key of the feature with the label's id. Default: from TFDS's files, else a
	// scalar int64 feature whose key ends in "label".
	Label string
	// Labels are the names of the labels, indexed by id. Default: from the manifest, a file of
	// TFDS's, a labels.txt, or the text feature that goes with the label feature (image/class/text
	// for image/class/label).
	Labels []string
	// Rename renames shards that do not have the names that tfrec and TFDS use. Without it names
	// are never changed.
	Rename bool
	// Check writes nothing and reports what would change.
	Check bool
	// Workers is the number of files to read concurrently. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Progress, if not nil, is updated during the run.
	Progress *shard.ReadProgress
}

// AdoptReport is the result of Adopt. Its JSON form is `tfrec adopt --json`.
type AdoptReport struct {
	// Status is "written", "up_to_date" if nothing had to change, "differs" if Check found changes,
	// or "damaged" if nothing was done because of faults.
	Status  string                        `json:"status"`
	Name    string                        `json:"name"`
	Records int64                         `json:"records"`
	Bytes   int64                         `json:"bytes"`
	Splits  map[string]shard.SplitSummary `json:"splits"`
	// Label is the key of the label feature, "" if none was found.
	Label  string   `json:"label"`
	Labels []string `json:"labels"`
	// TFDS is true if tfds.builder_from_directory can load the set.
	TFDS bool `json:"tfds"`
	// Changes are the files that were or would be written, renamed or removed, by name in the
	// directory.
	Changes []Change `json:"changes"`
	// Faults of the data, which prevent adoption.
	Faults []shard.Fault `json:"faults"`
	// Notes are human-readable messages about what was found or decided.
	Notes []string `json:"notes,omitempty"`
}

// Change is a file that Adopt writes or would write.
type Change struct {
	File string `json:"file"`
	// Was is "missing", "other" if the file had other content, or its old name.
	Was string `json:"was"`
}

// Adopt turns a directory of record files written by another program into a set: it writes a
// manifest, the indexes and the files for TFDS, so that tfds.builder_from_directory can load it. It
// reads all records. The content of the shards is not changed, nor are their names without Rename.
//
// Features are inferred from all records. The split of a file comes from TFDS's files, or from its
// name (birds-train.tfrecord-00000-of-00002, or a word such as train, test or val), and is train
// otherwise. Existing TFDS files are kept, except that the counts of records and bytes in
// dataset_info.json are updated. An existing tfrec manifest is updated.
//
// Faults in the data and missing shards are not an error: they are in the report, and then nothing
// is written. A set of an unfinished tfrec run with missing shards is an *IncompleteError. After an
// error no new file exists, but renames may be half done; the next Adopt completes them. In an
// object store, renaming a shard copies it.
func Adopt(ctx context.Context, path string, o AdoptOptions) (*AdoptReport, error) {
	a := &adoption{ctx: ctx, o: &o, report: &AdoptReport{
		Splits: map[string]shard.SplitSummary{}, Labels: []string{}, Changes: []Change{}, Faults: []shard.Fault{},
	}}
	if o.Name != "" {
		if err := shard.CheckDataset(o.Name); err != nil {
			return nil, err
		}
	}
	if !storage.IsDir(ctx, path) {
		if _, err := storage.Stat(ctx, path); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s is not a directory: adopt takes the directory that holds the shards", path)
	}
	var err error
	if o.Check {
		a.dir = setdir.View(ctx, path)
		begun, err := a.dir.Exists(shard.StateDir + "/" + setdir.RenamesFile)
		if err == nil && begun {
			err = fmt.Errorf("%s: renaming its shards was interrupted: %s %[1]s completes it", path, optname.RepairAdopt)
		}
		if err != nil {
			return nil, err
		}
	} else {
		if a.dir, err = setdir.Open(ctx, path, setdir.Options{}); err != nil {
			return nil, err
		}
		defer a.dir.Close()
		if err := errors.Join(a.dir.Sweep(), finishRenames(a.dir)); err != nil {
			return nil, err
		}
		defer a.dir.Sweep() // leftovers are swept by the next run
	}
	if a.dir.Remote() && !o.Check {
		if a.temp, err = os.MkdirTemp("", "tfrec-*"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(a.temp)
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
	temp   string // local directory for indexes, if dir is in a store
	report *AdoptReport

	before *manifest.Manifest // nil if there is none
	begun  bool               // another run was killed while it wrote
	tfds   *tfds.FoundTFDS
	lots   []splitFiles
	files  []*adopted // in the order of lots
	set    *manifest.Manifest
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
		if a.begun && !a.o.Check {
			return a.dir.Remove(shard.StateDir + "/" + adoptingFile)
		}
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

// undo removes the files that a failed run created. Renames stay half done for the next run.
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
	a.prune(manifest.IndexDir, setdir.ShardsDir)
	return err
}

// prune removes empty directories. A store has none.
func (a *adoption) prune(directories ...string) {
	for _, name := range directories {
		if !a.dir.Remote() {
			os.Remove(a.dir.Join(name)) // fails, as intended, if it has other files, or state of shards
		}
	}
}

// find lists the files, and reads the existing metadata.
func (a *adoption) find(path string) error {
	file := storage.Join(path, manifest.File)
	var err error
	a.before, err = manifest.Read(a.ctx, file)
	switch {
	case err == nil, storage.Missing(err):
	case !recordscan.IsDamage(err):
		return err // it could not be read
	case errors.Is(err, manifest.ErrForeign):
		return fmt.Errorf("%s was written by another tool: move it away, since the set's manifest needs that name", file)
	default:
		a.note("the manifest is unusable and is rebuilt: %v", err)
	}
	if a.before == nil { // a set that is complete but for its manifest may be adopted
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
	if a.begun, err = a.dir.State().Read(adoptingFile, &killed); err != nil {
		return err
	}
	if a.begun && killed.Made {
		a.tfds = &tfds.FoundTFDS{} // files of a killed run add no information
	}
	names := make([]string, len(files))
	for i, s := range files {
		names[i] = storage.Base(s.Path)
		a.o.Progress.Plan(a.ctx, s.Path)
	}
	var missing []string
	a.lots, missing = intoLots(names, a.before, a.tfds)
	for _, name := range missing {
		a.fault(shard.FileFault(storage.Join(path, name), tfrecord.PartMissing, "the names of the other shards call for it"))
	}
	return nil
}

func (a *adoption) note(format string, args ...any) {
	a.report.Notes = append(a.report.Notes, fmt.Sprintf(format, args...))
}

func (a *adoption) fault(f shard.Fault) { a.report.Faults = append(a.report.Faults, f) }
