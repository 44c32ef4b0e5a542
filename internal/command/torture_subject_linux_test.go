package command

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// subject is a run that is tortured. It runs in a directory of its own, with relative
// paths, so that all its files are the same each time.
type subject struct {
	name string
	args []string
	// code is the exit code of a run that is left alone, and again that of the next one
	// where the first did all of its work.
	code, again int
	// places says that the run changes its input, whose bytes must all be kept.
	places bool
	// updates is a whole set that the run replaces: after a disturbed run it is the old
	// one or the new one, as soon as any command looks at it.
	updates string
	// makes is a set that is not whole before the run: after a disturbed one it is
	// refused, or is whole.
	makes string
	// alone is set for subjects that only TestTortureDurability runs.
	alone bool
}

var subjects = []subject{
	{name: "repair a set in place", args: []string{"repair", "--in-place", "set"}, code: cli.ExitFaults, places: true},
	{name: "repair a directory in place", args: []string{"repair", "--in-place", "loose"}, code: cli.ExitFaults, places: true},
	{name: "repair a file in place", args: []string{"repair", "--in-place", "loose/b.tfrecord"}, code: cli.ExitFaults, places: true},
	{name: "repair a set", args: []string{"repair", "set", "out"}, code: cli.ExitFaults, again: cli.ExitFaults},
	{name: "repair a file", args: []string{"repair", "loose/b.tfrecord", "out.tfrecord"}, code: cli.ExitFaults, again: cli.ExitFaults},
	{name: "adopt", args: []string{"adopt", "whole"}, places: true},
	{name: "adopt and rename", args: []string{"adopt", "--rename", "whole"}, places: true},
	{name: "index", args: []string{"index", "whole"}},
	{name: "export a table", args: []string{"export", "table", "out.csv", "--format", "csv"}},
	{name: "export images", args: []string{"export", "whole", "out", "--format", "folders"}},
	{name: "convert", args: []string{"convert", "csv", "in.csv", "deep/out", "--shards", "2"}, makes: "deep/out"},
	{name: "convert images", args: []string{"convert", "images", "photos", "out", "--resize", "16x16", "--shards", "2"}, makes: "out"},
	{name: "convert to many shards", args: []string{"convert", "csv", "many.csv", "out", "--shards", "40"}, makes: "out"},
	{name: "update", args: []string{"convert", "csv", "grown.csv", "grown", "--shards", "3"}, updates: "grown"},
	{name: "overwrite", args: []string{"convert", "csv", "in.csv", "table", "--name", "t", "--shards", "3", "--compression", "gzip", "--overwrite"}, updates: "table"},
	{name: "task", args: []string{"convert", "csv", "in.csv", "half", "--name", "half", "--shards", "3", "--task", "1", "--tasks", "2"}},
	{name: "finalize", args: []string{"finalize", "tasks"}, makes: "tasks"},
	{name: "finalize an update", args: []string{"finalize", "grown tasks"}, updates: "grown tasks"},
	{name: "cache", args: []string{"cat", "table", "--cache", "deep/cache"}, alone: true},
	{name: "append", args: []string{"append", "table", "more"}, updates: "table"},
	{name: "reshard", args: []string{"reshard", "table", "deep/out", "--shards", "2", "--shuffle"}, makes: "deep/out"},
	{name: "reshard over a set", args: []string{"reshard", "more", "table", "--shards", "1", "--overwrite"}, updates: "table"},
}

// run is the subject's run in a directory.
func (s subject) run(dir string) *exec.Cmd {
	c := exec.Command(staticTfrec, append(s.args, "--quiet")...)
	c.Dir = dir
	return c
}

// staticTfrec is a command that makes no system calls for libraries, which have their
// own way to fail.
var staticTfrec string

