//go:build unix

package shard

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tfrec/tfrec/tfrecord"
)

// everyFile calls do for all files below a directory but those of its state.
func everyFile(t *testing.T, dir string, do func(path string, st fs.FileInfo)) {
	t.Helper()
	for name := range filesOf(t, dir) {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		check(t, err)
		do(path, st)
	}
}

// Repair in place neither widens modes nor changes owners, whatever the umask is.
func TestRepairInPlaceKeepsModesAndOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o664} {
		for _, kind := range []string{"set", "directory", "file"} {
			dir := filepath.Join(t.TempDir(), "set")
			m := labelled(t, dir, tfrecord.None)
			shards := m.Splits[0].Shards
			path := filepath.Join(dir, shards[1].File)
			flipIn(t, path, 40)
			check(t, os.Remove(IndexPath(filepath.Join(dir, shards[2].File)))) // a new one
			if kind != "set" {
				check(t, os.Remove(filepath.Join(dir, ManifestFile)))
			}
			in := dir
			if kind == "file" {
				in = path
			}
			uid, gid := os.Getuid(), os.Getgid()
			if uid == 0 {
				uid, gid = 1234, 4321
			}
			everyFile(t, dir, func(path string, _ fs.FileInfo) {
				check(t, os.Chown(path, uid, gid))
				check(t, os.Chmod(path, mode))
			})
			before := len(filesOf(t, dir))
			report, err := Repair(context.Background(), in, "", RepairOptions{InPlace: true})
			check(t, err)
			if len(report.Notes) > 0 || len(filesOf(t, dir)) < before+3 {
				t.Errorf("%s: %d files, before %d; %q", kind, len(filesOf(t, dir)), before, report.Notes)
			}
			everyFile(t, dir, func(path string, st fs.FileInfo) {
				sys := st.Sys().(*syscall.Stat_t)
				if st.Mode() != mode || int(sys.Uid) != uid || int(sys.Gid) != gid {
					t.Errorf("%s: %s is %v of %d:%d, want %v of %d:%d", kind, path, st.Mode(), sys.Uid, sys.Gid, mode, uid, gid)
				}
			})
		}
	}
}

// A repair into a new place widens no mode either.
func TestRepairIntoANewPlaceWidensNoMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	m := labelled(t, in, tfrecord.None)
	modes := []fs.FileMode{0o640, 0o606, 0o666}
	for i, info := range m.Splits[0].Shards {
		path := filepath.Join(in, info.File)
		if i < 2 {
			flipIn(t, path, 40)
		}
		check(t, os.Chmod(path, modes[i]))
	}
	_, err := Repair(context.Background(), in, out, RepairOptions{})
	check(t, err)
	want := map[string]fs.FileMode{out + QuarantineSuffix: 0o600}
	for i, info := range m.Splits[0].Shards {
		path := filepath.Join(out, info.File)
		want[path] = modes[i] &^ 0o022
		want[IndexPath(path)] = modes[i] &^ 0o022
	}
	for path, mode := range want {
		if st, err := os.Stat(path); err != nil || st.Mode() != mode {
			t.Errorf("%s: %v, want %v (%v)", path, st.Mode(), mode, err)
		}
	}
}

// What is in the way in damaged, a link that leads nowhere among it, is passed over.
func TestRepairInPlacePassesOverTakenNames(t *testing.T) {
	data, frames := framed(10, 20, 30)
	dir := t.TempDir()
	in, kept := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, damagedDir)
	putFile(t, in, overwrite("", data, frames, frames[1].offset, frames[1].offset+1, flipped).data)
	check(t, os.MkdirAll(filepath.Join(kept, "a.tfrecord.2"), 0o755))
	check(t, os.Symlink("nowhere", filepath.Join(kept, "a.tfrecord")))
	check(t, os.Symlink(in, filepath.Join(kept, "a.tfrecord.3.quarantine")))
	report, err := Repair(context.Background(), in, "", RepairOptions{InPlace: true})
	check(t, err)
	if want := filepath.Join(kept, "a.tfrecord.4"); report.Files[0].Original != want {
		t.Errorf("kept as %s, want %s", report.Files[0].Original, want)
	}
	if got := recordsOf(t, in); len(got) != 2 {
		t.Errorf("%d records", len(got))
	}
}

// Nothing outside the directory of a set is written, or removed, through a link in it.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	runs := map[string]func(dir string) error{
		"repair": func(dir string) error {
			_, err := Repair(context.Background(), dir, "", RepairOptions{InPlace: true})
			return err
		},
		"repair of a file": func(dir string) error {
			_, err := Repair(context.Background(), filepath.Join(dir, "t-train.tfrecord-00001-of-00003"), "", RepairOptions{InPlace: true})
			return err
		},
		"index": func(dir string) error {
			_, err := Index(context.Background(), []string{dir}, IndexOptions{Force: true})
			return err
		},
		"adopt": func(dir string) error {
			_, err := Adopt(context.Background(), dir, AdoptOptions{})
			return err
		},
		"append": func(dir string) error {
			more := filepath.Join(t.TempDir(), "more")
			labelled(t, more, tfrecord.None)
			_, err := Append(context.Background(), dir, []string{more}, AppendOptions{})
			return err
		},
		"clean": func(dir string) error {
			_, err := Clean(context.Background(), dir, CleanOptions{Remove: true})
			return err
		},
		"a shard": func(dir string) error {
			d, err := OpenDir(context.Background(), dir, DirOptions{})
			if err != nil {
				return err
			}
			defer d.Close()
			w, err := d.Create("t-train.tfrecord-00001-of-00003", WriterOptions{})
			if err != nil {
				return err
			}
			_, err = w.Commit()
			return err
		},
	}
	for _, link := range []string{IndexDir, damagedDir, damagedDir + "/" + IndexDir, StateDir, tempDir, lockFile, stageDir, shardsDir} {
		for name, run := range runs {
			dir, outside := filepath.Join(t.TempDir(), "set"), t.TempDir()
			m := labelled(t, dir, tfrecord.None)
			file := m.Splits[0].Shards[1].File
			putFile(t, filepath.Join(outside, file+".idx"), []byte("precious"))
			putFile(t, filepath.Join(outside, "run.json"), []byte("precious"))
			if name != "adopt" && name != "append" {
				flipIn(t, filepath.Join(dir, file), 40)
			}
			path := filepath.Join(dir, filepath.FromSlash(link))
			check(t, os.RemoveAll(path))
			check(t, os.MkdirAll(filepath.Dir(path), 0o755))
			check(t, os.Symlink(outside, path))
			before := filesOf(t, outside)
			err := run(dir)
			if after := filesOf(t, outside); !sameFiles(before, after) {
				t.Errorf("%s is a link, and %s changed what it leads to: %v", link, name, slices.Sorted(maps.Keys(after)))
			}
			if err != nil && !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s is a link: %s: %v", link, name, err)
			}
			if st, err := os.Lstat(path); err != nil || st.Mode().Type() != fs.ModeSymlink {
				t.Errorf("%s is a link, and %s removed it", link, name)
			}
		}
	}
}
