package reader

import (
	"sync/atomic"
	"time"
)

// StageStats are the counters of a stage. Times are sums over its workers.
type StageStats struct {
	// Name of the stage, with its settings.
	Name string `json:"name"`
	// Elements and Bytes passed to the next stage.
	Elements int64 `json:"elements"`
	Bytes    int64 `json:"bytes"`
	// Busy is the time spent working, WaitInput waiting for the stage before (or, for the first,
	// for files), BlockedOutput waiting for room in the output.
	Busy          time.Duration `json:"busy"`
	WaitInput     time.Duration `json:"wait_input"`
	BlockedOutput time.Duration `json:"blocked_output"`
	// Awaited is how long the stages after it waited for it, for stages that work ahead.
	Awaited time.Duration `json:"awaited"`
	// Workers is the maximum number of goroutines that work at the same time.
	Workers int `json:"workers"`
	// Queue is the number of blocks, or batches, ready for the next stage, out of QueueSize; 0 for
	// a stage without a queue.
	Queue     int `json:"queue"`
	QueueSize int `json:"queue_size"`
	// Auto means that Workers and QueueSize are tuned, since they were not set; Changes is how
	// often they were changed. It stops growing once they have settled.
	Auto    bool  `json:"auto"`
	Changes int64 `json:"changes"`
}

// stageStats holds the counters of a running stage. They are updated once per block, never per
// record.
type stageStats struct {
	name, traced               string // traced: of its regions
	elements, bytes            atomic.Int64
	busyNS, waitNS, blockedNS  atomic.Int64
	awaitedNS, units, changes  atomic.Int64
	workers, queue, queueSpace atomic.Int32
	fewest                     atomic.Int32 // in the queue when one was taken, plus one
	auto                       atomic.Bool
}

// gave counts a block passed to the next stage.
func (s *stageStats) gave(b *recordBlock) {
	s.elements.Add(int64(len(b.Records)))
	s.bytes.Add(b.bytes())
	s.units.Add(1)
}

// took counts an element taken off a queue.
func (s *stageStats) took() {
	n := s.queue.Add(-1) + 2
	for {
		old := s.fewest.Load()
		if old > 0 && old <= n || s.fewest.CompareAndSwap(old, n) {
			return
		}
	}
}

// fewestSeen returns the lowest number of queued elements when one was taken, since the last call.
func (s *stageStats) fewestSeen() int { return max(int(s.fewest.Swap(0))-1, 0) }

func (s *stageStats) busy(d time.Duration)    { s.busyNS.Add(int64(d)) }
func (s *stageStats) waited(d time.Duration)  { s.waitNS.Add(int64(d)) }
func (s *stageStats) blocked(d time.Duration) { s.blockedNS.Add(int64(d)) }

func (s *stageStats) awaited(d time.Duration) { s.awaitedNS.Add(int64(d)) }

// await waits until done is closed, and counts the time.
func (s *stageStats) await(done <-chan struct{}) {
	select {
	case <-done:
	default:
		began := time.Now()
		<-done
		s.awaited(time.Since(began))
	}
}

func (s *stageStats) snapshot() StageStats {
	return StageStats{
		Name:          s.name,
		Elements:      s.elements.Load(),
		Bytes:         s.bytes.Load(),
		Busy:          time.Duration(s.busyNS.Load()),
		WaitInput:     time.Duration(s.waitNS.Load()),
		BlockedOutput: time.Duration(s.blockedNS.Load()),
		Awaited:       time.Duration(s.awaitedNS.Load()),
		Workers:       int(s.workers.Load()),
		Queue:         int(s.queue.Load()),
		QueueSize:     int(s.queueSpace.Load()),
		Auto:          s.auto.Load(),
		Changes:       s.changes.Load(),
	}
}

// stopwatch separates a stage's own time from that of the stages before it.
type stopwatch struct {
	stats *stageStats
	last  time.Time
}

func (s *stageStats) watch() stopwatch { return stopwatch{s, time.Now()} }

func (w *stopwatch) lap() time.Duration {
	now := time.Now()
	d := now.Sub(w.last)
	w.last = now
	return d
}

// Each of these counts the time since the last call of any of them.
func (w *stopwatch) busy()    { w.stats.busy(w.lap()) }
func (w *stopwatch) blocked() { w.stats.blocked(w.lap()) }
func (w *stopwatch) waited() time.Duration {
	d := w.lap()
	w.stats.waited(d)
	return d
}

// parted counts the time as busy, except for a wait for input within it.
func (w *stopwatch) parted(wait time.Duration) {
	d := w.lap()
	wait = min(wait, d)
	w.stats.waited(wait)
	w.stats.busy(d - wait)
}