// makeSubjects makes the directory that subjects run in.
func makeSubjects(t *testing.T) string {
	t.Helper()
	staticTfrec = filepath.Join(t.TempDir(), "tfrec")
	build := exec.Command("go", "build", "-tags", "static", "-o", staticTfrec, "../../cmd/tfrec")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, "convert", "images", filepath.Join(demo(), "photos"), at("set"), "--name", "d", "--resize", "32x32", "--encode", "png", "--shards", "3", "--limit", "9", "--quiet")
	csv := "id,x\n1,2\n3,4\n5,6\n7,8\n9,10\n"
	many := "id,x\n" + strings.Repeat("1,2\n3,4\n", 30)
	for name, data := range map[string]string{"in.csv": csv, "more.csv": "id,x\n11,12\n", "many.csv": many} {
		if err := os.WriteFile(at(name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "convert", "csv", at("in.csv"), at("table"), "--name", "t", "--shards", "2", "--quiet")
	must(t, "convert", "csv", at("more.csv"), at("more"), "--name", "t", "--quiet")
	for _, out := range []string{"grown", "grown tasks"} { // sets whose table grows
		put(t, at("grown.csv"), []byte(csv))
		must(t, "convert", "csv", at("grown.csv"), at(out), "--name", "grown", "--shards", "3", "--quiet")
		put(t, at("grown.csv"), []byte(csv+"11,12\n13,14\n"))
	}
	tasks := func(table, out, name string, tasks ...string) {
		for _, task := range tasks {
			must(t, "convert", "csv", at(table), at(out), "--name", name, "--shards", "3", "--task", task, "--tasks", "2", "--quiet")
		}
	}
	tasks("in.csv", "half", "half", "0")
	tasks("in.csv", "tasks", "tasks", "0", "1")
	tasks("grown.csv", "grown tasks", "grown", "0", "1")
	for i, name := range []string{"a/1.jpg", "a/2.jpg", "b/3.jpg"} {
		images, err := filepath.Glob(filepath.Join(demo(), "photos/daisy/*.jpg"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(images[i])
		if err != nil {
			t.Fatal(err)
		}
		put(t, at("photos/"+name), data)
	}
	shards, err := filepath.Glob(at("set/*.tfrecord-*"))
	if err != nil || len(shards) != 3 {
		t.Fatal(shards, err)
	}
	for i, shard := range shards {
		data, err := os.ReadFile(shard)
		if err != nil {
			t.Fatal(err)
		}
		name := string(rune('a'+i)) + ".tfrecord"
		put(t, at("whole/"+name), data)
		if i > 0 {
			data[len(data)-1] ^= 1
			put(t, shard, data)
		}
		put(t, at("loose/"+name), data)
		index, err := os.ReadFile(filepath.Join(at("set/index"), filepath.Base(shard)+".idx"))
		if err != nil {
			t.Fatal(err)
		}
		put(t, at("loose/index/"+name+".idx"), index)
	}
	return dir
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// everything is what is below a directory, by relative path, without the state that
// a run may leave there.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".tfrec":
			return filepath.SkipDir
		case d.IsDir():
			files[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// unlike names what differs between two of those.
func unlike(want, got map[string]string) (names []string) {
	for name, data := range want {
		if is, ok := got[name]; !ok {
			names = append(names, "no "+name)
		} else if is != data {
			names = append(names, "another "+name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			names = append(names, "there is "+name)
		}
	}
	slices.Sort(names)
	return names
}

// leftAlone runs the subject undisturbed in a copy of made. It returns the files after
// the run, and how often it makes each of the calls.
func (s subject) leftAlone(t *testing.T, made string, calls []string) (want map[string]string, counts map[string]int) {
	t.Helper()
	dir := copyTree(t, made)
	out, code, log := torture.Trace{Calls: calls}.Run(t, s.run(dir))
	if code != s.code {
		t.Fatalf("left alone: exit code %d, want %d: %s", code, s.code, out)
	}
	return everything(t, dir), torture.Counts(log)
}

func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// judge checks a directory after a disturbed run, runs the subject again, and wants
// the files of an undisturbed run.
func (s subject) judge(t *testing.T, what, dir string, before, want map[string]string) {
	t.Helper()
	s.whole(t, what, dir, before, want)
	now := everything(t, dir)
	kept := slices.Collect(maps.Values(now))
	for name, data := range before {
		is, there := now[name]
		if s.updates != "" && strings.HasPrefix(name, s.updates+"/") || s.makes != "" && strings.HasPrefix(name, s.makes+"/") {
			continue
		}
		records := strings.Contains(name, ".tfrecord") && !strings.HasSuffix(name, ".idx")
		switch {
		case !s.places && (!there || is != data):
			t.Errorf("%s: its input %s is another", what, name)
		case records && !slices.Contains(kept, data):
			t.Errorf("%s: nothing is left of the old %s", what, name)
		}
	}
	c := s.run(dir)
	out, _ := c.CombinedOutput()
	code := c.ProcessState.ExitCode()
	// The run may have come to its end before, and then there is nothing to do.
	ended := code == s.again && (s.code == s.again || len(unlike(want, now)) == 0)
	if code != s.code && !ended {
		t.Errorf("%s: run again, exit code %d, want %d: %s", what, code, s.code, out)
	}
	if diff := unlike(want, everything(t, dir)); len(diff) > 0 {
		t.Errorf("%s: run again: %q", what, diff)
	}
}

// whole looks at the set that a disturbed run replaces or makes, with a command, which
// completes what is half done.
func (s subject) whole(t *testing.T, what, dir string, before, want map[string]string) {
	t.Helper()
	set := s.updates + s.makes
	if set == "" {
		return
	}
	c := exec.Command(staticTfrec, "verify", set)
	c.Dir = dir
	out, err := c.CombinedOutput()
	below := func(files map[string]string) map[string]string {
		files = maps.Clone(files)
		maps.DeleteFunc(files, func(name, _ string) bool { return !strings.HasPrefix(name, set+"/") })
		return files
	}
	now := below(everything(t, dir))
	isNew := len(unlike(below(want), now)) == 0
	switch {
	case s.updates != "" && err != nil:
		t.Errorf("%s: the set is not whole: %s", what, out)
	case s.updates != "" && !isNew && len(unlike(below(before), now)) > 0:
		t.Errorf("%s: the set is neither the old one nor the new one: %q, %q", what, unlike(below(before), now), unlike(below(want), now))
	case s.makes != "" && err == nil && !isNew:
		t.Errorf("%s: a part of the set is taken for the whole: %q", what, unlike(below(want), now))
	}
}
