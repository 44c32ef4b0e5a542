// Package cpuload measures how much processor time this process and all others take.
package cpuload

import (
	"runtime"
	"sync"
	"time"
)

// Meter measures from a moment on. It is safe for concurrent use.
type Meter struct {
	began   time.Time
	used    time.Duration // by this process
	machine reading
}

// reading is a reading of /proc, which takes a quarter of a millisecond.
type reading struct {
	busy, delayed           time.Duration
	knowsBusy, knowsDelayed bool
}

// fresh is the maximum age of a reading.
const fresh = 25 * time.Millisecond

// latest is the latest reading.
var latest struct {
	mu sync.Mutex
	at time.Time
	reading
}

// read returns a reading that is fresh.
func read() reading {
	latest.mu.Lock()
	defer latest.mu.Unlock()
	if now := time.Now(); latest.at.IsZero() || now.Sub(latest.at) > fresh {
		latest.at = now
		latest.busy, latest.knowsBusy = busyTime()
		latest.delayed, latest.knowsDelayed = delayedTime()
	}
	return latest.reading
}

// Start returns a meter that measures from now on.
func Start() *Meter {
	return &Meter{began: time.Now(), used: Used(), machine: read()}
}

// Process returns the processor time of this process since the start; false if it is unknown.
func (m *Meter) Process() (time.Duration, bool) {
	now := Used()
	return now - m.used, now > 0
}

// Delayed returns how long threads of this process were ready to run since the start, and waited for a
// processor, together, give or take 25 ms of each; false if it is unknown, as on other systems than
// Linux.
func (m *Meter) Delayed() (time.Duration, bool) {
	now := read()
	return max(now.delayed-m.machine.delayed, 0), now.knowsDelayed && m.machine.knowsDelayed
}

// Others returns the number of processors that other processes kept busy since the start, on average,
// where that leaves fewer than this process may use; false if it is unknown, as on other systems than
// Linux.
func (m *Meter) Others() (processors float64, known bool) {
	now := read()
	mine, knowsMine := m.Process()
	elapsed := time.Since(m.began)
	if !m.machine.knowsBusy || !now.knowsBusy || !knowsMine || elapsed <= 0 {
		return 0, false
	}
	spare := max(runtime.NumCPU()-runtime.GOMAXPROCS(0), 0)
	return max((now.busy-m.machine.busy-mine).Seconds()/elapsed.Seconds()-float64(spare), 0), true
}
