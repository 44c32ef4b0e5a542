//go:build unix

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// TestKilledAtAnyMoment kills a run with SIGKILL at moments spread over it:
// whatever has a shard's name must verify, and the next run must end with the
// bytes of one that was left alone.
func TestKilledAtAnyMoment(t *testing.T) {
	moments := moments()
	for name, args := range conversions(t) {
		t.Run(name, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "whole")
			k := newKiller(t, uint64(len(name)), func() { must(t, into(args, whole)...) })
			want, err := readSet(whole)
			if err != nil {
				t.Fatal(err)
			}
			enough := time.Now().Add(5 * time.Second)
			for i := range moments {
				if k.met >= moments/4 && time.Now().After(enough) {
					break // a busy machine
				}
				// 7 is prime to the number of moments: early and late ones in turn.
				moment := i * 7 % moments
				out := k.killFresh(t, moment, moments, func() string { return filepath.Join(t.TempDir(), "out") }, func(out string) []string { return into(args, out) })
				for again := range 1 + i%2 {
					if again > 0 { // a second kill meets what the first left
						k.kill(t, moment, moments, into(args, out)...)
					}
					if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
						must(t, "verify", out)
					} else {
						verifyShards(t, out)
					}
				}
				must(t, into(args, out)...)
				got, err := readSet(out)
				if err != nil {
					t.Fatal(err)
				}
				if diff := difference(want, got); diff != "" {
					t.Errorf("killed at moment %d and run again: %s", i, diff)
				}
				if left, _ := filepath.Glob(filepath.Join(out, ".tfrec", "tmp", "*")); len(left) > 0 {
					t.Errorf("killed at moment %d and run again: %q are left", i, left)
				}
			}
			k.check(t)
		})
	}
}

// TestTasksKilledAtAnyMoment kills each command of an array job with SIGKILL, of a first one and of
// one that updates the set of the first: the same command again, and the rest of the job, end with
// the set of a single run.
func TestTasksKilledAtAnyMoment(t *testing.T) {
	photos := filepath.Join(t.TempDir(), "photos")
	if err := os.CopyFS(photos, os.DirFS(filepath.Join(demo(), "photos"))); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(photos, "daisy", "*.jpg"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	more := filepath.Join(photos, "tulips", "more.jpg")
	grow := map[bool]func() error{false: func() error { return os.RemoveAll(more) }, true: func() error { return os.Link(found[0], more) }}
	convert := func(out string, more ...string) []string {
		return append([]string{"convert", "images", photos, out, "--name", "k", "--resize", "48x48", "--encode", "png", "--shards", "6", "--quiet"}, more...)
	}
	job := func(out string) [][]string {
		return [][]string{convert(out, "--task", "0", "--tasks", "2"), convert(out, "--task", "1", "--tasks", "2"), {"finalize", out, "--quiet"}}
	}
	whole := map[bool]map[string]string{}
	for _, grown := range []bool{true, false} {
		out := filepath.Join(t.TempDir(), "whole")
		if err := grow[grown](); err != nil {
			t.Fatal(err)
		}
		must(t, convert(out)...)
		if whole[grown], err = readSet(out); err != nil {
			t.Fatal(err)
		}
	}
	k := newKiller(t, 10, func() { must(t, convert(filepath.Join(t.TempDir(), "task"), "--task", "0", "--tasks", "2")...) })
	moments := moments() / 2
	killed := 0
	for i := range moments {
		out := filepath.Join(t.TempDir(), "out")
		for _, grown := range []bool{false, true} {
			if err := grow[grown](); err != nil {
				t.Fatal(err)
			}
			for _, args := range job(out) {
				if k.kill(t, i, moments, args...) {
					killed++
				}
				must(t, args...)
			}
			must(t, "verify", out)
			if got, err := readSet(out); err != nil || difference(whole[grown], got) != "" {
				t.Errorf("killed at moment %d and run again, grown %v: %v %s", i, grown, err, difference(whole[grown], got))
			}
		}
	}
	if killed == 0 {
		t.Error("no run was killed under way")
	}
}

// TestKilledBeforeTheFirstShard kills runs that have a plan and no shard: OUT is the beginning of a
// set for each verb that reads it, with the command that completes it.
func TestKilledBeforeTheFirstShard(t *testing.T) {
	photos := filepath.Join(demo(), "photos")
	for _, c := range []struct {
		then  string
		state string // what says so
		more  []string
	}{
		{"tfrec convert images", "run.json", nil},
		{"the remaining tasks", "plan.json", []string{"--task", "1", "--tasks", "2"}},
	} {
		then := c.then
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"convert", "images", photos, "OUT", "--encode", "raw", "--shards", "3", "--workers", "1", "--quiet"}, c.more...)
			var out string
			begun := func() bool {
				out = filepath.Join(t.TempDir(), "out")
				p := testwait.Start(t, tfrec(t, into(args, out)...))
				testwait.Until(func() bool {
					_, err := os.Stat(filepath.Join(out, ".tfrec", c.state))
					return err == nil || p.Ended()
				})
				p.Process.Signal(syscall.SIGKILL)
				p.Wait()
				shards, err := filepath.Glob(filepath.Join(out, "*.tfrecord*"))
				return err == nil && len(shards) == 0 && p.ProcessState.ExitCode() == -1
			}
			testwait.Until(begun)
			for _, c := range []struct {
				verb string
				code int
			}{{"verify", cli.ExitFaults}, {"inspect", cli.ExitFailed}, {"cat", cli.ExitFailed}, {"stats", cli.ExitFailed}} {
				run := tfrec(t, c.verb, out)
				text, _ := run.CombinedOutput()
				if code := run.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(text), "has not completed") || !strings.Contains(string(text), then) {
					t.Errorf("%s: exit code %d, want %d: %s", c.verb, code, c.code, text)
				}
			}
			must(t, into(args, out)...)
		})
	}
}

