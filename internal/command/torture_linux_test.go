package command

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// TestTortureFaults makes system calls fail, one per run. The run reports it and loses
// nothing, or does without the call; the next run ends as an undisturbed one.
func TestTortureFaults(t *testing.T) {
	torture.Need(t)
	made := makeSubjects(t)
	before := everything(t, made)
	faults := []struct{ call, err string }{
		{"openat", "EIO"}, {"openat", "EMFILE"}, {"read", "EIO"}, {"pread64", "EIO"}, {"newfstatat", "EIO"}, {"getdents64", "EIO"},
		{"fsync", "EIO"}, {"renameat", "EIO"}, {"linkat", "EIO"}, {"unlinkat", "EIO"}, {"mkdirat", "EIO"}, {"fchmod", "EPERM"}, {"ftruncate", "EIO"},
	}
	var calls []string
	for _, f := range faults {
		calls = append(calls, f.call)
	}
	for _, s := range subjects {
		if s.alone {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			want, counts := s.leftAlone(t, made, calls)
			met := 0
			for _, f := range faults {
				for _, n := range torture.Spread(6, counts[f.call]) {
					dir := copyTree(t, made)
					what := fmt.Sprintf("%s %d fails with %s", f.call, n, f.err)
					out, code, log := torture.Trace{Calls: calls, Inject: fmt.Sprintf("%s:error=%s:when=%d", f.call, f.err, n)}.Run(t, s.run(dir))
					if torture.Injected(log) {
						met++
					}
					if p := torture.Panicked(out); p != "" {
						t.Errorf("%s: %s", what, p)
					}
					if code != s.code && code != cli.ExitFailed {
						t.Errorf("%s: exit code %d, want %d or %d: %s", what, code, s.code, cli.ExitFailed, out)
					}
					if code == cli.ExitFailed && strings.TrimSpace(out) == "" {
						t.Errorf("%s: nothing is said about it", what)
					}
					if code == s.code {
						if diff := unlike(want, everything(t, dir)); len(diff) > 0 {
							t.Errorf("%s: exit code %d, and %q", what, code, diff)
						}
					}
					s.judge(t, what, dir, before, want)
				}
			}
			if met < 12 {
				t.Errorf("only %d faults were met", met)
			}
		})
	}
}

// TestTortureKills kills runs at system calls that change files.
func TestTortureKills(t *testing.T) {
	torture.Need(t)
	made := makeSubjects(t)
	before := everything(t, made)
	for _, s := range subjects {
		if s.alone {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			want, counts := s.leftAlone(t, made, nil)
			met := 0
			for _, call := range slices.Sorted(maps.Keys(counts)) {
				for _, n := range torture.Spread(6, counts[call]) {
					dir := copyTree(t, made)
					what := fmt.Sprintf("killed at %s %d", call, n)
					_, code, _ := torture.Trace{Inject: fmt.Sprintf("%s:signal=KILL:when=%d", call, n)}.Run(t, s.run(dir))
					if code == -1 {
						met++
					}
					s.judge(t, what, dir, before, want)
				}
			}
			if met < 12 {
				t.Errorf("only %d kills met a run", met)
			}
		})
	}
}

// TestTortureDurability holds the order of syncs and renames of whole runs to what
// must survive a loss of power at any moment.
func TestTortureDurability(t *testing.T) {
	torture.Need(t)
	made := makeSubjects(t)
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(copyTree(t, made))
			if err != nil {
				t.Fatal(err)
			}
			d := torture.Durability{
				Root: dir, Before: pathsBelow(t, dir),
				Ignore: func(path string) bool {
					return strings.HasSuffix(path, "/.tfrec/lock") || strings.HasSuffix(path, ".lock") || strings.Contains(path, "/.tfrec/tmp") || strings.Contains(path, "/.tfrec/old") || strings.Contains(path, "/.tfrec/together/") || strings.Contains(path, "/.tfrec-work-") ||
						strings.Contains(path, ".exporting-")
				},
				Vouches: func(path string) bool {
					// A repaired file takes the place of an original, which must be kept by then.
					repaired := s.places && strings.HasSuffix(path, ".tfrecord") && !strings.Contains(path, "/damaged/")
					described := filepath.Base(path) == "manifest.json" || strings.HasPrefix(path, dir+"/deep/cache/") && strings.HasSuffix(path, ".json")
					return (repaired || described) && !strings.Contains(path, "/.tfrec/")
				},
			}
			out, code, log := torture.Trace{}.Run(t, s.run(dir))
			if code != s.code {
				t.Fatalf("exit code %d, want %d: %s", code, s.code, out)
			}
			for _, fault := range d.Check(log) {
				t.Error(fault)
			}
			// Without a sync of the log there are faults: the log is that of the run.
			unsynced := strings.NewReplacer("fsync(", "xsync(", "syncfs(", "xsync(").Replace(string(log))
			if len(d.Check([]byte(unsynced))) < 2 {
				t.Error("nothing is found in a log without syncs")
			}
		})
	}
}

func pathsBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestTortureUnreadable makes files unreadable that a run depends on. They are neither
// missing nor damaged then: the run fails and changes nothing.
func TestTortureUnreadable(t *testing.T) {
	torture.Need(t)
	made := makeSubjects(t)
	must(t, "adopt", filepath.Join(made, "whole"))
	shards, err := filepath.Glob(filepath.Join(made, "set", "*.tfrecord-*"))
	if err != nil {
		t.Fatal(err)
	}
	first := "set/" + filepath.Base(shards[0])
	index := "set/index/" + filepath.Base(shards[1]) + ".idx"
	renaming := halfRenamed(t, made)
	for _, c := range []struct {
		args []string
		path string
	}{
		{[]string{"repair", "--in-place", "set"}, "set/manifest.json"},
		{[]string{"repair", "--in-place", first}, "set/manifest.json"},
		{[]string{"repair", "--in-place", "set"}, index},
		{[]string{"repair", "--in-place", "set"}, first},
		{[]string{"repair", "set", "out"}, index},
		{[]string{"repair", "set", "out"}, "set/manifest.json"},
		{[]string{"repair", "set", "out"}, "set/features.json"},
		{[]string{"repair", "loose/b.tfrecord", "out.tfrecord"}, "loose/index/b.tfrecord.idx"},
		{[]string{"adopt", "whole"}, "whole/manifest.json"},
		{[]string{"adopt", "whole"}, "whole/index/a.tfrecord.idx"},
		{[]string{"adopt", "--check", "whole"}, "whole/index/a.tfrecord.idx"},
		{[]string{"adopt", renaming}, renaming + "/.tfrec/renames.json"},
		{[]string{"adopt", "--rename", renaming}, renaming + "/.tfrec/renames.json"},
		{[]string{"index", "--check", "whole"}, "whole/index/a.tfrecord.idx"},
		{[]string{"index", "--force", "whole"}, "whole/a.tfrecord"},
		{[]string{"export", "table", "out.csv", "--format", "csv"}, "table/manifest.json"},
		{[]string{"export", "whole/a.tfrecord", "out", "--format", "folders"}, "whole/a.tfrecord"},
	} {
		s := subject{args: c.args}
		met := 0
		for _, fault := range []string{"openat:error=EIO", "openat:error=EMFILE", "read:error=EIO", "pread64:error=EIO", "newfstatat:error=EIO"} {
			call, _, _ := strings.Cut(fault, ":")
			if name := filepath.Base(c.path); call == "newfstatat" && strings.Contains(name, ".tfrecord") && !strings.HasSuffix(name, ".idx") {
				continue // progress does without the size of a file
			}
			dir := copyTree(t, made)
			before := everything(t, dir)
			out, code, log := torture.Trace{Calls: []string{call}, Inject: fault, Path: c.path}.Run(t, s.run(dir))
			if !torture.Injected(log) {
				continue
			}
			met++
			what := fmt.Sprintf("tfrec %s, %s on %s", strings.Join(c.args, " "), fault, c.path)
			if code != cli.ExitFailed || strings.TrimSpace(out) == "" || torture.Panicked(out) != "" {
				t.Errorf("%s: exit code %d: %s", what, code, out)
			}
			if diff := unlike(before, everything(t, dir)); len(diff) > 0 {
				t.Errorf("%s: %q", what, diff)
			}
		}
		if met == 0 {
			t.Errorf("tfrec %s does not look at %s", strings.Join(c.args, " "), c.path)
		}
	}
}

// halfRenamed makes a directory in which adopt --rename was killed between two renames.
func halfRenamed(t *testing.T, made string) string {
	t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		data, err := os.ReadFile(filepath.Join(made, "whole", name+".tfrecord"))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(made, "birds", name+".tfrecord"), data)
	}
	s := subject{args: []string{"adopt", "--rename", "birds"}}
	for n := 1; n < 20; n++ {
		dir := copyTree(t, made)
		torture.Trace{Inject: fmt.Sprintf("renameat:signal=KILL:when=%d", n)}.Run(t, s.run(dir))
		if left, _ := filepath.Glob(filepath.Join(dir, "birds", "birds-*")); len(left) > 0 && len(left) < 3 {
			if err := os.CopyFS(filepath.Join(made, "renamed"), os.DirFS(filepath.Join(dir, "birds"))); err != nil {
				t.Fatal(err)
			}
			return "renamed"
		}
	}
	t.Fatal("no kill met adopt --rename between two renames")
	return ""
}
