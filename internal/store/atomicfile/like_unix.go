//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Like gives f the mode, the owner and the group of other. It reports false if the process may not
// give files to that owner or group. If f keeps its group, the group gets only the permissions that
// all users have.
func Like(f *os.File, other fs.FileInfo) (owned bool, err error) {
	mode := other.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	uid, gid := owner(st)
	wantUID, wantGID := owner(other)
	if uid != wantUID || gid != wantGID {
		// Whether it worked is seen below: systems refuse in many ways.
		if f.Chown(wantUID, wantGID) != nil {
			f.Chown(-1, wantGID)
		}
		if st, err = f.Stat(); err != nil {
			return false, err
		}
		uid, gid = owner(st)
	}
	if gid != wantGID {
		mode &^= fs.ModeSetgid | mode&0o070&^(mode&0o007<<3)
	}
	if uid != wantUID {
		mode &^= fs.ModeSetuid
	}
	return uid == wantUID && gid == wantGID, f.Chmod(mode) // last: a change of owner may take bits away
}

func owner(st fs.FileInfo) (uid, gid int) {
	sys := st.Sys().(*syscall.Stat_t)
	return int(sys.Uid), int(sys.Gid)
}
