package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// measureTfrec in the environment makes the test binary run the command, and write the
// most memory that it held to the file that the variable names.
const measureTfrec = "TFREC_TEST_MEASURE"

// wholeCollections, in GODEBUG, has the garbage collector end before anything else goes on: how much
// is allocated meanwhile depends on what else the machine does.
const wholeCollections = "gcstoptheworld=2"

func init() {
	if os.Getenv(measureTfrec) != "" {
		os.Exit(measured())
	}
}

// measured is the small process that peak starts: what the system says of a child's
// memory begins with its parent's.
func measured() int {
	to := os.Getenv(measureTfrec)
	os.Unsetenv(measureTfrec)
	os.Setenv(actAsTfrec, "1")
	os.Setenv("GODEBUG", wholeCollections)
	c := exec.Command(os.Args[0], os.Args[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	most := int64(-1)
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		most = usage.Maxrss // kilobytes
	}
	if err := os.WriteFile(to, fmt.Append(nil, most), 0o600); err != nil {
		return 99
	}
	return c.ProcessState.ExitCode()
}

// peak runs the command on two processors, whatever the machine has, and returns the
// most memory that it held in MB, its exit code and the end of what it wrote.
func peak(t *testing.T, args ...string) (mb, code int, said string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/peak"
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), measureTfrec+"="+file, "GOMAXPROCS=2")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("tfrec %s: %s", strings.Join(args, " "), out)
	}
	var kb int
	if _, err := fmt.Sscan(string(text), &kb); err != nil || kb <= 0 {
		t.Fatalf("%q: %v", text, err)
	}
	return kb >> 10, c.ProcessState.ExitCode(), string(out[max(0, len(out)-300):])
}
