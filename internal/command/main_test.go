package command

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/memtemp"
	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// actAsTfrec in the environment makes the test binary the command itself, for
// tests that need it as a process of its own.
const actAsTfrec = "TFREC_TEST_MAIN"

// actAsProgram in the environment makes the tests of a process a Go program, whose texts name fields.
// All other tests have the words of the command.
const actAsProgram = "TFREC_TEST_PROGRAM"

// inProgram runs the test in a process that is a Go program, and reports whether this is that process.
func inProgram(t *testing.T) bool {
	t.Helper()
	if os.Getenv(actAsProgram) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), actAsProgram+"=1", noRaceSleep)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	return false
}

// withStores in the environment makes it a build with object storage.
const withStores = "TFREC_TEST_STORES"

// noRaceSleep keeps the race detector from sleeping for a second at the end of
// each process.
const noRaceSleep = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if os.Getenv(actAsProgram) == "" {
		NameFlags()
	}
	if os.Getenv(withStores) != "" {
		storage.Register("mem", func(context.Context, string) (storage.Store, error) {
			return nil, errors.New("there are no objects in this test")
		})
	}
	if dir := os.Getenv(heldIn); dir != "" {
		os.Exit(held(dir))
	}
	if os.Getenv(saysReady) != "" {
		os.Exit(ready())
	}
	if os.Getenv(actAsTfrec) != "" {
		os.Exit(Main())
	}
	memtemp.Use()
	os.Exit(m.Run())
}

// heldIn in the environment makes it a command that stops when that directory has some shards, until
// it is interrupted.
const heldIn = "TFREC_TEST_HELD"

// heldShards is how many shards those are.
const heldShards = 3

func held(dir string) int {
	var ctx context.Context
	ctx, stop := interruptible(inject.With(context.Background(), func(string) error {
		if shards, _ := filepath.Glob(filepath.Join(dir, "*.tfrecord*")); len(shards) >= heldShards {
			<-ctx.Done()
			return context.Cause(ctx) // a run whose shards are all made would place them
		}
		return nil
	}))
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// saysReady in the environment makes it a command that closes its file 3 once a signal interrupts it.
// Before, a signal kills it, or does nothing where the tests run in the background of a shell.
const saysReady = "TFREC_TEST_READY"

func ready() int {
	ctx, stop := interruptible(context.Background())
	defer stop()
	os.NewFile(3, "ready").Close()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// demo is the directory of the demo's photographs and tables.
func demo() string {
	path, err := filepath.Abs("../../testdata/demo")
	if err != nil {
		panic(err)
	}
	return path
}

// tfrec returns the command as a process of its own.
func tfrec(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := testwait.Command(t, self, args...)
	c.Env = append(os.Environ(), actAsTfrec+"=1", noRaceSleep)
	return c
}

// must runs the command and wants it to succeed.
func must(t *testing.T, args ...string) {
	t.Helper()
	if out, err := tfrec(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("tfrec %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
