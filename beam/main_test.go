package beam

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"

	"github.com/tfrec/tfrec/internal/command"
	"github.com/tfrec/tfrec/internal/dev/testwait"
)

// actAs in the environment makes the test binary a command, for tests that need it as
// a process of its own.
const actAs = "TFREC_BEAM_TEST_MAIN"

// diesAt in the environment of a driver is the number of the bundle at which its workers kill
// themselves.
const diesAt = "TFREC_BEAM_TEST_DIES_AT"

// dieAt has a worker die when it is to process a bundle for the nth time.
func dieAt(nth string) {
	left, err := strconv.Atoi(nth)
	if err != nil {
		return // not to die
	}
	hooks.RegisterHook(diesAt, func([]string) hooks.Hook {
		return hooks.Hook{Req: func(ctx context.Context, r *fnpb.InstructionRequest) (context.Context, error) {
			if r.GetProcessBundle() != nil {
				left--
			}
			if left == 0 {
				if self, err := os.FindProcess(os.Getpid()); err == nil {
					_ = self.Kill()
				}
				select {}
			}
			return ctx, nil
		}}
	})
	if err := hooks.EnableHook(diesAt); err != nil { // the driver says so to its workers
		panic(err)
	}
}

// The commands that the test binary is.
const (
	onBeam = "tfrec-beam"
	plain  = "tfrec"
)

func TestMain(m *testing.M) {
	switch os.Getenv(actAs) {
	case onBeam:
		dieAt(os.Getenv(diesAt))
		os.Exit(Main())
	case plain:
		os.Exit(command.Main())
	}
	os.Exit(m.Run())
}

// start returns a command as a process of its own.
func start(t testing.TB, as string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := testwait.Command(t, self, args...)
	c.Env = append(os.Environ(), actAs+"="+as, "GORACE=atexit_sleep_ms=0")
	return c
}

// outcome is what a command came to.
type outcome struct {
	code           int
	stdout, stderr string
}

// run runs a command.
func run(t testing.TB, as string, args ...string) outcome {
	t.Helper()
	return ended(t, start(t, as, args...))
}

// ended runs a command that start has returned.
func ended(t testing.TB, c *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// must runs a command and wants it to succeed.
func must(t testing.TB, as string, args ...string) outcome {
	t.Helper()
	o := run(t, as, args...)
	if o.code != 0 {
		t.Fatalf("%s %s: exit %d\n%s%s", as, strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o
}

// demo is the directory of the demo's photographs and tables.
func demo(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("../testdata/demo")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// readSet returns every file below dir by its path there, but for state.
func readSet(t testing.TB, dir string) map[string]string {
	t.Helper()
	set := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".tfrec":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		set[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// sameSet fails when two directories do not hold the same set.
func sameSet(t testing.TB, got, want string) {
	t.Helper()
	a, b := readSet(t, got), readSet(t, want)
	if len(b) == 0 {
		t.Fatalf("%s is empty", want)
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if data, ok := a[name]; !ok || data != b[name] {
			t.Errorf("%s differs, or is missing", name)
		}
		delete(a, name)
	}
	for name := range a {
		t.Errorf("%s is too many", name)
	}
}

// check fails the test at an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
