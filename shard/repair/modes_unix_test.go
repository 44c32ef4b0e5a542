//go:build unix

package repair

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

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
	"github.com/tfrec/tfrec/tfrecord"
)

// everyFile calls do for all files below a directory except its state.
func everyFile(t *testing.T, dir string, do func(path string, st fs.FileInfo)) {
	t.Helper()
	for name := range settest.FilesOf(t, dir) {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		settest.Check(t, err)
		do(path, st)
	}
}

// InPlace neither widens modes nor changes owners, whatever the umask.
func TestRepairInPlaceKeepsModesAndOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o664} {
		for _, kind := range []string{"set", "directory", "file"} {
			dir := filepath.Join(t.TempDir(), "set")
			m := settest.Labelled(t, dir, tfrecord.CompressionNone)
			shards := m.Splits[0].Shards
			path := filepath.Join(dir, shards[1].File)
			settest.FlipIn(t, path, 40)
			settest.Check(t, os.Remove(manifest.IndexPath(filepath.Join(dir, shards[2].File)))) // to be created
			if kind != "set" {
				settest.Check(t, os.Remove(filepath.Join(dir, manifest.File)))
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
				settest.Check(t, os.Chown(path, uid, gid))
				settest.Check(t, os.Chmod(path, mode))
			})
			before := len(settest.FilesOf(t, dir))
			report, err := InPlace(context.Background(), in, Options{})
			settest.Check(t, err)
			if len(report.Notes) > 0 || len(settest.FilesOf(t, dir)) < before+3 {
				t.Errorf("%s: %d files, before %d; %q", kind, len(settest.FilesOf(t, dir)), before, report.Notes)
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

// A repair into a new file or directory does not widen modes either.
func TestRepairIntoANewPlaceWidensNoMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	m := settest.Labelled(t, in, tfrecord.CompressionNone)
	modes := []fs.FileMode{0o640, 0o606, 0o666}
	for i, info := range m.Splits[0].Shards {
		path := filepath.Join(in, info.File)
		if i < 2 {
			settest.FlipIn(t, path, 40)
		}
		settest.Check(t, os.Chmod(path, modes[i]))
	}
	_, err := Copy(context.Background(), in, out, Options{})
	settest.Check(t, err)
	want := map[string]fs.FileMode{out + setdir.QuarantineSuffix: 0o600}
	for i, info := range m.Splits[0].Shards {
		path := filepath.Join(out, info.File)
		want[path] = modes[i] &^ 0o022
		want[manifest.IndexPath(path)] = modes[i] &^ 0o022
	}
	for path, mode := range want {
		if st, err := os.Stat(path); err != nil || st.Mode() != mode {
			t.Errorf("%s: %v, want %v (%v)", path, st.Mode(), mode, err)
		}
	}
}

// Names taken in damaged, including a dangling link, are skipped.
func TestRepairInPlacePassesOverTakenNames(t *testing.T) {
	data, frames := settest.Framed(10, 20, 30)
	dir := t.TempDir()
	in, kept := filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, damagedDir)
	settest.PutFile(t, in, settest.Overwrite("", data, frames, frames[1].Offset, frames[1].Offset+1, settest.Flipped).Data)
	settest.Check(t, os.MkdirAll(filepath.Join(kept, "a.tfrecord.2"), 0o755))
	settest.Check(t, os.Symlink("nowhere", filepath.Join(kept, "a.tfrecord")))
	settest.Check(t, os.Symlink(in, filepath.Join(kept, "a.tfrecord.3.quarantine")))
	report, err := InPlace(context.Background(), in, Options{})
	settest.Check(t, err)
	if want := filepath.Join(kept, "a.tfrecord.4"); report.Files[0].Original != want {
		t.Errorf("kept as %s, want %s", report.Files[0].Original, want)
	}
	if got := settest.RecordsOf(t, in); len(got) != 2 {
		t.Errorf("%d records", len(got))
	}
}

// Nothing outside the directory of a set is written or removed through a link in it.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	runs := map[string]func(dir string) error{
		"repair": func(dir string) error {
			_, err := InPlace(context.Background(), dir, Options{})
			return err
		},
		"repair of a file": func(dir string) error {
			_, err := InPlace(context.Background(), filepath.Join(dir, "t-train.tfrecord-00001-of-00003"), Options{})
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
			settest.Labelled(t, more, tfrecord.CompressionNone)
			_, err := reshape.Append(context.Background(), dir, []string{more}, reshape.AppendOptions{})
			return err
		},
		"clean": func(dir string) error {
			_, err := Clean(context.Background(), dir, CleanOptions{Remove: true})
			return err
		},
		"a shard": func(dir string) error {
			d, err := setdir.Open(context.Background(), dir, setdir.Options{})
			if err != nil {
				return err
			}
			defer d.Close()
			w, err := d.Create("t-train.tfrecord-00001-of-00003", setdir.WriterOptions{})
			if err != nil {
				return err
			}
			_, err = w.Commit()
			return err
		},
	}
	for _, link := range []string{manifest.IndexDir, damagedDir, damagedDir + "/" + manifest.IndexDir, shard.StateDir, place.TempDir, place.LockFile, setdir.StageDir, setdir.ShardsDir} {
		for name, run := range runs {
			dir, outside := filepath.Join(t.TempDir(), "set"), t.TempDir()
			m := settest.Labelled(t, dir, tfrecord.CompressionNone)
			file := m.Splits[0].Shards[1].File
			settest.PutFile(t, filepath.Join(outside, file+".idx"), []byte("precious"))
			settest.PutFile(t, filepath.Join(outside, "run.json"), []byte("precious"))
			if name != "adopt" && name != "append" {
				settest.FlipIn(t, filepath.Join(dir, file), 40)
			}
			path := filepath.Join(dir, filepath.FromSlash(link))
			settest.Check(t, os.RemoveAll(path))
			settest.Check(t, os.MkdirAll(filepath.Dir(path), 0o755))
			settest.Check(t, os.Symlink(outside, path))
			before := settest.FilesOf(t, outside)
			err := run(dir)
			if after := settest.FilesOf(t, outside); !settest.SameFiles(before, after) {
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
