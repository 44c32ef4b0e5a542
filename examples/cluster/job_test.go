package cluster

import (
	"bytes"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// tasks is how many tasks the tests run instead of the 64 of the examples.
const tasks = 4

// photos is what the stores hold as photos in the bucket raw: 40 images, and so 40 shards.
const photos = "../../testdata/demo/photos"

// job is what a platform runs: containers with arguments and variables of the environment.
type job struct {
	convert, finalize []string
	env               []string
	index             func(task int) []string // what the platform sets for each task
}

// withTasks returns the arguments of a job of want tasks for the number of tasks of the tests.
func withTasks(t *testing.T, args []string, want int) []string {
	t.Helper()
	i := slices.Index(args, "--tasks") + 1
	if i == 0 || args[i] != strconv.Itoa(want) {
		t.Fatalf("%q: want --tasks %d, as many as the job has", args, want)
	}
	args = slices.Clone(args)
	args[i] = strconv.Itoa(tasks)
	return args
}

// runOn runs all tasks of a job, of which one is killed in the middle and started again, and
// finalizes. It compares the set with a conversion on a disk.
func (j job) runOn(t *testing.T, s store) {
	t.Helper()
	for _, task := range []int{2, 1, 3, 0} {
		env := slices.Concat(j.env, j.index(task))
		if task == 1 {
			j.preempt(t, s, env)
			continue
		}
		run(t, s, env, j.convert)
	}
	run(t, s, j.env, j.finalize)

	dir := t.TempDir()
	plain := exec.Command(tfrec(t), "convert", "images", photos, dir, "--name", "photos", "--resize", "224", "--shards", "256", "--quiet")
	if out, err := plain.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := withoutState(filesBelow(t, dir))
	if len(want) < 80 {
		t.Fatalf("a plain conversion makes %d files", len(want))
	}
	same(t, withoutState(s.set(t)), want)
}

// same compares the files of two sets.
func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	got = maps.Clone(got)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if data, ok := got[name]; !ok || data != want[name] {
			t.Errorf("%s: exists %v with %d bytes, want %d equal to the plain set's", name, ok, len(data), len(want[name]))
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("not in the plain set, which has %d files: %q", len(want), slices.Sorted(maps.Keys(got)))
	}
}

// preempt kills a task that has finished one shard, and runs it again.
func (j job) preempt(t *testing.T, s store, env []string) {
	t.Helper()
	before := finished(t, s)
	p := &proxy{finished: make(chan string, 1), gone: make(chan struct{})}
	cmd, out := container(t, tfrec(t), s, p, env, j.convert)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(p.gone)
	}()
	var shard string
	select {
	case shard = <-p.finished:
		cmd.Process.Kill()
		<-p.gone
	case <-p.gone:
		t.Fatalf("ended before it finished a shard: %s\n%s", cmd.ProcessState, out)
	}
	p.Close()
	if after := finished(t, s); after != before+1 {
		t.Fatalf("killed with %d shards finished, want 1", after-before)
	}
	// Otherwise the task would wait until the claims of the killed process are 12 s old.
	for name := range s.set(t) {
		if strings.HasPrefix(name, ".tfrec/claims/") || strings.HasPrefix(name, ".tfrec/together/") {
			s.remove(t, name)
		}
	}
	if again := run(t, s, env, j.convert); len(again) == 0 || slices.Contains(again, shard) {
		t.Errorf("after the kill %q are made, with %s finished", again, shard)
	}
}

// finished counts the shards of a set that are finished.
func finished(t *testing.T, s store) int {
	t.Helper()
	n := 0
	for name := range s.set(t) {
		if strings.HasPrefix(name, ".tfrec/shards/") {
			n++
		}
	}
	return n
}

// withoutState returns the files without the state, which is not part of a set.
func withoutState(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, ".tfrec/") })
	return files
}

// container returns a process of a program that has no variables but its own, and reaches the store
// through p.
func container(t *testing.T, program string, s store, p *proxy, env, args []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	address := p.start(t, s.address())
	cmd, out := testwait.Command(t, program, args...), &bytes.Buffer{}
	cmd.Dir = t.TempDir()
	cmd.Env = slices.Concat(env, []string{"TMPDIR=" + cmd.Dir}, s.env(address))
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// run runs a container, and returns the shards that it writes.
func run(t *testing.T, s store, env, args []string) []string {
	t.Helper()
	p := &proxy{}
	cmd, out := container(t, tfrec(t), s, p, env, args)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	p.Close()
	return p.made
}
