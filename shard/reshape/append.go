package reshape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/rearrange"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// AppendOptions are the options of Append. Name, Compression and the order of labels come from the
// set.
type AppendOptions struct {
	Options
	// Split is the split that all records go to. Default: the splits of the inputs.
	Split string
	// NewLabels allows label names that the set does not have; they are added after the existing
	// ones. Otherwise they are an error.
	NewLabels bool
	// SameLabels states that the label ids of inputs without names, such as loose TFRecords, are those
	// of the set. An id that the set has no name for is an error.
	SameLabels bool
	// Again appends records that were appended before, in the same shards, once more. Otherwise the
	// set is up to date.
	Again bool
}

// AppendReport is the result of Append. Records, Bytes, Shards and Splits describe the whole set.
// Status is "written"; "resumed" if the requested append had been interrupted and was completed; or
// "up_to_date" if there was nothing to do or the same records had been appended before.
type AppendReport struct {
	Report
	// Appended is the number of records added.
	Appended int64 `json:"appended"`
	// ShardsWritten is the number of shards added, ShardsRenamed the number of existing shards
	// renamed for the new total.
	ShardsWritten int `json:"shards_written"`
	ShardsRenamed int `json:"shards_renamed"`
	// LabelsAdded lists the label names that the set did not have.
	LabelsAdded []string `json:"labels_added,omitempty"`
}

