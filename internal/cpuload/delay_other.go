//go:build !linux

package cpuload

import "time"

func delayedTime() (time.Duration, bool) { return 0, false }
