package cpuload

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// delayedTime returns how long the threads of this process were ready to run while no processor was
// free for them, together: the second number of schedstat. Threads that have ended do not count; Go
// keeps nearly all.
func delayedTime() (all time.Duration, known bool) {
	paths, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0, false
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		fields := strings.Fields(string(text))
		if len(fields) < 2 {
			return 0, false
		}
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0, false
		}
		all += time.Duration(n)
	}
	return all, len(paths) > 0
}
