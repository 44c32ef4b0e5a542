//go:build !unix

package cpuload

import "time"

func processTime() (time.Duration, bool) { return 0, false }
