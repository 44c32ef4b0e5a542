//go:build !unix

package regular

import "os"

// OpenNonblocking opens a file for reading.
func OpenNonblocking(path string) (*os.File, error) { return os.Open(path) }
