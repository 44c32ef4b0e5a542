//go:build unix

package command

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// killer kills runs of one kind with SIGKILL, at moments spread over them. How long a
// run takes depends on what else the machine does, so each that ends before its moment
// comes says how long they take now.
type killer struct {
	took     time.Duration // by a run
	met, all int           // kills that met a run under way, of all
	rnd      *rand.Rand
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
	c := tfrec(t, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ended := make(chan time.Duration, 1)
	go func() {
		c.Wait() // how it ended does not matter
		ended <- time.Since(began)
	}()
	k.all++
	stretch := k.took / time.Duration(of)
	select {
	case <-time.After(stretch*time.Duration(moment) + time.Duration(k.rnd.Int64N(int64(stretch)+1))):
		c.Process.Signal(syscall.SIGKILL)
		if <-ended; c.ProcessState.ExitCode() == -1 {
			k.met++
			return true
		}
		k.took = min(k.took, time.Since(began))
	case took := <-ended:
		k.took = min(k.took, took)
	}
	return false
}

// killFresh kills a run into what fresh makes, again from scratch as long as runs end
// before they are killed, a few times at most.
func (k *killer) killFresh(t *testing.T, moment, of int, fresh func() string, args func(out string) []string) (out string) {
	t.Helper()
	for range 5 {
		if out = fresh(); k.kill(t, moment, of, args(out)...) {
			break
		}
	}
	return out
}

// check wants half of the kills to have met a run under way.
func (k *killer) check(t *testing.T) {
	t.Helper()
	if 2*k.met < k.all || k.all == 0 {
		t.Errorf("only %d of %d kills met a run under way", k.met, k.all)
	}
}
