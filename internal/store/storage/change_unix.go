//go:build linux || darwin

package storage

import (
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"syscall"
)

// Change identifies the state of a file on disk by its inode and the time of the inode's last change,
// in 32 hexadecimal digits: modification times can be set back, this one cannot. It is "" where the file
// system has no inodes.
func Change(st fs.FileInfo) string {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return ChangeOf(s.Ino, changeTime(s))
}

// ChangeOf is Change for an inode and its time in nanoseconds since 1970.
func ChangeOf(inode uint64, nanoseconds int64) string {
	if inode == 0 {
		return ""
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], inode)
	binary.BigEndian.PutUint64(b[8:], uint64(nanoseconds))
	return hex.EncodeToString(b[:])
}
