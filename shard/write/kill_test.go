package write

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/settest"
	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// killedSet, in the environment, is the directory of the set that TestWriteUntilKilled writes.
const killedSet = "TFREC_TEST_KILLED_SET"

func killedSamples() []sample { return randomSamples(rand.New(rand.NewPCG(8, 9)), 1500) }

var killedOptions = Options{Name: "set", Shards: 5, Labels: names, Memory: 1, Overwrite: true}

// TestWriteUntilKilled is the process that TestKilledAtAnyMoment kills.
func TestWriteUntilKilled(t *testing.T) {
	dir := os.Getenv(killedSet)
	if dir == "" {
		t.Skip("runs as a process of another test")
	}
	_, err := makeSet(t.Context(), dir, killedOptions, 2, killedSamples())
	settest.Check(t, err)
}

// Whenever the process is killed, there is no set, one that is reported as unfinished, the old set, or
// the new one; and writing it again makes the new one.
func TestKilledAtAnyMoment(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "fresh")
	began := time.Now()
	settest.Check(t, writingProcess(fresh).Run())
	lifetime := time.Since(began) // the shortest of a process that nobody killed
	want := settest.FilesOf(t, fresh)
	rng := torture.Rand(t)
	killed := 0
	for i := range torture.Seeds(10, 200) {
		dir := filepath.Join(t.TempDir(), "set")
		var before map[string]string
		if i%2 == 0 {
			dir = settest.ThreeShards(t)
			before = settest.FilesOf(t, dir)
		}
		child := writingProcess(dir)
		began := time.Now()
		settest.Check(t, child.Start())
		done := make(chan error, 1)
		go func() { done <- child.Wait() }()
		select {
		case <-done:
			lifetime = min(lifetime, time.Since(began))
		case <-time.After(time.Duration(rng.Int64N(int64(lifetime)))):
			child.Process.Kill()
			<-done
			killed++
		}

		_, err := shard.Expand(t.Context(), []string{dir}, shard.ExpandOptions{}) // completes what began
		got := map[string]string{}
		if _, err := os.Stat(dir); err == nil {
			got = settest.FilesOf(t, dir)
		}
		switch {
		case err == nil && !settest.SameFiles(got, want) && !settest.SameFiles(got, before):
			t.Errorf("the set reads, and is neither the new one nor the old one: %d files", len(got))
		case err != nil && before != nil:
			t.Errorf("the old set is gone: %v", err)
		case err != nil && got[manifest.File] != "":
			t.Errorf("there is a manifest, and %v", err)
		case err != nil && !errors.Is(err, shard.ErrNoRecords) && !errors.Is(err, os.ErrNotExist) && !unfinished(err):
			t.Errorf("a set that was not finished: %v", err)
		}
		_, err = makeSet(t.Context(), dir, killedOptions, 1, killedSamples())
		settest.Check(t, err)
		if !settest.SameFiles(settest.FilesOf(t, dir), want) {
			t.Error("the next process makes another set")
		}
	}
	if killed == 0 {
		t.Error("no process was killed while it wrote")
	}
}

func writingProcess(dir string) *exec.Cmd {
	child := exec.Command(os.Args[0], "-test.run=^TestWriteUntilKilled$")
	child.Env = append(os.Environ(), killedSet+"="+dir)
	return child
}

func unfinished(err error) bool {
	var incomplete *shard.IncompleteError
	return errors.As(err, &incomplete)
}
