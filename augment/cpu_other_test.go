//go:build !unix

package augment

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
