//go:build !linux

package cpuload

import "time"

func busyTime() (time.Duration, bool) { return 0, false }
