//go:build unix

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
)

// TestClosedStdout runs verbs of all kinds when nobody reads what they print: they end
// without a word, by the code that a shell gives for SIGPIPE.
func TestClosedStdout(t *testing.T) {
	penguins := filepath.Join(demo(), "penguins.csv")
	set := filepath.Join(t.TempDir(), "set")
	must(t, "convert", "csv", penguins, set, "--na", "drop-feature", "--quiet")
	for _, line := range []string{
		"cat SET", "cat --format json --repeat -1 SET", "inspect SET", "inspect --json SET", "inspect --emit tf SET", "verify SET", "verify --json SET",
		"stats SET", "diff SET SET", "index SET", "bench --seconds 0 SET", "reshard SET NEW", "convert csv CSV NEW", "convert csv CSV NEW --dry-run",
		"convert csv CSV NEW --print-outputs", "convert csv CSV --print-schema", "version", "config init", "completion bash", "help", "", "verify --help",
	} {
		args := strings.Fields(line)
		for i, arg := range args {
			switch arg {
			case "SET":
				args[i] = set
			case "CSV":
				args[i] = penguins
			case "NEW":
				args[i] = filepath.Join(t.TempDir(), "new")
			}
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := tfrec(t, args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &stderr
		_ = cmd.Run() // the code is looked at
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitClosedPipe || strings.Contains(stderr.String(), "tfrec") {
			t.Errorf("tfrec %s: exit code %d, %s", line, code, stderr.String())
		}
	}
}
