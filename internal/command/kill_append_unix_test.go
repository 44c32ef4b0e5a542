//go:build unix

package command

import (
	"path/filepath"
	"testing"
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
	k := newKiller(t, 6, func() { must(t, run(whole)...) })
	want, err := readSet(whole)
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() string {
		at := filepath.Join(t.TempDir(), "set")
		copySet(t, set, at)
		return at
	}
	moments := moments()
	for i := range moments {
		// 7 is prime to the number of moments: early and late ones in turn.
		at := k.killFresh(t, i*7%moments, moments, fresh, run)
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
	k.check(t)
}
