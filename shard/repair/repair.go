package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// ErrNothingSaved means that a file has no intact record: it may not be a TFRecord file at all.
var ErrNothingSaved = errors.New("no intact record was found, so nothing was written: it may not be a TFRecord file")

// Options configures Copy and InPlace. The zero value detects compression.
type Options struct {
	// Partial accepts the existing shards of incomplete sets, and Note is called for each such set
	// (see [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Compression of the input. Default: Auto, from the manifest, the file's first bytes or its
	// extension, in this order.
	Compression tfrecord.Compression
	// MaxDamage is the maximum number of damaged ranges to list per file; the rest are counted in
	// Report.DamageOmitted. Default: 1000.
	MaxDamage int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Progress, if not nil, is updated during the run.
	Progress *shard.ReadProgress
	// Deliver, if not nil, is called with the report before the run returns it. An error ends the
	// run. After a repair in place that was killed, or failed, before Deliver returned nil, the
	// next one reports again what was lost of files that were replaced.
	Deliver func(*Report) error
}

// Report is the result of a repair. Its JSON form is `tfrec repair --json`.
type Report struct {
	// Status is "clean" if nothing was wrong, else "repaired": something was lost, or only an index
	// was wrong or missing.
	Status string `json:"status"`
	// RecordsSaved is the number of records in the output.
	RecordsSaved int64 `json:"records_saved"`
	// RecordsLost is the number of lost records, a lower bound if RecordsLostExact is false.
	RecordsLost      int64 `json:"records_lost"`
	RecordsLostExact bool  `json:"records_lost_exact"`
	// BytesLost is the sum over all damage.
	BytesLost int64        `json:"bytes_lost"`
	Files     []FileReport `json:"files"`
	// Damage is in the order of the files and offsets.
	Damage []Damage `json:"damage"`
	// DamageOmitted is the number of damaged ranges beyond Options.MaxDamage.
	DamageOmitted int64 `json:"damage_omitted,omitempty"`
	// Quarantine is the file with what was lost, for a repair into a new output; empty if nothing
	// was. For a repair in place see FileReport.Quarantine.
	Quarantine string `json:"quarantine,omitempty"`
	// Notes are messages about the whole run.
	Notes []string `json:"notes,omitempty"`
}

// Lost reports whether any data was lost or is missing.
func (r *Report) Lost() bool { return len(r.Damage) > 0 || r.DamageOmitted > 0 }

// Readable makes paths valid for JSON (see jsontext.Readable) and returns the report.
func (r *Report) Readable() *Report {
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

// FileReport is the result for one file.
type FileReport struct {
	Path string `json:"path"`
	// Out is the file that was written; Path itself for a repair in place.
	Out              string `json:"out"`
	OK               bool   `json:"ok"` // nothing was wrong
	RecordsSaved     int64  `json:"records_saved"`
	RecordsLost      int64  `json:"records_lost"`
	RecordsLostExact bool   `json:"records_lost_exact"`
	BytesLost        int64  `json:"bytes_lost"`
	// Original and Quarantine are where a repair in place keeps the original file and what was
	// lost.
	Original   string `json:"original,omitempty"`
	Quarantine string `json:"quarantine,omitempty"`
	// Index is IndexMissing or IndexWrong if only the index was wrong, which the output has fixed;
	// else empty.
	Index IndexStatus `json:"index,omitempty"`
	// Note explains why the result may be unreliable; usually empty.
	Note string `json:"note,omitempty"`
}

// Damage is a range of a file that could not be saved.
type Damage struct {
	Path string `json:"path"`
	// Offset and Bytes are its location, in the uncompressed stream as far as that could be read.
	// Bytes is 0 if an index or a manifest lists records that are entirely missing.
	Offset int64 `json:"offset"`
	Bytes  int64 `json:"bytes"`
	// Reason describes the damage, beginning with the part as in a Fault.
	Reason string `json:"reason"`
	// Records is the number of records lost here, a lower bound if Exact is false. (A range of
	// superfluous bytes counts as one record, because without an index it cannot be distinguished.)
	Records int64 `json:"records"`
	Exact   bool  `json:"records_exact"`
	// Compressed is true if Offset and Bytes refer to the compressed file: bytes that could not be
	// decompressed.
	Compressed bool `json:"compressed,omitempty"`
}

// Copy writes the intact records of damaged files, which have two correct checksums, to new files.
// After damage it continues at the next intact frame.
//
// Either in is a file and out a new file, or in is a directory or a manifest and out a new
// directory, which gets every shard under its own name: undamaged shards as exact copies, the
// others without the lost records; and also the indexes, the manifest and TFDS's files, updated.
//
// If out exists and is exactly what this repair would write, as after a repair that was killed at
// its very end, Copy returns the same report. Anything else at out is an error that unwraps to
// fs.ErrExist.
//
// Lost data is written to the file out.quarantine (see [ReadQuarantine]). The damaged file's index,
// in the directory index next to it, or a manifest gives the number of records lost, and shows
// which frames inside a damaged record are part of its payload. Without them, frames inside a
// record whose own header is damaged cannot be distinguished from others, and are taken for
// records.
//
// From a compressed file, it uses all that can be decompressed before a fault and, if it has
// several streams, continues at the next stream. The output has the input's compression.
//
// Damage is not an error: it is in the report. An error means that nothing was written. It unwraps
// to ErrNothingSaved if a file has no record to save; the report then has the reason.
func Copy(ctx context.Context, in, out string, o Options) (*Report, error) {
	if out == "" {
		return nil, fmt.Errorf("no output: give a file or directory to repair into, or %s", optname.RepairInPlace)
	}
	return run(ctx, in, out, o)
}

// InPlace replaces the input with the intact records that Copy would write, and wrong indexes with
// correct ones. Replaced files keep their mode, owner and group. Originals are kept in the
// directory damaged next to them, with their index, under the same name or, if that is taken by
// another file, with a number appended.
//
// A set is replaced atomically: after an error or a crash it is unchanged or, if the change had
// begun, the next InPlace completes it and returns the report of the interrupted one. The files of
// a directory without a manifest are repaired one by one: after an error, the files before it are
// repaired. Repairing again continues, and reports their losses too.
func InPlace(ctx context.Context, in string, o Options) (*Report, error) {
	return run(ctx, in, "", o)
}

// run repairs into out, or in place if out is "".
func run(ctx context.Context, in, out string, o Options) (*Report, error) {
	if o.MaxDamage <= 0 {
		o.MaxDamage = recordscan.MaxFaults
	}
	if to := storage.Parse(cmp.Or(out, in)); to.Remote() {
		return nil, fmt.Errorf("%v: repair writes to local directories only: %s into one, check what was lost, and put the result into a new directory of the store (%s)", to, optname.RepairCopy, optname.ReshapeMerge)
	} else if err := to.CheckOutput(); err != nil {
		return nil, err
	}
	r := &repair{placement: placement{ctx: ctx, isInPlace: out == ""}, o: &o, report: &Report{
		Status: "clean", RecordsLostExact: true, Files: []FileReport{}, Damage: []Damage{},
	}}
	st, err := storage.Stat(ctx, in)
	if err != nil {
		return nil, err
	}
	whole := st.IsDir() || manifest.IsPath(in)
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
	if delivered := r.deliver(); delivered != nil {
		return nil, errors.Join(err, delivered)
	}
	return r.report, err
}

// repair is a run of Copy or InPlace.
type repair struct {
	placement
	o      *Options
	report *Report

	finished bool // out exists: compare instead of writing

	unreported []string // files to remove once the report was delivered
}

// add adds the result for a file to the report.
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
