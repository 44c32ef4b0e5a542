// Package size formats and parses sizes in bytes.
package size

import "fmt"

// Format is a number of bytes in powers of 1024, as flags and limits count: "812 B", "1.4 KiB",
// "128.0 MiB".
func Format(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1024, 0
	for size >= 1023.95 && unit < len("KMGTPE")-1 {
		size /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGTPE"[unit])
}
