package plan

import (
	"context"
	"time"

	"github.com/tfrec/tfrec/manifest"
)

// preview summarises a run that writes nothing.
func (r *run) preview(ctx context.Context) (*Summary, error) {
	p := &Plan{Name: r.Name, Seed: r.Seed, Labels: r.described.Labels, Features: r.described.Features, Outputs: r.files(), Removed: []string{}}
	removed, err := r.before.stale(r.dir, append(r.files(), manifest.LedgerFile))
	if err != nil {
		return nil, err
	}
	p.Removed = append(p.Removed, removed...)
	tasks := 1
	if r.Task != nil {
		tasks = r.Task.Count
	}
	for i, j := range r.shards {
		p.Shards = append(p.Shards, PlanShard{
			File: j.Name.String(), Split: j.Name.Split, Samples: j.Samples,
			Kept: r.kept[i], Task: i % tasks, Keys: r.source.Keys(i),
		})
	}
	if r.Estimate {
		if p.Estimate, err = r.estimate(ctx); err != nil {
			return nil, err
		}
	}
	s := r.summary(Planned, r.fingerprint())
	s.Plan = p
	return s, nil
}

// Limits of an estimate: the number of samples or the time, whichever is reached first, but at
// least one piece.
const (
	estimateSamples = 256
	estimateTime    = 2 * time.Second
)

// estimate makes some samples of shards from all over the plan, one after another, and discards
// them.
func (r *run) estimate(ctx context.Context) (*Estimate, error) {
	if err := r.source.Prepare(ctx, nil, false); err != nil {
		return nil, err
	}
	e := &Estimate{Workers: r.workers}
	planned, bytes := r.plannedSamples(), int64(0)
	p := getPiece()
	defer putPiece(p)
	began := time.Now()
	each := max(1, estimateSamples/len(r.shards))
	step := max(1, len(r.shards)/estimateSamples)
	for j := 0; j < len(r.shards) && e.Tried < estimateSamples && time.Since(began) < estimateTime; j += step {
		tried := 0
		for task, err := range r.source.Pieces(ctx, j) {
			if err == nil {
				p.reset()
				err = task(p)
			}
			if err != nil {
				return nil, err
			}
			e.Tried += p.Samples
			e.Errors += int64(len(p.Bad))
			bytes += int64(len(p.Frames))
			if tried += int(p.Samples); tried >= each || time.Since(began) > estimateTime {
				break
			}
		}
	}
	if e.Tried > 0 {
		share := float64(planned) / float64(e.Tried)
		e.Bytes = int64(float64(bytes) * share)
		e.Seconds = time.Since(began).Seconds() * share / float64(e.Workers)
	}
	return e, nil
}
