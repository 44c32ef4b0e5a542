package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// finishing is a run whose shards are there.
type finishing struct{ *run }

func (r *run) finishing() finishing { return finishing{r} }

// finish counts, writes the ledger, the metadata and finally the manifest, or returns an error if
// too many samples were bad.
func (r finishing) finish(before *Previous, made bool) (*Summary, error) {
	m := r.manifest()
	status := Written
	switch {
	case !made && before != nil && before.manifest != nil:
		status = UpToDate
	case before != nil && before.manifest != nil:
		status = Updated
	case r.progress.Kept.Load() > 0:
		status = Resumed
	}
	sum := r.summary(status, m.Fingerprint)
	bad := r.bad()
	ledger, err := setdir.EncodeLedger(bad)
	if err != nil {
		return nil, err
	}
	if r.stage == nil && ledger != nil && !setdir.Holds(r.dir, manifest.LedgerFile, ledger) {
		if err := r.announce(before, true); err != nil {
			return nil, err
		}
	}
	errs := sum.Errors
	if sum.AnnotationCounts != nil && r.MaxErrors.Share > 0 {
		errs = min(samplesAtFault(bad), sum.Samples)
	}
	if !r.MaxErrors.allows(errs, sum.Samples) || sum.Records == 0 && sum.Errors > 0 {
		sum.Status = Failed
		name := manifest.LedgerFile
		if r.stage != nil {
			name = failedLedger // the set keeps its own
		}
		if !setdir.Holds(r.dir, name, ledger) {
			if err := r.dir.Put(name, ledger); err != nil {
				return nil, err
			}
		}
		sum.Ledger = storage.Join(r.dir.Path(), name)
		return nil, &BadSamplesError{Summary: sum, Samples: bad, Causes: r.causes, Ledger: sum.Ledger, allowed: r.MaxErrors}
	}
	if sum.Records == 0 {
		return nil, r.leavesOutAll(sum)
	}
	r.noteDepth(sum)
	files, err := r.metadata(m, ledger)
	if err != nil {
		return nil, err
	}
	place := r.place
	if r.stage != nil {
		place = r.replace
	}
	changed, err := place(before, files)
	if err == nil {
		err = r.dir.Remove(planFile) // of an array job, which is now complete
	}
	if err == nil {
		err = r.dir.Sweep()
	}
	if err != nil {
		return nil, err
	}
	if changed && sum.Status == UpToDate {
		sum.Status = Updated
	}
	return sum, nil
}

// file is one of a set's small files.
type file struct {
	name string
	data []byte // nil: the file must not exist
}

// metadata returns the small files of the set in write order, the ledger first and the manifest
// last.
func (r finishing) metadata(m *manifest.Manifest, ledger []byte) ([]file, error) {
	files := []file{{manifest.LedgerFile, ledger}}
	metadata, err := setdir.Metadata(m)
	if err != nil {
		return nil, err
	}
	for _, name := range m.MetadataFiles() {
		files = append(files, file{name, metadata[name]})
	}
	if m.Compression != tfrecord.CompressionNone.String() {
		r.Notef("no metadata for TFDS: it cannot read %s shards", m.Compression)
	}
	data, err := m.Encode()
	if err != nil {
		return nil, err
	}
	return append(files, file{manifest.File, data}), nil
}

// place removes stale files, then writes the files that are not already in place, and reports
// whether anything changed.
func (r finishing) place(before *Previous, files []file) (changed bool, err error) {
	stale, err := before.stale(r.dir, r.remaining(files))
	if err != nil {
		return false, err
	}
	if len(stale) > 0 {
		changed = true
		ledger := files[0].data != nil // metadata puts it first
		if err := r.announce(before, ledger); err != nil {
			return changed, err
		}
		if err := r.dir.Remove(append([]string{manifest.File}, stale...)...); err != nil {
			return changed, err
		}
	}
	for _, f := range files {
		if f.data == nil || setdir.Holds(r.dir, f.name, f.data) {
			continue
		}
		changed = true
		if err := r.dir.Put(f.name, f.data); err != nil {
			return changed, err
		}
	}
	if !changed {
		return false, nil
	}
	return true, r.dir.Shards().Forget(r.names())
}

// remaining names every file of the set as it will be; files are its small ones.
func (r finishing) remaining(files []file) []string {
	names := r.files()
	for _, f := range files {
		if f.data != nil {
			names = append(names, f.name)
		} else {
			names = slices.DeleteFunc(names, func(name string) bool { return name == f.name })
		}
	}
	return names
}

// failedLedger lists the samples that made an update of a set fail; the set keeps its own ledger.
const failedLedger = shard.StateDir + "/" + manifest.LedgerFile

