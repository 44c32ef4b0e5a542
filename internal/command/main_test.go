package command

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/memtemp"
	"github.com/tfrec/tfrec/internal/storage"
)

// actAsTfrec in the environment makes the test binary the command itself, for
// tests that need it as a process of its own.
const actAsTfrec = "TFREC_TEST_MAIN"

// withStores in the environment makes it a build with object storage.
const withStores = "TFREC_TEST_STORES"

// noRaceSleep keeps the race detector from sleeping for a second at the end of
// each process.
const noRaceSleep = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if os.Getenv(withStores) != "" {
		storage.Register("mem", func(context.Context, string) (storage.Store, error) {
			return nil, errors.New("there are no objects in this test")
		})
	}
	if os.Getenv(actAsTfrec) != "" {
		os.Exit(Main())
	}
	memtemp.Use()
	os.Exit(m.Run())
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
	c := exec.Command(self, args...)
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
