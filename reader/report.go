package reader

import (
	"errors"
	"expvar"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Report is what a running pipeline did so far.
type Report struct {
	// Seconds since it was started, until it was closed.
	Seconds float64 `json:"seconds"`
	// Bottleneck is what [Bottleneck] says of it.
	Bottleneck string      `json:"bottleneck"`
	Memory     MemoryStats `json:"memory"`
	// Stages are those that count, sources of records first.
	Stages []StageStats `json:"stages"`
}

// Stats returns what the stages did so far, source first. It may be called at
// any time, from any goroutine, and costs a microsecond or two.
func (s *Stream) Stats() []StageStats { return s.run.stages() }

// Report returns what Stats does, with the memory in flight and what holds the
// pipeline back. It may be called at any time, from any goroutine.
func (s *Stream) Report() Report { return s.run.report() }

// Publish publishes the Report as a variable of package expvar, which
// http.DefaultServeMux serves at /debug/vars. A pipeline that is published under
// the same name later takes its place; a name of somebody else's variable is an
// error. After Close the variable tells how it ended.
func (s *Stream) Publish(name string) error { return publish(name, s.run.report) }

// Stats returns what the stages did so far, sources of records first. It may be
// called at any time, from any goroutine, and costs a microsecond or two.
func (r *Running[T]) Stats() []StageStats { return r.src.running().stages() }

// Report returns what Stats does, with the memory in flight and what holds the
// pipeline back. It may be called at any time, from any goroutine.
func (r *Running[T]) Report() Report { return r.src.running().report() }

// Publish publishes the Report as a variable of package expvar, as
// [Stream.Publish] does.
func (r *Running[T]) Publish(name string) error { return publish(name, r.src.running().report) }

func (r *run) stages() []StageStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	stats := make([]StageStats, len(r.counters))
	for i, s := range r.counters {
		stats[i] = s.snapshot()
	}
	return stats
}

func (r *run) report() Report {
	passed := time.Since(r.began)
	if end := r.ended.Load(); end != nil {
		passed = end.Sub(r.began)
	}
	stages := r.stages()
	return Report{
		Seconds: passed.Seconds(), Bottleneck: Bottleneck(stages, passed, runtime.GOMAXPROCS(0)),
		Memory: r.budget.snapshot(), Stages: stages,
	}
}

// finish stops the clock, and gives up memory that is kept for use again.
func (r *run) finish() {
	now := time.Now()
	r.ended.CompareAndSwap(nil, &now)
	r.blocks.trim()
}

// published are the variables of this package, which expvar never forgets.
var published struct {
	mu    sync.Mutex
	names map[string]*atomic.Pointer[func() Report]
}

func publish(name string, report func() Report) error {
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
