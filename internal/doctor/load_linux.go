package doctor

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// loadMeter measures how busy other processes keep the processors.
type loadMeter struct {
	began      time.Time
	busy, mine time.Duration
	known      bool
}

func newLoadMeter() *loadMeter {
	m := &loadMeter{began: time.Now(), mine: processTime()}
	m.busy, m.known = busyTime()
	return m
}

// others returns the number of processors that other processes kept busy since the start, where
// that leaves fewer than this process may use; nil if unknown.
func (m *loadMeter) others() *float64 {
	busy, known := busyTime()
	elapsed := time.Since(m.began).Seconds()
	if !m.known || !known || elapsed == 0 {
		return nil
	}
	others := max((busy-m.busy-(processTime()-m.mine)).Seconds()/elapsed, 0)
	if spare := float64(runtime.NumCPU() - runtime.GOMAXPROCS(0)); spare > 0 {
		others = max(others-spare, 0)
	}
	return &others
}

// tick is the unit of /proc/stat on all of Go's platforms.
const tick = 10 * time.Millisecond

// busyTime returns the time that all processors of the machine were busy. Its first line is "cpu
// user nice system idle iowait irq softirq steal guest guest_nice"; guests count as user.
func busyTime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, false
	}
	var ticks int64
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, false
		}
		if idle, wait := 3, 4; i != idle && i != wait {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, true
}

// processTime returns the processor time of this process.
func processTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