// Append adds the records of the inputs in to the set in a directory, as new shards after the
// existing ones of their split. Existing shards keep their bytes and are renamed for the new total;
// the manifest is replaced last. Features must have the same kinds as in the set; label ids are
// changed to match the set's list of names.
//
// If Append fails or is killed, the set is unchanged or, if renaming had begun, the next Append
// completes the change; an Append without inputs does only that. The set must not be read while an
// Append is running. In an object store, existing shards are copied to their new names, and the old
// ones are removed after the manifest was replaced with a single request.
func Append(ctx context.Context, dir string, in []string, o AppendOptions) (*AppendReport, error) {
	began := time.Now()
	if o.Name != "" || o.Compression != tfrecord.CompressionAuto {
		return nil, source.OptionError(optname.OptionsName, "name and compression are those of the set that is appended to")
	}
	if o.Split != "" {
		if err := shard.CheckSplit(o.Split); err != nil {
			return nil, source.OptionError(optname.AppendOptionsSplit, "%v", err)
		}
	}
	described, err := setdir.View(ctx, dir).Exists(manifest.File)
	if err != nil {
		return nil, err
	}
	if !described {
		if missing, err := shard.Unfinished(setdir.View(ctx, dir)); err != nil {
			return nil, err
		} else if missing != nil {
			return nil, missing
		}
		return nil, fmt.Errorf("%s has no %s: %s makes one for shards that other tools wrote; %s makes a new set", dir, manifest.File, optname.RepairAdopt, optname.ReshapeMerge)
	}
	request, err := appendRequest(ctx, dir, in, &o)
	if err != nil {
		return nil, err
	}
	d, err := setdir.OpenAsIs(ctx, dir, setdir.Options{}) // a journal is completed and reported below
	if err != nil {
		return nil, err
	}
	defer d.Close()
	a := &appending{dir: d, o: &o}
	report, err := a.run(ctx, in, request)
	if err != nil {
		return nil, err
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// appendRequest identifies a request by its options and the paths, sizes and times of the inputs.
// It is an error if an input does not hold records or belongs to the set itself.
func appendRequest(ctx context.Context, dir string, in []string, o *AppendOptions) (string, error) {
	h := xxh3.New()
	fmt.Fprintf(h, "%q %v %v %d %d %d\n", o.Split, o.NewLabels, o.SameLabels, o.Shards, o.ShardSize, o.RecordsPerShard)
	h.WriteString(shares.FormatShards(o.SplitShards))
	if len(in) == 0 {
		return "", nil
	}
	sources, err := shard.Expand(ctx, in, rearrange.Reading(&o.Options).Expand)
	if err != nil {
		return "", notRecords(err)
	}
	set, err := setdir.Resolve(dir)
	if err != nil {
		return "", err
	}
	for _, s := range sources {
		path, err := setdir.Resolve(s.Path)
		if err != nil {
			return "", err
		}
		if setdir.LiesIn(path, set) {
			return "", fmt.Errorf("%s belongs to the set being appended to: merge the set with itself into a new directory instead", s.Path)
		}
		st, err := path.Stat(ctx)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %d %d\n", path.Path(), st.Size(), st.ModTime().UnixNano())
		if raw(path.Path()) {
			return "", notRecords(fmt.Errorf("%s: %w", s.Path, shard.ErrNoRecords))
		}
	}
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// notRecords adds advice to the error for an input that is not a record file.
func notRecords(err error) error {
	if errors.Is(err, shard.ErrNoRecords) {
		return fmt.Errorf("%w; convert images and tables first, with the options of the set (%s, %s), then append the result", err, optname.ConvertImages, optname.ConvertCSV)
	}
	return err
}

// raw reports whether a file has the extension of a table or an image.
func raw(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff":
		return true
	}
	return false
}

// appending is one run of Append.
type appending struct {
	dir *setdir.Dir
	o   *AppendOptions
	set *manifest.Manifest // before the append
}

func (a *appending) run(ctx context.Context, in []string, request string) (*AppendReport, error) {
	interrupted, err := setdir.ReadJournal(a.dir)
	if err != nil {
		return nil, err
	}
	if interrupted != nil {
		if err := interrupted.Complete(a.dir); err != nil {
			return nil, fmt.Errorf("complete the interrupted append: %w", err)
		}
	}
	if a.set, err = manifest.Read(ctx, a.dir.Join(manifest.File)); err != nil {
		return nil, err
	}
	if interrupted != nil {
		report, err := a.resumed(interrupted)
		if err != nil || request == "" || request == interrupted.Request {
			return report, err
		}
		if a.o.Note != nil {
			a.o.Note(fmt.Sprintf("completed an interrupted append of %s", plural.Of(report.Appended, "record")))
		}
	}
	if request == "" {
		report := a.report(a.set)
		report.Status = "up_to_date"
		return report, nil
	}
	if err := a.checkSet(ctx); err != nil {
		return nil, err
	}
	if err := a.dir.Staged().Discard(); err != nil {
		return nil, err
	}
	j, err := a.stage(ctx, in)
	if errors.Is(err, errAppended) {
		report := a.report(a.set)
		report.Status = "up_to_date"
		if a.o.Note != nil {
			a.o.Note(fmt.Sprintf("these records were appended before, so nothing was added: %s adds them again", optname.AppendOptionsAgain))
		}
		return report, a.dir.Staged().Discard()
	}
	if err == nil {
		j.Request = request
		err = a.begin(j)
	}
	if err != nil {
		return nil, errors.Join(err, a.dir.Staged().Abandon())
	}
	if err := j.Complete(a.dir); err != nil {
		return nil, fmt.Errorf("%w; the set is partly changed: the next tfrec command on it completes the change", err)
	}
	report := new(AppendReport)
	return report, json.Unmarshal(j.Report, report)
}

// resumed returns the report of an interrupted change that has been completed: the one in the
// journal or, if the change was not an append, a report of the set as it is now.
func (a *appending) resumed(j *setdir.Journal) (*AppendReport, error) {
	report := a.report(a.set)
	if len(j.Report) > 0 {
		if err := json.Unmarshal(j.Report, report); err != nil {
			return nil, fmt.Errorf("%s: %w", a.dir.Join(setdir.JournalFile), err)
		}
	}
	report.Status = "resumed"
	return report, nil
}

// begin commits the append, unless a file that does not belong to the set has one of the new names.
func (a *appending) begin(j *setdir.Journal) error {
	var names []string
	for _, m := range j.Moves {
		if !isMetadata(m.To) { // which are replaced
			names = append(names, m.To)
		}
	}
	if err := setdir.MustBeVacant(a.dir, names); err != nil {
		return err
	}
	return j.Begin(a.dir)
}

// isMetadata reports whether name is a metadata file of a set, whatever its shards are called.
func isMetadata(name string) bool { return filepath.Dir(name) == "." && shard.Describes(name) }

// checkSet checks that all files of the set exist, with the right sizes, before any is renamed.
func (a *appending) checkSet(ctx context.Context) error {
	missing, _, err := (&shard.Set{Dir: a.dir.Path(), Manifest: a.set}).Lacks(ctx)
	if err != nil {
		return err
	}
	if missing != nil {
		return missing
	}
	named := map[string]bool{}
	for _, split := range a.set.Splits {
		for _, info := range split.Shards {
			if named[info.File] {
				return fmt.Errorf("%s: the manifest names %s twice: see %s", a.dir.Path(), info.File, optname.VerifyFiles)
			}
			named[info.File] = true
			st, err := storage.Stat(ctx, a.dir.Join(info.File))
			if err != nil {
				return err
			}
			if st.Size() != info.Bytes {
				return fmt.Errorf("%s: %s has %s, not the %d of the manifest: see %s", a.dir.Path(), info.File, plural.Of(st.Size(), "byte"), info.Bytes, optname.VerifyFiles)
			}
		}
	}
	return nil
}

// stage writes all new files below .tfrec, and returns the journal that moves them into place.
func (a *appending) stage(ctx context.Context, in []string) (*setdir.Journal, error) {
	o := a.o.Options
	o.Name, o.Note, o.Warn = a.set.Name, nil, nil // notes would be about a separate set; appendRequest has already warned
	compression, err := tfrecord.ParseCompression(a.set.Compression)
	if err != nil {
		return nil, err
	}
	o.Compression = compression
	o.Union = true // mergeRecords compares them with the set
	v := newVerb("append")
	var added []string
	v.Prepare = func(_ context.Context, in *source.Inputs, _ *setdir.Dir) (err error) {
		if a.o.Split != "" {
			v.Splits, v.Chooser = []string{a.o.Split}, intoOne{}
		}
		added, err = a.adaptLabels(in)
		return err
	}
	report, err := rearrange.Make(ctx, in, a.dir.Join(setdir.StageDir), &o, v)
	if err != nil {
		return nil, err
	}
	staged, err := manifest.Read(ctx, a.dir.Join(setdir.StageDir+"/"+manifest.File))
	if err != nil {
		return nil, err
	}
	if !a.o.Again && slices.Contains(appendedBefore(a.set), staged.Fingerprint) {
		return nil, errAppended
	}
	set, moves, err := a.join(staged, added)
	if err != nil {
		return nil, err
	}
	done := a.report(set)
	done.Status, done.RecordsIn, done.Appended = "written", report.RecordsIn, report.Records
	done.LabelsAdded, done.LabelsRemapped = added, report.LabelsRemapped
	for _, s := range staged.Splits {
		done.ShardsWritten += len(s.Shards)
	}
	for _, m := range moves {
		if filepath.Dir(m.From) == "." {
			done.ShardsRenamed++
		}
	}
	j := &setdir.Journal{Moves: moves}
	if j.Report, err = json.Marshal(done); err != nil {
		return nil, err
	}
	return j, a.describe(set, j)
}

// errAppended is returned by stage if the set already has the records to append.
var errAppended = errors.New("appended before")

// intoOne is a chooser that puts all records into the first split.
type intoOne struct{}

func (intoOne) Look(*source.Record) (digest.Hash, error)    { return digest.Hash{}, nil }
func (intoOne) Begin(int64) error                           { return nil }
func (intoOne) Choose(int64, int, digest.Hash) (int, error) { return 0, nil }
