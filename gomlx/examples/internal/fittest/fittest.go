// Package fittest tests the programs of the examples.
package fittest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/checkpoint"
	"github.com/gomlx/gomlx/ml/train/metric"

	"github.com/tfrec/tfrec/gomlx/examples/internal/fit"
)

// actAsProgram in the environment makes the test binary the program itself.
const actAsProgram = "TFREC_TEST_MAIN"

// Main is the TestMain of a program.
func Main(m *testing.M, main func()) {
	if os.Getenv(actAsProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Build builds the command of this checkout, and returns its path.
func Build(t *testing.T) string {
	t.Helper()
	tfrec := filepath.Join(t.TempDir(), "tfrec.exe")
	Run(t, "go", "build", "-C", "../../..", "-o", tfrec, "./cmd/tfrec")
	return tfrec
}

// Run runs a command that must succeed.
func Run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// Learns trains a job to its end, and checks that the model is good, that the training stopped in
// time, and that the saved model is whole.
func Learns[B any](t *testing.T, job *fit.Job[B]) {
	t.Helper()
	var out bytes.Buffer
	job.Dir, job.Steps, job.Out = t.TempDir(), 5000, &out
	r, err := job.Run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("%s", &out)
	if r.Accuracy < 0.95 {
		t.Errorf("the accuracy on test is %.3f; want 0.95", r.Accuracy)
	}
	if r.Waited <= 0 || r.Waited >= 0.05 {
		t.Errorf("%.2f%% of a step are spent waiting for data; want more than 0 and less than 5", 100*r.Waited)
	}
	if r.Steps-r.Best != job.Patience*job.Round || r.Steps >= job.Steps {
		t.Errorf("the best step is %d, and the training ended after %d; want %d more", r.Best, r.Steps, job.Patience*job.Round)
	}
	// A model that has all that it needs is one that a new process can load.
	for _, dir := range []string{r.Model, filepath.Join(job.Dir, fmt.Sprintf("step-%08d", r.Steps))} {
		if variables := Variables(t, dir); len(variables) < 10 {
			t.Errorf("%s has only %d variables", dir, len(variables))
		}
	}
	// Run again, the program has nothing left to learn.
	again, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again.Waited, again.WaitedInAll = r.Waited, r.WaitedInAll
	if *again != *r {
		t.Errorf("another run of the finished job: %+v; want %+v", again, r)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := job.Run(canceled); err == nil {
		t.Error("a canceled job did not fail")
	}
}

// Variables returns the bytes of the variables of a checkpoint by name: weights, moments of the
// optimizer, counters and random states. Variables of metrics are left out: GoMLX gives them random
// names, and sets them to zero when it begins a round.
func Variables(t *testing.T, dir string) map[string]string {
	t.Helper()
	store := model.NewStore()
	if _, err := checkpoint.Load(store).Dir(dir).Immediate().Done(); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for v := range store.IterVariables() {
		if strings.HasPrefix(v.Scope(), "/"+metric.Scope) {
			continue
		}
		if err := v.MustValue().ConstBytes(func(data []byte) { all[v.Path()] = string(data) }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Killed runs the program on a set for a number of steps, and again with SIGKILL at random moments
// until it gets to the end. Both must end with the same variables, to the bit.
func Killed(t *testing.T, data string, steps int) {
	t.Helper()
	last := fmt.Sprintf("step-%08d", steps)
	whole, parts := t.TempDir(), t.TempDir()
	if kill(t, data, whole, steps, -1, 0) {
		t.Fatal("killed without being asked to")
	}
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	kills := 0
	// The first kill is right after a checkpoint, however fast the machine is.
	for killed := kill(t, data, parts, steps, 1, 0); killed; kills++ {
		if kills == 50 {
			t.Fatal("no end")
		}
		killed = kill(t, data, parts, steps, rnd.IntN(2), time.Duration(rnd.IntN(300))*time.Millisecond)
	}
	if kills == 0 {
		t.Error("the program was never killed: want more steps")
	}
	want, got := Variables(t, filepath.Join(whole, last)), Variables(t, filepath.Join(parts, last))
	if !maps.Equal(want, got) {
		var differ []string
		for name := range want {
			if want[name] != got[name] {
				differ = append(differ, name)
			}
		}
		t.Errorf("after %d kills (seed %d) these variables differ: %q", kills, seed, slices.Sorted(slices.Values(differ)))
	}
}

// kill runs the program, and kills it some time after it has finished a number of rounds; never if
// that is negative. It reports whether the program was killed.
func kill(t *testing.T, data, model string, steps, rounds int, after time.Duration) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-data", data, "-model", model, "-steps", fmt.Sprint(steps))
	cmd.Env = append(os.Environ(), actAsProgram+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var said []string
	for lines := bufio.NewScanner(out); rounds != 0 && lines.Scan(); {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), "step ") {
			rounds--
		}
	}
	if rounds == 0 {
		time.Sleep(after)
		cmd.Process.Kill()
	}
	io.Copy(io.Discard, out)
	if err = cmd.Wait(); err == nil {
		return false
	}
	if rounds != 0 {
		t.Fatalf("%v\n%s\n%s", err, strings.Join(said, "\n"), &stderr)
	}
	return true
}
