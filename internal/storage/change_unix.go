//go:build linux || darwin

package storage

import (
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"syscall"
)

// Change identifies the state of a file on disk beyond its size and modification time, which whoever
// replaces it may set back: by its inode and the time of the last change of that, in 32 hexadecimal
// digits. It is "" where the file system has none.
func Change(st fs.FileInfo) string {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok || s.Ino == 0 {
		return ""
	}
	return ChangeOf(s.Ino, changeTime(s))
}

// ChangeOf is Change for an inode and its time in nanoseconds since 1970.
func ChangeOf(inode uint64, nanoseconds int64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], inode)
	binary.BigEndian.PutUint64(b[8:], uint64(nanoseconds))
	return hex.EncodeToString(b[:])
}