// TestSIGTERMEndsAFilter terminates a filter whose condition takes some time for each record, and
// would take minutes.
func TestSIGTERMEndsAFilter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	row := `{"v":[` + strings.Repeat("1,", 2_500) + "2]}\n"
	if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(strings.Repeat(row, 1_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "convert", "table", filepath.Join(dir, "x.jsonl"), filepath.Join(dir, "in"), "--quiet")
	out := filepath.Join(dir, "out")
	p := testwait.Start(t, tfrec(t, "filter", filepath.Join(dir, "in"), out, "--where", "all(v, any(v, # == 2))", "--quiet"))
	testwait.Until(func() bool {
		_, err := os.Stat(filepath.Join(out, ".tfrec"))
		return err == nil || p.Ended()
	})
	p.Process.Signal(syscall.SIGTERM)
	began := time.Now()
	p.Wait()
	if took, code := time.Since(began), p.ProcessState.ExitCode(); code != cli.ExitTerminated || took > 10*time.Second {
		t.Errorf("exit code %d after %v", code, took)
	}
}

// verifyShards verifies every file in dir that has a shard's name.
func verifyShards(t *testing.T, dir string) {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(dir, "*.tfrecord*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(shards) > 0 {
		must(t, append([]string{"verify"}, shards...)...)
	}
}

// TestInterruptedRunsGoOn sends a signal when the first shards are in place.
func TestInterruptedRunsGoOn(t *testing.T) {
	for _, c := range []struct {
		signal os.Signal
		code   int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			args := []string{"convert", "images", filepath.Join(demo(), "photos"), out, "--name", "k", "--resize", "64x64", "--encode", "png", "--shards", "20", "--workers", "1"}
			run := tfrec(t, args...)
			run.Env = append(run.Env, heldIn+"="+out)
			var stderr strings.Builder
			run.Stderr = &stderr
			p := testwait.Start(t, run)
			testwait.Until(func() bool {
				shards, _ := filepath.Glob(filepath.Join(out, "*.tfrecord*"))
				return len(shards) >= heldShards || p.Ended()
			})
			p.Process.Signal(c.signal)
			p.Wait()
			if code := p.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, stderr.String())
			}
			if !strings.Contains(stderr.String(), "kept") {
				t.Errorf("stderr does not say what is kept: %s", stderr.String())
			}
			if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
				t.Error("an interrupted run left a manifest")
			}
			verifyShards(t, out)
			again, err := tfrec(t, append(args, "--json", "--quiet")...).Output()
			if err != nil {
				t.Fatal(err)
			}
			var s struct {
				Status     string
				ShardsKept int `json:"shards_kept"`
			}
			if err := json.Unmarshal(again, &s); err != nil || s.Status != "resumed" || s.ShardsKept == 0 {
				t.Errorf("the next run says %s, want some shards kept: %v", again, err)
			}
		})
	}
}
