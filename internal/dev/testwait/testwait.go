// Package testwait waits in tests. Nothing here has a time limit of its own, since on a busy machine
// everything takes longer than expected: the limit is the -timeout of the test binary, which prints
// where each goroutine is.
//
//	testwait.Until(func() bool { return runtime.NumGoroutine() <= before })
//	out, err := testwait.Command(t, self, "convert").CombinedOutput()
package testwait

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Until returns when done does, called every millisecond, returns true.
func Until(done func() bool) {
	for !done() {
		time.Sleep(time.Millisecond)
	}
}

// grace is the time between SIGQUIT and SIGKILL.
const grace = 30 * time.Second

// Command is [exec.Command] for a process that ends when the test has cleaned up, and before the test
// binary's time is over: it gets SIGQUIT then, with which a Go program prints its goroutines, and
// SIGKILL later.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := d.Deadline(); ok {
			ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/10))
			t.Cleanup(cancel)
		}
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error {
		if c.Process.Signal(syscall.SIGQUIT) != nil {
			return c.Process.Kill() // the system has no such signals
		}
		time.AfterFunc(grace, func() { c.Process.Kill() })
		return nil
	}
	return c
}

// Process is a process that a test watches while it waits for something else.
type Process struct {
	*exec.Cmd
	done chan struct{}
	err  error
}

// Start starts c.
func Start(t testing.TB, c *exec.Cmd) *Process {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{Cmd: c, done: make(chan struct{})}
	go func() {
		p.err = c.Wait()
		close(p.done)
	}()
	return p
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait returns the error of [exec.Cmd.Wait] when the process has ended, any number of times.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}
