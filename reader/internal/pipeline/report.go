package pipeline

import (
	"errors"
	"expvar"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Report is the progress of a running pipeline.
type Report struct {
	// Seconds since the start, up to Close.
	Seconds float64 `json:"seconds"`
	// Bottleneck is the result of [Bottleneck].
	Bottleneck string      `json:"bottleneck"`
	Memory     MemoryStats `json:"memory"`
	// Stages are the stages with counters, record sources first.
	Stages []StageStats `json:"stages"`
}

func (e *Engine) Stages() []StageStats {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	stats := make([]StageStats, len(e.counters))
	for i, s := range e.counters {
		stats[i] = s.snapshot()
	}
	return stats
}

func (r *Run) Report() Report {
	passed := time.Since(r.began)
	if end := r.ended.Load(); end != nil {
		passed = end.Sub(r.began)
	}
	stages := r.Stages()
	return Report{
		Seconds: passed.Seconds(), Bottleneck: Bottleneck(stages, passed, runtime.GOMAXPROCS(0)),
		Memory: r.Budget.Snapshot(), Stages: stages,
	}
}

// Finish stops the clock and drops the memory kept for reuse.
func (r *Run) Finish() {
	now := time.Now()
	if r.ended.CompareAndSwap(nil, &now) {
		r.task.End()
		r.logEnded()
	}
	r.blocks.trim()
}

// published holds the variables of this package, which expvar never removes.
var published struct {
	mu    sync.Mutex
	names map[string]*atomic.Pointer[func() Report]
}

func Publish(name string, report func() Report) error {
	if name == "" {
		return errors.New("reader: Publish without a name")
	}
	published.mu.Lock()
	defer published.mu.Unlock()
	if v, ours := published.names[name]; ours {
		v.Store(&report)
		return nil
	}
	if expvar.Get(name) != nil {
		return fmt.Errorf("reader: variable %q is already published: want another name", name)
	}
	if published.names == nil {
		published.names = make(map[string]*atomic.Pointer[func() Report])
	}
	v := new(atomic.Pointer[func() Report])
	v.Store(&report)
	published.names[name] = v
	expvar.Publish(name, expvar.Func(func() any { return (*v.Load())() }))
	return nil
}
