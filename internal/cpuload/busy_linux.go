package cpuload

import (
	"os"
	"strconv"
	"strings"
	"time"
)

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
