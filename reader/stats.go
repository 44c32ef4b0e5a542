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
	// Workers is how many goroutines may work at the same time.
	Workers int `json:"workers"`
	// Queue is how many blocks are ready for the next stage, of QueueSize at most.
	Queue     int `json:"queue"`
	QueueSize int `json:"queue_size"`
}

// stageStats counts for a StageStats while the stage runs. Stages count once a
// block, never once a record.
type stageStats struct {
	name                       string
	elements, bytes            atomic.Int64
	busyNS, waitNS, blockedNS  atomic.Int64
	workers, queue, queueSpace atomic.Int32
}

// gave counts a block that goes to the next stage.
func (s *stageStats) gave(b *Block) {
	s.elements.Add(int64(len(b.Records)))
	s.bytes.Add(b.bytes())
}

func (s *stageStats) busy(d time.Duration)    { s.busyNS.Add(int64(d)) }
func (s *stageStats) waited(d time.Duration)  { s.waitNS.Add(int64(d)) }
func (s *stageStats) blocked(d time.Duration) { s.blockedNS.Add(int64(d)) }

func (s *stageStats) snapshot() StageStats {
	return StageStats{
		Name:          s.name,
		Elements:      s.elements.Load(),
		Bytes:         s.bytes.Load(),
		Busy:          time.Duration(s.busyNS.Load()),
		WaitInput:     time.Duration(s.waitNS.Load()),
		BlockedOutput: time.Duration(s.blockedNS.Load()),
		Workers:       int(s.workers.Load()),
		Queue:         int(s.queue.Load()),
		QueueSize:     int(s.queueSpace.Load()),
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
func (w *stopwatch) waited()  { w.stats.waited(w.lap()) }
func (w *stopwatch) blocked() { w.stats.blocked(w.lap()) }
