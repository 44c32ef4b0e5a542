//go:build unix

package command

import (
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestAppendKilledAtAnyMoment kills appends with SIGKILL at moments spread over
// them: the same append again must end with the set of one that was left alone,
// with the records once.
func TestAppendKilledAtAnyMoment(t *testing.T) {
	set, more := filepath.Join(t.TempDir(), "set"), filepath.Join(t.TempDir(), "more")
	must(t, "convert", "images", filepath.Join(demo(), "photos"), set, "--name", "k", "--resize", "32x32", "--encode", "png", "--shards", "9", "--quiet")
	must(t, "reshard", set, more, "--shards", "2", "--quiet")
	run := func(at string) []string { return []string{"append", at, more, "--shards", "9", "--quiet"} }
	whole := filepath.Join(t.TempDir(), "whole")
	copySet(t, set, whole)
	began := time.Now()
	must(t, run(whole)...)
	took := time.Since(began)
	want, err := readSet(whole)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(6, 0))
	killed := 0
	for i := range moments {
		at := filepath.Join(t.TempDir(), "set")
		copySet(t, set, at)
		c := tfrec(t, run(at)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		// 7 is prime to the number of moments: early and late ones in turn.
		time.Sleep(took*time.Duration(i*7%moments)/moments + time.Duration(rnd.Int64N(int64(took/moments)+1)))
		c.Process.Signal(syscall.SIGKILL)
		if c.Wait() != nil {
			killed++
		} else {
			took = min(took, time.Since(began)*9/10) // the machine was busier before
		}
		must(t, run(at)...) // at its last breath, too, when nothing is left to be added
		got, err := readSet(at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(want, got); diff != "" {
			t.Errorf("killed at moment %d and run again: %s", i, diff)
		}
		must(t, "verify", at)
	}
	if killed < moments/4 {
		t.Errorf("only %d of %d kills met a run under way", killed, moments)
	}
}
