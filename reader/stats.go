package reader

import (
	"sync/atomic"
	"time"
)

// StageStats is what a stage did so far. Times are sums over its workers.
type StageStats struct {
	// Name of the stage, with its settings.
	Name string `json:"name"`
	// Elements and Bytes that it gave to the next stage.
	Elements int64 `json:"elements"`
	Bytes    int64 `json:"bytes"`
	// Busy is time spent working, WaitInput waiting for the stage before (or,
	// for the first, for files), BlockedOutput waiting for room behind.
	Busy          time.Duration `json:"busy"`
	WaitInput     time.Duration `json:"wait_input"`
	BlockedOutput time.Duration `json:"blocked_output"`
	// Awaited is how long what comes after the stage waited for it, of stages
	// that work ahead.
	Awaited time.Duration `json:"awaited"`
	// Workers is how many goroutines may work at the same time.
	Workers int `json:"workers"`
	// Queue is how many blocks, or batches, are ready for the next stage, of
	// QueueSize at most; 0 for a stage without a queue.
	Queue     int `json:"queue"`
	QueueSize int `json:"queue_size"`
	// Auto says that Workers and QueueSize are chosen, as nothing was given, and
	// Changes how often they were changed. Once they have settled it stays.
	Auto    bool  `json:"auto"`
	Changes int64 `json:"changes"`
}

// stageStats counts for a StageStats while the stage runs. Stages count once a
// block, never once a record.
type stageStats struct {
	name                       string
	elements, bytes            atomic.Int64
	busyNS, waitNS, blockedNS  atomic.Int64
	awaitedNS, units, changes  atomic.Int64
	workers, queue, queueSpace atomic.Int32
	fewest                     atomic.Int32 // in the queue when one was taken, and one
	auto                       atomic.Bool
}

// gave counts a block that goes to the next stage.
func (s *stageStats) gave(b *Block) {
	s.elements.Add(int64(len(b.Records)))
	s.bytes.Add(b.bytes())
	s.units.Add(1)
}

// took counts that an element was taken off a queue.
func (s *stageStats) took() {
	n := s.queue.Add(-1) + 2
	for {
		old := s.fewest.Load()
		if old > 0 && old <= n || s.fewest.CompareAndSwap(old, n) {
			return
		}
	}
}

// fewestSeen returns how many elements there were at least when one was taken
// since it was last asked.
func (s *stageStats) fewestSeen() int { return max(int(s.fewest.Swap(0))-1, 0) }

func (s *stageStats) busy(d time.Duration)    { s.busyNS.Add(int64(d)) }
func (s *stageStats) waited(d time.Duration)  { s.waitNS.Add(int64(d)) }
func (s *stageStats) blocked(d time.Duration) { s.blockedNS.Add(int64(d)) }

func (s *stageStats) awaited(d time.Duration) { s.awaitedNS.Add(int64(d)) }

// await waits until done is closed, and counts how long.
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

// stopwatch tells a stage's own time from that of the stages before it.
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

// Each of these counts the time since the last of them.
func (w *stopwatch) busy()    { w.stats.busy(w.lap()) }
func (w *stopwatch) blocked() { w.stats.blocked(w.lap()) }
func (w *stopwatch) waited() time.Duration {
	d := w.lap()
	w.stats.waited(d)
	return d
}

// parted counts the time as busy, but for a wait for input in it.
func (w *stopwatch) parted(wait time.Duration) {
	d := w.lap()
	wait = min(wait, d)
	w.stats.waited(wait)
	w.stats.busy(d - wait)
}
