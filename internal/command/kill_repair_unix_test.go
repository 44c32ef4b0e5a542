//go:build unix

package command

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// mayLose runs the command and wants it to succeed, or to find faults.
func mayLose(t *testing.T, args ...string) {
	t.Helper()
	out, err := tfrec(t, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != cli.ExitFaults) {
		t.Fatalf("tfrec %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// damagedSet writes a set of small shards, every third of which is damaged.
func damagedSet(t *testing.T, path string) {
	t.Helper()
	must(t, "convert", "images", filepath.Join(demo(), "photos"), path, "--name", "d", "--resize", "64x64", "--encode", "raw", "--shards", "12", "--quiet")
	shards, err := filepath.Glob(filepath.Join(path, "*.tfrecord-*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(shards); i += 3 {
		data, err := os.ReadFile(shards[i])
		if err == nil {
			data[40] ^= 1
			err = os.WriteFile(shards[i], data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copySet copies a set without this machine's state.
func copySet(t *testing.T, from, to string) {
	t.Helper()
	set, err := readSet(from)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range set {
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepairKilledAtAnyMoment kills repairs of a set into a new directory and in
// place, and adoptions that rename, with SIGKILL: what is under a final name is
// whole, no byte of the input is lost, and the next run ends as one that was left alone.
func TestRepairKilledAtAnyMoment(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged")
	damagedSet(t, damaged)
	before, err := readSet(damaged)
	if err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	k := newKiller(t, 7, func() { mayLose(t, "repair", damaged, whole) })
	copied := func() string {
		out := filepath.Join(t.TempDir(), "in-place")
		copySet(t, damaged, out)
		return out
	}
	inPlace := newKiller(t, 8, func() { mayLose(t, "repair", "--in-place", copied()) })
	want, err := readSet(whole)
	if err != nil {
		t.Fatal(err)
	}
	times := moments() / 2 // each of two kinds of run
	for i := range times {
		moment := i * 3 % times
		out := k.killFresh(t, moment, times, func() string { return filepath.Join(t.TempDir(), "out") }, func(out string) []string {
			return []string{"repair", damaged, out}
		})
		verifyShards(t, out)
		if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
			must(t, "verify", out)
		} else {
			mayLose(t, "repair", damaged, out)
		}
		if got, err := readSet(out); err != nil || difference(want, got) != "" {
			t.Errorf("killed at moment %d and run again: %v %s", moment, err, difference(want, got))
		}

		out = inPlace.killFresh(t, moment, times, copied, func(out string) []string { return []string{"repair", "--in-place", out} })
		now, err := readSet(out)
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.Collect(maps.Values(now))
		for name, data := range before {
			if strings.Contains(name, ".tfrecord-") && !strings.HasSuffix(name, ".idx") && !slices.Contains(kept, data) {
				t.Errorf("killed at moment %d: nothing is left of the old %s", moment, name)
			}
		}
		mayLose(t, "repair", "--in-place", out)
		must(t, "verify", out)
		if got, err := readSet(out); err != nil || !sameShards(want, got) {
			t.Errorf("killed at moment %d in place and run again: other shards: %v", moment, err)
		}
	}
	k.check(t)
	inPlace.check(t)
	after, err := readSet(damaged)
	if err != nil || difference(before, after) != "" {
		t.Errorf("the input is another one: %v %s", err, difference(before, after))
	}
}

// sameShards reports whether two sets have the same shards.
func sameShards(a, b map[string]string) bool {
	for name, data := range a {
		if strings.Contains(name, ".tfrecord-") && b[name] != data {
			return false
		}
	}
	return len(a) > 0
}

func TestAdoptKilledAtAnyMoment(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	must(t, "convert", "images", filepath.Join(demo(), "photos"), made, "--name", "d", "--resize", "32x32", "--encode", "raw", "--shards", "12", "--quiet")
	theirs := func(dir string) string {
		shards, err := filepath.Glob(filepath.Join(made, "*.tfrecord-*"))
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		for i, shard := range shards {
			data, readErr := os.ReadFile(shard)
			err = errors.Join(err, readErr, os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".tfrecord"), data, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	whole := theirs(filepath.Join(t.TempDir(), "birds"))
	k := newKiller(t, 9, func() { must(t, "adopt", whole, "--rename") })
	want, err := readSet(whole)
	if err != nil {
		t.Fatal(err)
	}
	times := moments() / 2
	for i := range times {
		dir := k.killFresh(t, i, times, func() string { return theirs(filepath.Join(t.TempDir(), "birds")) }, func(dir string) []string {
			return []string{"adopt", dir, "--rename"}
		})
		must(t, "adopt", dir, "--rename")
		must(t, "verify", dir)
		if i == 0 {
			must(t, "diff", whole, dir)
			must(t, "index", "--check", dir)
		}
		if got, err := readSet(dir); err != nil || difference(want, got) != "" {
			t.Errorf("killed at moment %d and run again: %v %s", i, err, difference(want, got))
		}
	}
	k.check(t)
}
