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
	// Bottleneck is a sentence that names the slowest part, and the setting that would speed it up.
	Bottleneck string `json:"bottleneck"`
	// Processor is the processor time that this process took in these seconds, for everything that it
	// does. Others are the processors that other processes kept busy, on average. 0 if unknown.
	Processor time.Duration `json:"processor"`
	Others    float64       `json:"others"`
	Memory    MemoryStats   `json:"memory"`
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
	u := r.usage()
	if end := r.ended.Load(); end != nil {
		u = *end
	}
	stages := r.Stages()
	return Report{
		Seconds: u.Elapsed.Seconds(), Bottleneck: Bottleneck(stages, u), Processor: u.Processor, Others: u.Others,
		Memory: r.Budget.Snapshot(), Stages: stages,
	}
}

// usage returns the Usage of the run so far.
func (e *Engine) usage() Usage {
	u := Usage{Elapsed: time.Since(e.began), Cores: runtime.GOMAXPROCS(0)}
	u.Processor, _ = e.load.Process()
	u.Others, _ = e.load.Others()
	if delayed, known := e.load.Delayed(); known {
		u.Delayed = delayed
	} else {
		u.Delayed = -1
	}
	return u
}

// Finish stops the clock and drops the memory kept for reuse.
func (r *Run) Finish() {
	u := r.usage()
	if r.ended.CompareAndSwap(nil, &u) {
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
