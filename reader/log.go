package reader

import (
	"context"
	"log/slog"
	"time"
)

// Events of Options.Logger, which documents their levels and attributes.
const (
	eventSkipped   = "skipped damage"
	eventRefetched = "bytes changed in transit"
	eventDiscarded = "cache discarded"
	eventOpened    = "cache opened"
	eventBuilt     = "cache built"
	eventElsewhere = "cache is filled by another process"
	eventSettled   = "tuning settled"
	eventCostly    = "global order exceeds memory"
	eventEnded     = "stream ended"
)

// event logs an event if there is a logger.
func (r *run) event(level slog.Level, name string, attrs ...slog.Attr) {
	if log := r.opts.Logger; log != nil {
		log.LogAttrs(context.WithoutCancel(r.ctx), level, name, attrs...)
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
func (r *run) logSkipped(s Skipped) {
	if !r.logged.pass(r.tuner.clock()) {
		return
	}
	r.event(slog.LevelWarn, eventSkipped,
		slog.String("path", s.Path), slog.Int64("record", s.Record), slog.Int64("offset", s.Offset),
		slog.Int64("records", s.Records), slog.Int64("bytes", s.Bytes), slog.Int("epoch", int(s.Epoch)),
		slog.Int64("skipped", r.logged.seen), slog.Any("error", s.Err))
}

// logRefetched logs that length bytes at an offset of a file were fetched again since they were
// damaged, and were others then, or always others; a length of 0 is all that was read of it.
func (r *run) logRefetched(file any, offset int64, length int, changed bool, err error) {
	if r == nil || r.opts.Logger == nil || !changed {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	if !r.refetched.pass(r.tuner.clock()) {
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
	r.event(slog.LevelWarn, eventRefetched, attrs...)
}

// logEnded logs what a run did.
func (r *run) logEnded() {
	log := r.opts.Logger
	if log == nil || !log.Enabled(r.ctx, slog.LevelDebug) {
		return
	}
	report := r.report()
	elements := int64(0)
	if n := len(report.Stages); n > 0 {
		elements = report.Stages[n-1].Elements
	}
	r.telling.Lock()
	skipped := r.logged.seen
	r.telling.Unlock()
	r.event(slog.LevelDebug, eventEnded,
		slog.Int64("epochs", r.epochs.Load()), slog.Int64("elements", elements), slog.Int64("skipped", skipped),
		slog.Float64("seconds", report.Seconds), slog.String("bottleneck", report.Bottleneck))
}

// logSettled logs the settings of a stage that is tuned.
func (r *run) logSettled(k *knob) {
	r.event(slog.LevelInfo, eventSettled,
		slog.String("stage", k.stats.name), slog.Int("workers", int(k.stats.workers.Load())),
		slog.Int("queue", int(k.stats.queueSpace.Load())), slog.Int64("changes", k.stats.changes.Load()))
}
