package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// ErrNothingSaved says that a file has no whole record left: it may be no
// TFRecord file at all.
var ErrNothingSaved = errors.New("no intact record was found, so nothing was written: it may not be a TFRecord file")

// RepairOptions says how Repair goes about it. The zero value tells
// compressions by itself.
type RepairOptions struct {
	// Partial takes what is there of sets that are not whole, and Note is told of
	// each (see [ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Compression of the input. Default: Auto, what the manifest says, the
	// file's first bytes and its name's ending, in this order.
	Compression tfrecord.Compression
	// MaxDamage is how many stretches of damage of one file are listed; the
	// others are counted in RepairReport.DamageOmitted. Default: 1000.
	MaxDamage int
	// MaxRecord is the most bytes that a record may have. Default: 1 GiB.
	MaxRecord int64
	// Progress is counted up while the run goes on, if it is not nil.
	Progress *shard.ReadProgress
}

// RepairReport is what Repair saved, and what was lost. Its JSON form is
// `tfrec repair --json`.
type RepairReport struct {
	// Status is "clean" when nothing was wrong, else "repaired": something was lost,
	// or an index was wrong or missing and no record was.
	Status string `json:"status"`
	// RecordsSaved are all that the output has.
	RecordsSaved int64 `json:"records_saved"`
	// RecordsLost is how many records are lost, as far as can be known: at least
	// so many where RecordsLostExact is false.
	RecordsLost      int64 `json:"records_lost"`
	RecordsLostExact bool  `json:"records_lost_exact"`
	// BytesLost is the sum of the damage's.
	BytesLost int64          `json:"bytes_lost"`
	Files     []RepairedFile `json:"files"`
	// Damage in the order of the files, then of the places.
	Damage []Damage `json:"damage"`
	// DamageOmitted counts stretches past RepairOptions.MaxDamage.
	DamageOmitted int64 `json:"damage_omitted,omitempty"`
	// Quarantine is the file of what was lost, for a repair into a new place;
	// empty when nothing was. See RepairedFile.Quarantine for one in place.
	Quarantine string `json:"quarantine,omitempty"`
	// Notes are sentences about the whole run.
	Notes []string `json:"notes,omitempty"`
}

// Lost reports whether anything of the data was lost, or is missing.
func (r *RepairReport) Lost() bool { return len(r.Damage) > 0 || r.DamageOmitted > 0 }

// Readable makes paths fit for JSON (see Readable), and returns the report.
func (r *RepairReport) Readable() *RepairReport {
	r.Quarantine = jsontext.Readable(r.Quarantine)
	for i := range r.Files {
		f := &r.Files[i]
		for _, path := range []*string{&f.Path, &f.Out, &f.Original, &f.Quarantine, &f.Note} {
			*path = jsontext.Readable(*path)
		}
	}
	for i := range r.Damage {
		r.Damage[i].Path = jsontext.Readable(r.Damage[i].Path)
	}
	return r
}

// RepairedFile is what Repair did with one file.
type RepairedFile struct {
	Path string `json:"path"`
	// Out is the file that was written; Path itself for a repair in place.
	Out              string `json:"out"`
	OK               bool   `json:"ok"` // nothing was wrong
	RecordsSaved     int64  `json:"records_saved"`
	RecordsLost      int64  `json:"records_lost"`
	RecordsLostExact bool   `json:"records_lost_exact"`
	BytesLost        int64  `json:"bytes_lost"`
	// Original and Quarantine are where a repair in place keeps the file as it
	// was, and what was lost of it.
	Original   string `json:"original,omitempty"`
	Quarantine string `json:"quarantine,omitempty"`
	// Index is IndexMissing or IndexWrong where that alone was the matter, and the
	// output has the right index now; else empty.
	Index IndexStatus `json:"index,omitempty"`
	// Note says what makes the result doubtful; empty as a rule.
	Note string `json:"note,omitempty"`
}

// Damage is a stretch of a file of which nothing could be saved.
type Damage struct {
	Path string `json:"path"`
	// Offset and Bytes are where it lies, in the uncompressed stream as far as
	// that could be read. Bytes is 0 where an index or a manifest knows of
	// records of which nothing is there.
	Offset int64 `json:"offset"`
	Bytes  int64 `json:"bytes"`
	// Reason says what is wrong, beginning with the part as a Fault has it.
	Reason string `json:"reason"`
	// Records that are lost here: at least so many where Exact is false. (A
	// stretch that only has bytes too many counts as one record, for without an
	// index nobody can tell.)
	Records int64 `json:"records"`
	Exact   bool  `json:"records_exact"`
	// Compressed says that Offset and Bytes are of the compressed file: bytes
	// that could not be decompressed.
	Compressed bool `json:"compressed,omitempty"`
}