// replace atomically replaces the complete set with its new version, and reports whether anything
// changed.
func (r finishing) replace(_ *Previous, files []file) (changed bool, err error) {
	var staged []string
	for i, j := range r.shards {
		if !r.inPlace[i] {
			staged = append(staged, j.Name.String())
		}
	}
	var renewed []file
	for _, f := range files {
		if f.data != nil && (f.name == manifest.File || !setdir.Holds(r.dir, f.name, f.data)) {
			renewed = append(renewed, f)
		}
	}
	stale, err := r.before.stale(r.dir, r.remaining(files))
	if err != nil {
		return false, err
	}
	if len(staged)+len(stale) == 0 && len(renewed) == 1 && setdir.Holds(r.dir, manifest.File, renewed[0].data) {
		return false, errors.Join(r.dir.Remove(failedLedger), r.dir.Staged().Clear())
	}
	var put []string
	for _, f := range renewed {
		if err := r.stage.Put(f.name, f.data); err != nil {
			return false, err
		}
		put = append(put, f.name)
	}
	ledger := files[0].data != nil // metadata puts it first
	if err := r.stage.State().PutRun(r.intent(ledger)); err != nil {
		return false, err
	}
	put = slices.Insert(put, 0, setdir.RunFile)
	if err := r.dir.Staged().Publish(staged, put, append(stale, failedLedger)); err != nil {
		return true, err
	}
	return true, r.dir.Shards().Forget(r.names())
}

// names names all shards of the set.
func (r *target) names() []string {
	shards := make([]string, len(r.shards))
	for i, j := range r.shards {
		shards[i] = j.Name.String()
	}
	return shards
}

// leavesOutAll is the error of a set without records, which names the options that left them out.
func (r finishing) leavesOutAll(sum *Summary) error {
	var given []string
	for _, o := range []struct {
		key  string
		name optname.Name
	}{{"min_size", optname.SelectSpecMinSize}, {"max_aspect", optname.SelectSpecMaxAspect}, {OptionDropEmpty, optname.AnnotationSpecDropEmpty}} {
		if v := string(r.options[o.key]); v != "" && v != "0" && v != "false" {
			given = append(given, o.name.String())
		}
	}
	by := cmp.Or(strings.Join(given, ", "), "options")
	if by == optname.AnnotationSpecDropEmpty.String() {
		by += ": none has an object"
	}
	return fmt.Errorf("%s: no record is left to write a manifest for: %s left out by %s", r.dir.Path(), plural.Of(sum.Samples, "sample"), by)
}

// bad returns the ledger: every unusable sample, by key, and annotations as they are numbered.
func (r finishing) bad() []setdir.BadSample {
	var bad []setdir.BadSample
	for _, d := range r.done {
		bad = append(bad, d.Bad...)
	}
	for i := range bad {
		bad[i].Listed = false // of the state only
	}
	slices.SortStableFunc(bad, func(a, b setdir.BadSample) int {
		if c := cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Line, b.Line)); c != 0 || a.Stage != StageAnnotation || b.Stage != StageAnnotation {
			return c
		}
		return compareFaultNames(a.Reason, b.Reason)
	})
	return bad
}

// samplesAtFault returns how many samples of a ledger, sorted by key, have faults: several annotations
// of an image count once, and one of no image counts like a sample.
func samplesAtFault(bad []setdir.BadSample) (n int64) {
	for i, b := range bad {
		if i == 0 || b.Key != bad[i-1].Key || b.Stage != StageAnnotation && bad[i-1].Stage != StageAnnotation {
			n++
		}
	}
	return n
}

func (r *run) summary(status Status, fingerprint string) *Summary {
	s := &Summary{
		Status: status, Decoder: r.codecs.Decoder, Fingerprint: fingerprint, SkippedFiles: r.skipped, LeftOut: append([]LeftOut{}, r.leftOut...), Decoded: r.decoded.counts(),
		Seconds: time.Since(r.began).Seconds(), Splits: map[string]SplitSummary{}, Task: r.Task,
	}
	if r.movesObjects() {
		s.AnnotationCounts = new(AnnotationCounts)
	}
	for i, j := range r.shards {
		if !r.mine(i) {
			continue
		}
		s.Samples += j.Samples
		split := s.Splits[j.Name.Split]
		split.Shards++
		if d := r.done[i]; d != nil {
			s.Records += d.Records
			s.Errors += int64(len(d.Bad))
			s.Filtered += d.Filtered
			s.Narrowed += d.Narrowed
			s.AlphaDropped += d.AlphaDropped
			if c := s.AnnotationCounts; c != nil {
				c.Annotations += d.Annotations
				c.Dropped += d.AnnotationsDropped
			}
			s.Bytes += d.Bytes
			split.Records += d.Records
		} else if status == Planned {
			s.Errors += j.Unusable
		}
		s.Splits[j.Name.Split] = split
		if r.kept[i] {
			s.ShardsKept++
		} else if status != Planned {
			s.ShardsWritten++
		}
	}
	s.accountForDepth()
	return s
}
