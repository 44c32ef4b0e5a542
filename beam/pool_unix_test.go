//go:build unix

package beam

import (
	"bufio"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAWorkerThatDies has a worker die before it has begun, and in the middle of a job; the same
// command then makes the set.
func TestAWorkerThatDies(t *testing.T) {
	photos, ref := filepath.Join(demo(t), "photos"), filepath.Join(t.TempDir(), "out")
	args := []string{"convert", "images", photos, "OUT", "--resize", "16", "--shards", "6"}
	must(t, plain, into(args, ref)...)
	config := func(command string) string {
		text, err := json.Marshal(map[string]string{"command": command})
		check(t, err)
		return string(text)
	}
	for name, c := range map[string]struct {
		command string
		env     []string
		want    string
	}{
		"at once":       {"/bin/false", nil, "ended: exit status 1"},
		"with success":  {"/bin/true", nil, "ended: exit status 0"},
		"not there":     {"/no/such/program", nil, "start worker"},
		"in the middle": {"", []string{diesAt + "=3"}, "ended: signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			more := []string{"--environment_type=PROCESS"}
			if c.command != "" {
				more = append(more, "--environment_config", config(c.command))
			}
			p := start(t, onBeam, into(args, out, more...)...)
			p.Env = append(p.Env, c.env...)
			o := ended(t, p)
			if o.code != 1 || !strings.Contains(o.stderr, "the runner gave up: ") || !strings.Contains(o.stderr, c.want) || strings.Contains(o.stderr, "goroutine ") {
				t.Fatalf("exit %d: %s", o.code, o.stderr)
			}
			must(t, onBeam, into(args, out, "--environment_type=PROCESS")...)
			sameSet(t, out, ref)
		})
	}
}

// TestAPoolOfWorkers runs a job on workers that a pool of its own starts, and ends the pool.
func TestAPoolOfWorkers(t *testing.T) {
	photos, ref, out := filepath.Join(demo(t), "photos"), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
	args := []string{"convert", "images", photos, "OUT", "--resize", "16", "--shards", "6"}
	must(t, plain, into(args, ref)...)
	pool := start(t, onBeam, "--worker_pool=127.0.0.1:0")
	said, err := pool.StderrPipe()
	check(t, err)
	check(t, pool.Start())
	defer func() { _ = pool.Process.Kill() }()
	lines := bufio.NewReader(said)
	first, err := lines.ReadString('\n')
	check(t, err)
	var address string
	if _, err := fmt.Sscanf(first, "tfrec-beam: workers are started by %s", &address); err != nil {
		t.Fatalf("%v: %q", err, first)
	}
	o := run(t, onBeam, into(args, out, "--environment_type=EXTERNAL", "--environment_config="+address)...)
	if o.code != 0 {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	sameSet(t, out, ref)
	check(t, pool.Process.Signal(syscall.SIGTERM))
	rest := new(strings.Builder)
	if _, err := lines.WriteTo(rest); err != nil {
		t.Fatal(err)
	}
	if err := pool.Wait(); err != nil || strings.Contains(rest.String(), "tfrec-beam: ") {
		t.Errorf("the pool: %v, and said %s", err, rest)
	}
	o = run(t, onBeam, into(args, out+"-2", "--environment_type=EXTERNAL", "--environment_config="+address)...)
	if o.code != 1 || !strings.Contains(o.stderr, "reach the pool of workers: ") {
		t.Errorf("without the pool: exit %d: %s", o.code, o.stderr)
	}
	if o := run(t, onBeam, "--worker_pool=nowhere"); o.code != 1 || !strings.Contains(o.stderr, "as a pool of workers: ") {
		t.Errorf("a pool that cannot be: exit %d: %s", o.code, o.stderr)
	}
}
