//go:build interop

package interop

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// startScript starts a script of this directory, with arguments, that answers each line of JSON
// with one, and returns a function that asks it.
func startScript(t *testing.T, python, script string, arguments ...string) func(t *testing.T, request, answer any) {
	t.Helper()
	c := exec.Command(python, append([]string{"-B", script}, arguments...)...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatalf("starting %s %s: %v (make venv makes its environment)", python, script, err)
	}
	t.Cleanup(func() { in.Close(); c.Wait() })
	answers := bufio.NewReaderSize(out, 1<<20)
	return func(t *testing.T, request, answer any) {
		t.Helper()
		line, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write(append(line, '\n')); err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		if line, err = answers.ReadBytes('\n'); err != nil {
			t.Fatalf("%s gave no answer: %v", script, err)
		}
		if err := json.Unmarshal(line, answer); err != nil {
			t.Fatalf("%s: %v in %.200s", script, err, line)
		}
	}
}
