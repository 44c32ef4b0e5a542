//go:build !linux && !darwin

package storage

import "io/fs"

// Change is "" here: size and modification time are all that is known.
func Change(fs.FileInfo) string { return "" }
