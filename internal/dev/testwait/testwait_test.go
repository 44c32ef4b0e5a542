//go:build unix

package testwait_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// hangs in the environment makes TestCommandsEnd hang.
const hangs = "TFREC_TEST_HANGS"

// limited is a test whose time is over after a second.
type limited struct{ *testing.T }

func (limited) Deadline() (time.Time, bool) { return time.Now().Add(time.Second), true }

func TestCommandsEnd(t *testing.T) {
	if os.Getenv(hangs) != "" {
		time.Sleep(time.Hour)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := testwait.Command(limited{t}, self, "-test.run=^TestCommandsEnd$")
	c.Env = append(os.Environ(), hangs+"=1")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	// On a busy machine it may not have begun when it gets the signal.
	if exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGQUIT && !strings.Contains(string(out), "goroutine ") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUntil(t *testing.T) {
	calls := 0
	testwait.Until(func() bool { calls++; return calls == 3 })
	if calls != 3 {
		t.Errorf("%d calls", calls)
	}
}
