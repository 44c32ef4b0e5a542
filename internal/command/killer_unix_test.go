//go:build unix

package command

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// moments returns the number of moments of a run at which it is killed. A process under the race
// detector starts slowly, and reports no races if it is killed.
func moments() int {
	switch {
	case torture.On():
		return 64
	case race.Enabled:
		return 4
	}
	return 8
}

// killer kills runs of one kind with SIGKILL, at moments spread over them. How long a
// run takes depends on what else the machine does, so each that ends before its moment
// comes says how long they take now.
type killer struct {
	took time.Duration // by a run
	met  int           // fresh runs that were killed
	late int           // fresh runs that ended before each of the moments tried
	rnd  *rand.Rand
}

// newKiller runs the command as it is killed later, and takes the time.
func newKiller(t *testing.T, seed uint64, run func()) *killer {
	t.Helper()
	began := time.Now()
	run()
	return &killer{took: time.Since(began), rnd: rand.New(rand.NewPCG(seed, 0))}
}

// kill starts the command and kills it in a stretch of the time that it takes: moment
// counts these from 0. It reports whether the run was under way.
func (k *killer) kill(t *testing.T, moment, of int, args ...string) bool {
	t.Helper()
	stretch := k.took / time.Duration(of)
	return k.killAfter(t, stretch*time.Duration(moment)+time.Duration(k.rnd.Int64N(int64(stretch)+1)), args...)
}

// killAfter starts the command and kills it after wait, unless it has ended.
func (k *killer) killAfter(t *testing.T, wait time.Duration, args ...string) bool {
	t.Helper()
	p := testwait.Start(t, tfrec(t, args...))
	began := time.Now()
	select {
	case <-time.After(wait):
		p.Process.Signal(syscall.SIGKILL)
	case <-p.Done():
	}
	p.Wait() // how it ended does not matter
	if p.ProcessState.ExitCode() == -1 {
		return true
	}
	k.took = min(k.took, time.Since(began))
	return false
}

// killFresh kills a run into what fresh makes. As long as runs end before they are
// killed it tries again from scratch, each time in half of the time, so that one is met
// however much shorter than the first they have become.
func (k *killer) killFresh(t *testing.T, moment, of int, fresh func() string, args func(out string) []string) (out string) {
	t.Helper()
	out = fresh()
	if k.kill(t, moment, of, args(out)...) {
		k.met++
		return out
	}
	for wait := k.took / 2; wait > k.took/1000; wait /= 2 {
		if out = fresh(); k.killAfter(t, wait, args(out)...) {
			k.met++
			return out
		}
	}
	k.late++
	return out
}

// check wants each fresh run to have been killed under way.
func (k *killer) check(t *testing.T) {
	t.Helper()
	if k.late > 0 || k.met == 0 {
		t.Errorf("%d runs were killed under way, %d ended before", k.met, k.late)
	}
}
