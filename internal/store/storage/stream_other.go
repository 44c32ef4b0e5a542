//go:build unix && !linux

package storage

// abandoned is not known here.
func abandoned(uintptr) bool { return false }
