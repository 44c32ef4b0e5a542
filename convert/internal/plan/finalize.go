package plan

import (
	"context"
	"encoding/json"
	"fmt"
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

// FinalizeOptions are the options of Finalize.
type FinalizeOptions struct {
	// MaxErrors is the number of unusable samples to allow. Default: as the tasks have it.
	MaxErrors *Tolerance
	// Note, if not nil, is called with human-readable notes.
	Note func(sentence string)
}

// MissingShardsError means that an array job is not complete.
type MissingShardsError struct {
	Dir     string
	Missing []string // names of shards
	Planned int
}

func (e *MissingShardsError) Error() string {
	const shown = 5
	names := strings.Join(e.Missing[:min(shown, len(e.Missing))], ", ")
	if n := len(e.Missing) - shown; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s: %d of %s missing or not of this plan: %s; run the tasks that make them (all of them, if in doubt: existing shards are kept)",
		e.Dir, len(e.Missing), plural.Of(e.Planned, "shard"), names)
}

// Finalize makes a set of the shards that the tasks of an array job have made in the directory out:
// it checks that they are complete and belong to one plan, and writes the ledger, TFDS's files and
// the manifest, the same bytes as a run without tasks. It returns a *MissingShardsError if shards
// are missing, a *BadSamplesError if too many samples were unusable, and an error that unwraps to
// shard.ErrBusy while tasks are running. A set that was finalized before is up to date.
func Finalize(ctx context.Context, out string, o FinalizeOptions) (*Summary, error) {
	if st, err := storage.Stat(ctx, out); err != nil {
		return nil, err
	} else if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a directory: want the OUT of an array job", out)
	}
	dir, err := setdir.Open(ctx, out, setdir.Options{Note: o.Note})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	before, err := readPrevious(dir)
	if err != nil {
		return nil, err
	}
	plan, err := readPlan(dir)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		if before != nil && before.manifest != nil {
			sum, err := finalized(dir, before.manifest)
			if err != nil {
				return nil, err
			}
			return sum, dir.Sweep() // left by a killed run
		}
		return nil, fmt.Errorf("%s holds no array job to finalize: run its tasks first (%s or %s, with %s)", out, optname.ConvertImages, optname.ConvertCSV, optname.OptionsTask)
	}
	r, err := plan.run(dir, o)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(plan.Shards))
	for i, s := range plan.Shards {
		files[i] = s.File
	}
	r.stageOver(before)
	staged, placed, err := r.allDone(ctx, files, false, nil)
	if err != nil {
		return nil, err
	}
	var missing []string
	for i, s := range plan.Shards {
		if r.done[i], r.inPlace[i] = r.agreed().planned(staged[i], placed[i]); r.done[i] == nil {
			missing = append(missing, s.File)
		}
	}
	if missing != nil {
		return nil, &MissingShardsError{Dir: out, Missing: missing, Planned: len(plan.Shards)}
	}
	sum, err := r.finishing().finish(before, true)
	if err == nil {
		err = dir.State().Put(leftOutFile, leftOut{sum.Fingerprint, sum.Samples, sum.Filtered, sum.SkippedFiles, sum.LeftOut, sum.AnnotationCounts})
	}
	return sum, err
}

// planned returns the recorded state of a shard of the plan, staged or in place; nil if neither is
// of this plan.
func (r agreed) planned(staged, placed *setdir.Done) (done *setdir.Done, inPlace bool) {
	switch {
	case staged != nil && staged.Plan == r.plan.id():
		return staged, false
	case placed != nil && placed.Plan == r.plan.id():
		return placed, true
	}
	return nil, false
}

// leftOut describes the samples and files that are not in a finalized set. The manifest does not
// record them, and a second finalize reports them again.
type leftOut struct {
	Fingerprint string            `json:"fingerprint"` // of the set
	Samples     int64             `json:"samples"`
	Filtered    int64             `json:"filtered"`
	Skipped     int64             `json:"skipped_files"`
	LeftOut     []LeftOut         `json:"left_out"`
	Annotations *AnnotationCounts `json:"annotations,omitempty"`
}

const leftOutFile = "finalized.json"

// run returns the run that finalizes the plan's array job.
func (p *arrayPlan) run(dir *setdir.Dir, o FinalizeOptions) (*run, error) {
	options := &Options{Name: p.Name, Seed: p.Seed, MaxErrors: p.MaxErrors, Note: o.Note}
	if o.MaxErrors != nil {
		options.MaxErrors = *o.MaxErrors
	}
	var compression string
	err := json.Unmarshal(p.Options["compression"], &compression)
	if err == nil {
		options.Compression, err = tfrecord.ParseCompression(compression)
	}
	if err != nil {
		return nil, fmt.Errorf("the plan in %s: compression: %w", dir.Path(), err)
	}
	shards := make([]Shard, len(p.Shards))
	for i, s := range p.Shards {
		name, ok := shard.ParseName(s.File)
		if !ok {
			return nil, fmt.Errorf("the plan in %s names %q, which is not a shard name", dir.Path(), s.File)
		}
		shards[i] = Shard{Name: name, Samples: s.Samples}
	}
	described := manifest.Manifest{Labels: p.Labels, Features: p.Features, Supervised: p.Supervised, LabelMap: p.LabelMap}
	r := emptyRun(options, shards, described, p.Options, Codecs{p.Decoder, p.Encoder})
	r.dir, r.plan, r.skipped, r.leftOut, r.began = dir, p, p.Skipped, p.LeftOut, time.Now()
	return r, nil
}

// finalized returns the summary of a set that was finalized before.
func finalized(dir *setdir.Dir, m *manifest.Manifest) (*Summary, error) {
	s := &Summary{Status: UpToDate, Errors: m.Errors, Decoder: m.Decoder, Fingerprint: m.Fingerprint, Splits: map[string]SplitSummary{}}
	for _, split := range m.Splits {
		s.Records += split.Records
		s.ShardsKept += len(split.Shards)
		s.Splits[split.Name] = SplitSummary{Records: split.Records, Shards: len(split.Shards)}
		for _, info := range split.Shards {
			s.Bytes += info.Bytes
			s.Narrowed += info.Narrowed
		}
	}
	var left leftOut
	known, err := dir.State().Read(leftOutFile, &left)
	if err != nil {
		return nil, err
	}
	s.Samples = s.Records + s.Errors
	if known && left.Fingerprint == m.Fingerprint {
		s.Samples, s.Filtered, s.SkippedFiles, s.LeftOut, s.AnnotationCounts = left.Samples, left.Filtered, left.Skipped, append([]LeftOut{}, left.LeftOut...), left.Annotations
	}
	s.accountForDepth()
	return s, nil
}
