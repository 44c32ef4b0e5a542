package beam

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command"
)

// actAs in the environment makes the test binary a command, for tests that need it as
// a process of its own.
const actAs = "TFREC_BEAM_TEST_MAIN"

// The commands that the test binary is.
const (
	onBeam = "tfrec-beam"
	plain  = "tfrec"
)

func TestMain(m *testing.M) {
	switch os.Getenv(actAs) {
	case onBeam:
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
	c := exec.Command(self, args...)
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
	c := start(t, as, args...)
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
