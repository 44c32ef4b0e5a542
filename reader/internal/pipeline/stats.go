package pipeline

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
	// Awaited is the time that later stages waited for it, for stages that work ahead.
	Awaited time.Duration `json:"awaited"`
	// Workers is the maximum number of goroutines that work at the same time.
	Workers int `json:"workers"`
	// Queue is the number of blocks, or batches, ready for the next stage, out of QueueSize; 0 for
	// a stage without a queue.
	Queue     int `json:"queue"`
	QueueSize int `json:"queue_size"`
	// Auto means that Workers and QueueSize are tuned, since they were not set. Changes counts the
	// adjustments, and stops growing once both have settled.
	Auto    bool  `json:"auto"`
	Changes int64 `json:"changes"`
}

// Counters holds the counters of a running stage. They are updated once per block, never per
// record.
type Counters struct {
	Name, traced               string // traced: of its regions
	Elements, Bytes            atomic.Int64
	busyNS, waitNS, blockedNS  atomic.Int64
	awaitedNS, Units, changes  atomic.Int64
	Workers, Queue, QueueSpace atomic.Int32
	fewest                     atomic.Int32 // in the queue when one was taken, plus one
	auto                       atomic.Bool
}

// Gave counts a block passed to the next stage.
func (s *Counters) Gave(b *Block) {
	s.Elements.Add(int64(len(b.Records)))
	s.Bytes.Add(b.Bytes())
	s.Units.Add(1)
}

// Took counts an element taken off a queue.
func (s *Counters) Took() {
	n := s.Queue.Add(-1) + 2
	for {
		old := s.fewest.Load()
		if old > 0 && old <= n || s.fewest.CompareAndSwap(old, n) {
			return
		}
	}
}

// fewestSeen returns the lowest number of queued elements when one was taken, since the last call.
func (s *Counters) fewestSeen() int { return max(int(s.fewest.Swap(0))-1, 0) }

func (s *Counters) Busy(d time.Duration)    { s.busyNS.Add(int64(d)) }
func (s *Counters) waited(d time.Duration)  { s.waitNS.Add(int64(d)) }
func (s *Counters) blocked(d time.Duration) { s.blockedNS.Add(int64(d)) }

func (s *Counters) Awaited(d time.Duration) { s.awaitedNS.Add(int64(d)) }

// Await waits until done is closed, and counts the time.
func (s *Counters) Await(done <-chan struct{}) {
	select {
	case <-done:
	default:
		began := time.Now()
		<-done
		s.Awaited(time.Since(began))
	}
}

func (s *Counters) snapshot() StageStats {
	return StageStats{
		Name:          s.Name,
		Elements:      s.Elements.Load(),
		Bytes:         s.Bytes.Load(),
		Busy:          time.Duration(s.busyNS.Load()),
		WaitInput:     time.Duration(s.waitNS.Load()),
		BlockedOutput: time.Duration(s.blockedNS.Load()),
		Awaited:       time.Duration(s.awaitedNS.Load()),
		Workers:       int(s.Workers.Load()),
		Queue:         int(s.Queue.Load()),
		QueueSize:     int(s.QueueSpace.Load()),
		Auto:          s.auto.Load(),
		Changes:       s.changes.Load(),
	}
}

// Stopwatch separates a stage's own time from the time of the stages before it.
type Stopwatch struct {
	stats *Counters
	last  time.Time
}

func (s *Counters) Watch() Stopwatch { return Stopwatch{s, time.Now()} }

func (w *Stopwatch) Lap() time.Duration {
	now := time.Now()
	d := now.Sub(w.last)
	w.last = now
	return d
}

// Each of these counts the time since the last call of any of them.
func (w *Stopwatch) Busy()    { w.stats.Busy(w.Lap()) }
func (w *Stopwatch) Blocked() { w.stats.blocked(w.Lap()) }
func (w *Stopwatch) Waited() time.Duration {
	d := w.Lap()
	w.stats.waited(d)
	return d
}

// Parted counts the time as busy, except for a wait for input within it.
func (w *Stopwatch) Parted(wait time.Duration) {
	d := w.Lap()
	wait = min(wait, d)
	w.stats.waited(wait)
	w.stats.Busy(d - wait)
}