// Repair saves every record that is whole out of damaged files: those with both
// checksums right. Behind damage it goes on with the next frame that has them.
//
// in is a file, and out a new file, or in is a directory or a manifest, and out a
// new directory, which gets every shard under its own name: those without damage
// byte for byte, the others without what was lost; and with them indexes, the
// manifest and TFDS's files, brought up to date.
//
// Where out exists and is just what this repair makes, as one leaves it that was
// killed at its very end, the report is that of the repair; anything else at out is
// an error that unwraps to fs.ErrExist.
//
// What was lost goes into the file out.quarantine (see [ReadQuarantine]). A file
// in or beside the index that the damaged one has, or a manifest, tells how many
// records were lost, and which frames inside a damaged record are no records
// but its payload. Without them, frames inside a record whose own header is
// damaged cannot be told from others; they are taken for records.
//
// Of a compressed file all is used that can be decompressed before a fault and,
// when it consists of several streams, from the next one on. The output has the
// input's compression.
//
// In place a set changes in one step: after an error or a crash it is as it was or,
// once it had begun to change, the next repair in place finishes it and returns the
// report of the interrupted one. The files of a directory without a manifest change
// one after another, and repairing again continues.
//
// Damage is no error, but in the report. An error says that nothing was written,
// but for the files in place before it. It unwraps to ErrNothingSaved when a file has
// no record to save; the report then says why.
func Repair(ctx context.Context, in, out string, o RepairOptions) (*RepairReport, error) {
	if out == "" {
		return nil, errors.New("no output: give a file or directory to repair into, or repair.InPlace")
	}
	return run(ctx, in, out, o)
}

// InPlace is Repair that puts what is saved in the place of the input, and the right index in the
// place of a wrong one. What is replaced keeps its mode, owner and group. The original is kept in
// the directory damaged beside it, with its index, under its name or, when that is taken by another
// file, with a number after it. A set changes in one step.
func InPlace(ctx context.Context, in string, o RepairOptions) (*RepairReport, error) {
	return run(ctx, in, "", o)
}

// run repairs into out, or in place if that is "".
func run(ctx context.Context, in, out string, o RepairOptions) (*RepairReport, error) {
	if o.MaxDamage <= 0 {
		o.MaxDamage = recordscan.MaxFaults
	}
	if err := storage.CheckOutput(cmp.Or(out, in)); err != nil {
		return nil, err
	}
	r := &repair{ctx: ctx, o: &o, isInPlace: out == "", report: &RepairReport{
		Status: "clean", RecordsLostExact: true, Files: []RepairedFile{}, Damage: []Damage{},
	}}
	st, err := storage.Stat(ctx, in)
	if err != nil {
		return nil, err
	}
	whole := st.IsDir() || shard.IsManifest(in)
	switch {
	case !whole && !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s does not allow random access: copy it to a regular file first", in)
	case r.isInPlace:
		err = r.inPlace(in, !whole)
	case whole:
		err = r.directory(in, out)
	default:
		var source []shard.Source
		if source, err = shard.Expand(ctx, []string{in}, shard.ExpandOptions{}); err == nil {
			o.Progress.Plan(ctx, source[0].Path)
			err = r.file(source[0], out)
		}
	}
	if err != nil && !errors.Is(err, ErrNothingSaved) {
		return nil, err
	}
	if r.disowned > 0 {
		r.report.Notes = append(r.report.Notes, fmt.Sprintf("%d new files have a different owner or group than those that they replace: only root can change owners", r.disowned))
	}
	return r.report, err
}

// repair is a run of Repair.
type repair struct {
	ctx    context.Context
	o      *RepairOptions
	report *RepairReport
	dir    *setdir.Dir // that is written into; nil for a single file

	isInPlace bool

	finished bool     // OUT exists: what would be written is compared with it
	placed   []string // files and directories that came into being, in this order
	disowned int      // new files of another owner or group than they should have
}

// work makes a file for what will be at path.
func (r *repair) work(path string) (*os.File, error) {
	if r.dir != nil {
		return r.dir.TempFile(filepath.Base(path))
	}
	return workFile(path)
}

// add takes over what is known of a file.
func (r *repair) add(s *salvage) {
	f, t := &s.file, r.report
	f.OK = len(s.damage) == 0 && f.Index == ""
	if !f.OK {
		t.Status = "repaired"
	}
	t.Files = append(t.Files, *f)
	t.RecordsSaved += f.RecordsSaved
	t.RecordsLost += f.RecordsLost
	t.RecordsLostExact = t.RecordsLostExact && f.RecordsLostExact
	t.BytesLost += f.BytesLost
	t.Damage = append(t.Damage, s.damage...)
	t.DamageOmitted += s.omitted
}

// mustBeFree refuses a path where something is.
func mustBeFree(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return errTaken(path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}
