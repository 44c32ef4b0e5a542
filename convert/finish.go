package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// finish counts, writes the ledger, the metadata and finally the manifest, or returns an error if
// too many samples were bad.
func (r *run) finish(before *previous, made bool) (*Summary, error) {
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
	ledger, err := encodeLedger(bad)
	if err != nil {
		return nil, err
	}
	if r.stage == nil && ledger != nil && !r.dir.Holds(manifest.LedgerFile, ledger) {
		if err := r.announce(before, true); err != nil {
			return nil, err
		}
	}
	if !r.MaxErrors.allows(sum.Errors, sum.Samples) || sum.Records == 0 && sum.Errors > 0 {
		sum.Status = Failed
		name := manifest.LedgerFile
		if r.stage != nil {
			name = failedLedger // the set keeps its own
		}
		if !r.dir.Holds(name, ledger) {
			if err := r.dir.Put(name, ledger); err != nil {
				return nil, err
			}
		}
		sum.Ledger = storage.Join(r.dir.Path(), name)
		return nil, &BadSamplesError{Summary: sum, Samples: bad, Ledger: sum.Ledger}
	}
	if sum.Records == 0 {
		return nil, fmt.Errorf("%s: options leave out all of %s: nothing to write a manifest for", r.dir.Path(), plural.Of(sum.Samples, "sample"))
	}
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
func (r *run) metadata(m *manifest.Manifest, ledger []byte) ([]file, error) {
	files := []file{{manifest.LedgerFile, ledger}}
	if m.Compression == tfrecord.None.String() {
		tfds, err := manifest.EncodeTFDS(m)
		if err != nil {
			return nil, err
		}
		for _, name := range manifest.TFDSFiles(m.Features) {
			files = append(files, file{name, tfds[name]})
		}
	} else {
		r.note("no metadata for TFDS: it cannot read %s shards", m.Compression)
	}
	data, err := m.Encode()
	if err != nil {
		return nil, err
	}
	return append(files, file{manifest.File, data}), nil
}

// place removes what is stale, then writes the files that are not already in place, and reports
// whether anything changed.
func (r *run) place(before *previous, files []file) (changed bool, err error) {
	names := r.files()
	for _, f := range files {
		if f.data != nil {
			names = append(names, f.name)
		}
	}
	stale, err := before.stale(r.dir, names)
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
		if f.data == nil || r.dir.Holds(f.name, f.data) {
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
	return true, r.dir.Forget(r.shards())
}

// failedLedger lists the samples that made an update of a set fail; the set keeps its own ledger.
const failedLedger = shard.StateDir + "/" + manifest.LedgerFile

// replace atomically replaces the complete set with its new version, and reports whether anything
// changed.
func (r *run) replace(_ *previous, files []file) (changed bool, err error) {
	var staged []string
	for i, j := range r.jobs {
		if !r.inPlace[i] {
			staged = append(staged, j.name.String())
		}
	}
	names := r.files()
	var renewed []file
	for _, f := range files {
		if f.data == nil {
			continue
		}
		names = append(names, f.name)
		if f.name == manifest.File || !r.dir.Holds(f.name, f.data) {
			renewed = append(renewed, f)
		}
	}
	stale, err := r.before.stale(r.dir, names)
	if err != nil {
		return false, err
	}
	if len(staged)+len(stale) == 0 && len(renewed) == 1 && r.dir.Holds(manifest.File, renewed[0].data) {
		return false, errors.Join(r.dir.Remove(failedLedger), r.dir.ClearStage())
	}
	var put []string
	for _, f := range renewed {
		if err := r.stage.Put(f.name, f.data); err != nil {
			return false, err
		}
		put = append(put, f.name)
	}
	ledger := files[0].data != nil // metadata puts it first
	if err := r.stage.PutRun(r.intent(ledger)); err != nil {
		return false, err
	}
	put = slices.Insert(put, 0, setdir.RunFile)
	if err := r.dir.PutStaged(staged, put, append(stale, failedLedger)); err != nil {
		return true, err
	}
	return true, r.dir.Forget(r.shards())
}

// shards names all shards of the set.
func (r *run) shards() []string {
	shards := make([]string, len(r.jobs))
	for i, j := range r.jobs {
		shards[i] = j.name.String()
	}
	return shards
}

// bad returns the ledger: every unusable sample, by key.
func (r *run) bad() []setdir.BadSample {
	var bad []setdir.BadSample
	for _, d := range r.done {
		bad = append(bad, d.Bad...)
	}
	slices.SortStableFunc(bad, func(a, b setdir.BadSample) int {
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return int(a.Line - b.Line)
	})
	return bad
}

// encodeLedger returns the bytes of errors.jsonl, nil if it would be empty.
func encodeLedger(bad []setdir.BadSample) ([]byte, error) {
	var out []byte
	for _, b := range bad {
		line, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

func (r *run) summary(status Status, fingerprint string) *Summary {
	s := &Summary{
		Status: status, Decoder: r.codecs.decoder, Fingerprint: fingerprint, SkippedFiles: r.skipped, Decoded: r.decoded.counts(),
		Seconds: time.Since(r.began).Seconds(), Splits: map[string]SplitSummary{}, Task: r.Task,
	}
	for i, j := range r.jobs {
		if !r.mine(i) {
			continue
		}
		s.Samples += j.samples
		split := s.Splits[j.name.Split]
		split.Shards++
		if d := r.done[i]; d != nil {
			s.Records += d.Records
			s.Errors += int64(len(d.Bad))
			s.Filtered += d.Filtered
			s.Bytes += d.Bytes
			split.Records += d.Records
		}
		s.Splits[j.name.Split] = split
		if r.kept[i] {
			s.ShardsKept++
		} else if status != Planned {
			s.ShardsWritten++
		}
	}
	return s
}
