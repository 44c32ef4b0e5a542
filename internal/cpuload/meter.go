// Package cpuload measures how much processor time this process and all others take.
package cpuload

import (
	"runtime"
	"time"
)

// Meter measures from a moment on. It is safe for concurrent use.
type Meter struct {
	began                              time.Time
	mine, busy, delayed                time.Duration
	knowsMine, knowsBusy, knowsDelayed bool
}

// Start returns a meter that measures from now on.
func Start() *Meter {
	m := &Meter{began: time.Now()}
	m.mine, m.knowsMine = processTime()
	m.busy, m.knowsBusy = busyTime()
	m.delayed, m.knowsDelayed = delayedTime()
	return m
}

// Process returns the processor time of this process since the start; false if it is unknown.
func (m *Meter) Process() (time.Duration, bool) {
	now, known := processTime()
	return now - m.mine, known && m.knowsMine
}

// Delayed returns how long goroutines' threads were ready to run since the start, and waited for a
// processor, together; false if it is unknown, as on other systems than Linux.
func (m *Meter) Delayed() (time.Duration, bool) {
	now, known := delayedTime()
	return max(now-m.delayed, 0), known && m.knowsDelayed
}

// Others returns the number of processors that other processes kept busy since the start, on average,
// where that leaves fewer than this process may use; false if it is unknown, as on other systems than
// Linux.
func (m *Meter) Others() (processors float64, known bool) {
	busy, known := busyTime()
	mine, knowsMine := m.Process()
	elapsed := time.Since(m.began)
	if !m.knowsBusy || !known || !knowsMine || elapsed <= 0 {
		return 0, false
	}
	return max((busy-m.busy-mine).Seconds()/elapsed.Seconds()-float64(max(runtime.NumCPU()-runtime.GOMAXPROCS(0), 0)), 0), true
}
