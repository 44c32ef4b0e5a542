//go:build !unix

package reader

import (
	"io"
	"io/fs"
	"os"
)

// openSource opens a file for reading.
func openSource(path string, _ fs.FileMode) (*os.File, error) { return os.Open(path) }

// reading returns what reads a file that openSource opened.
func reading(f *os.File, _ fs.FileMode) io.Reader { return f }
