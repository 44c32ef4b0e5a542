package pipeline

import (
	"context"
	"log/slog"
	"time"
)

// Events of Options.Logger, which documents their levels and attributes.
const (
	eventSkipped   = "skipped damage"
	eventRefetched = "bytes changed in transit"
	EventDiscarded = "cache discarded"
	EventOpened    = "cache opened"
	EventBuilt     = "cache built"
	EventElsewhere = "cache is filled by another process"
	eventSettled   = "tuning settled"
	EventCostly    = "global order exceeds memory"
	eventEnded     = "stream ended"
)

// Event logs an event if there is a logger.
func (r *Run) Event(level slog.Level, name string, attrs ...slog.Attr) {
	if log := r.Opts.Logger; log != nil {
		log.LogAttrs(context.WithoutCancel(r.Ctx), level, name, attrs...)
	}
}

// sampler limits the events of a kind: the first ones all pass, and then one in each interval.
type sampler struct {
	seen int64
	next time.Time
}

// Limits of a sampler.
const (
	sampledFirst = 10
	sampledEvery = 10 * time.Second
)

// pass counts an event, and reports whether to log it.
func (s *sampler) pass(now time.Time) bool {
	if s.seen++; s.seen > sampledFirst && now.Before(s.next) {
		return false
	}
	s.next = now.Add(sampledEvery)
	return true
}

// logSkipped logs damage that was skipped. The caller holds r.telling.
func (r *Run) logSkipped(s Skipped) {
	if !r.logged.pass(r.Tuner.clock()) {
		return
	}
	r.Event(slog.LevelWarn, eventSkipped,
		slog.String("path", s.Path), slog.Int64("record", s.Record), slog.Int64("offset", s.Offset),
		slog.Int64("records", s.Records), slog.Int64("bytes", s.Bytes), slog.Int("epoch", int(s.Epoch)),
		slog.Int64("skipped", r.logged.seen), slog.Any("error", s.Err))
}

// LogRefetched logs that length bytes at an offset of a file were fetched again since they were
// damaged, and were others then, or always others; a length of 0 is all that was read of it.
func (r *Run) LogRefetched(file any, offset int64, length int, changed bool, err error) {
	if r == nil || r.Opts.Logger == nil || !changed {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	if !r.refetched.pass(r.Tuner.clock()) {
		return
	}
	path := ""
	if named, ok := file.(interface{ Name() string }); ok {
		path = named.Name()
	}
	attrs := []slog.Attr{
		slog.String("path", path), slog.Int64("offset", offset), slog.Int("bytes", length),
		slog.Int64("refetched", r.refetched.seen),
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	r.Event(slog.LevelWarn, eventRefetched, attrs...)
}

// logEnded logs the totals of a run.
func (r *Run) logEnded() {
	log := r.Opts.Logger
	if log == nil || !log.Enabled(r.Ctx, slog.LevelDebug) {
		return
	}
	report := r.Report()
	elements := int64(0)
	if n := len(report.Stages); n > 0 {
		elements = report.Stages[n-1].Elements
	}
	r.telling.Lock()
	skipped := r.logged.seen
	r.telling.Unlock()
	r.Event(slog.LevelDebug, eventEnded,
		slog.Int64("epochs", r.Epochs.Load()), slog.Int64("elements", elements), slog.Int64("skipped", skipped),
		slog.Float64("seconds", report.Seconds), slog.String("bottleneck", report.Bottleneck))
}

// logSettled logs the settings of a stage that is tuned.
func (r *Run) logSettled(k *Knob) {
	r.Event(slog.LevelInfo, eventSettled,
		slog.String("stage", k.Stats.Name), slog.Int("workers", int(k.Stats.Workers.Load())),
		slog.Int("queue", int(k.Stats.QueueSpace.Load())), slog.Int64("changes", k.Stats.changes.Load()))
}
