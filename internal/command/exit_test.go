package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/internal/command/cli"
)

func TestExitCode(t *testing.T) {
	stopped := func(s os.Signal) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(&cli.Interrupted{Signal: s})
		return ctx
	}
	plain, ctrlC := context.Background(), stopped(os.Interrupt)
	kept := fmt.Errorf("2 of 8 shards are kept: %w", context.Canceled)
	for _, test := range []struct {
		name string
		ctx  context.Context
		err  error
		code int
		says string
	}{
		{"fine", plain, nil, 0, ""},
		{"fine although interrupted", stopped(os.Interrupt), nil, 0, ""},
		{"failed", plain, os.ErrNotExist, 1, "tfrec x: file does not exist\n"},
		{"usage", plain, cli.UsageError("--n %d: want more", 1), 2, "tfrec x: --n 1: want more\nRun 'tfrec x --help' for how it is used.\n"},
		{"wrapped usage", plain, fmt.Errorf("a: %w", cli.UsageError("b")), 2, "tfrec x: a: b\n"},
		{"faults", plain, cli.FaultError(errors.New("2 bad samples")), 3, "tfrec x: 2 bad samples\n"},
		{"faults already printed", plain, cli.FaultError(errors.New("")), 3, ""},
		{"closed stdout", plain, cli.ErrClosedPipe, 141, ""},
		{"broken pipe of something else", plain, &os.PathError{Op: "write", Path: "socket", Err: syscall.EPIPE}, 1, "tfrec x: write socket: broken pipe\n"},
		{"Ctrl-C", stopped(os.Interrupt), context.Canceled, 130, "tfrec x: stopped (interrupt)\n"},
		{"Ctrl-C with news", stopped(os.Interrupt), kept, 130, "tfrec x: stopped (interrupt): 2 of 8 shards are kept\n"},
		{"Ctrl-C by its cause", ctrlC, context.Cause(ctrlC), 130, "tfrec x: stopped (interrupt)\n"},
		{"Ctrl-C by its cause, with news", ctrlC, fmt.Errorf("nothing was written: %w", context.Cause(ctrlC)), 130, "tfrec x: stopped (interrupt): nothing was written\n"},
		{"terminated", stopped(syscall.SIGTERM), context.Canceled, 143, "tfrec x: stopped (terminated)\n"},
		{"failed while stopping", stopped(os.Interrupt), os.ErrClosed, 130, "tfrec x: file already closed\n"},
	} {
		if code := cli.ExitCode(test.ctx, test.err); code != test.code {
			t.Errorf("%s: exit code %d, want %d", test.name, code, test.code)
		}
		var stderr bytes.Buffer
		root, x := &cobra.Command{Use: "tfrec"}, &cobra.Command{Use: "x"}
		root.AddCommand(x)
		cli.Report(test.ctx, &stderr, x, test.err)
		if got := stderr.String(); !strings.HasPrefix(got, test.says) || (test.says == "") != (got == "") {
			t.Errorf("%s: says %q, want %q", test.name, got, test.says)
		}
	}
}

func TestUsageErrorsAreShort(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"verify", "--no" + strings.Repeat("ö", 5000)}, &stdout, &stderr); code != 2 {
		t.Errorf("exit code %d", code)
	}
	if stdout.Len() > 0 || stderr.Len() > 1500 {
		t.Errorf("%d bytes on stdout, %d on stderr", stdout.Len(), stderr.Len())
	}
}

func TestEveryHelpListsExitCodes(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		help := cli.HelpAll(c, cli.DefaultWidth)
		for _, code := range []string{"\n  0  ", "\n  1  ", "\n  2  ", "\n  130  "} {
			if !strings.Contains(help, code) {
				t.Errorf("help of %s lacks exit code %q", c.CommandPath(), strings.TrimSpace(code))
			}
		}
		if c.Runnable() && c.GroupID == "" && c.Parent() == c.Root() {
			t.Errorf("%s is in no group of the help", c.CommandPath())
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(nil))
}

// brokenWriter fails from its n-th write on.
type brokenWriter struct{ n int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

func TestResultsThatCannotBeWritten(t *testing.T) {
	const file = "../../testdata/tfrecords/torchdata-example.tfrecord"
	for _, args := range [][]string{
		{"--help"}, {"help", "verify"}, {"version"}, {"version", "--json"}, {"completion", "bash"},
		{"verify", file}, {"verify", "--json", file}, {"inspect", file}, {"inspect", "--json", file}, {"cat", file},
	} {
		var stderr bytes.Buffer
		if code := run(context.Background(), args, &brokenWriter{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

func TestPrintJSON(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{struct{}{}, `{"schema_version":1}` + "\n"},
		{map[string]string{"a": "<&>"}, `{"schema_version":1,"a":"<&>"}` + "\n"},
	} {
		got, err := cli.JSONLine(test.value)
		if err != nil || string(got) != test.want {
			t.Errorf("%v: %s, %v", test.value, got, err)
		}
	}
	if _, err := cli.JSONLine([]int{1}); err == nil {
		t.Error("a list is no JSON object")
	}
}

// TestCatStopsWhenInterrupted wants no endless reading of what no one awaits.
func TestCatStopsWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&cli.Interrupted{Signal: os.Interrupt})
	for _, verb := range []string{"cat", "verify", "inspect"} {
		var stdout, stderr bytes.Buffer
		if code := run(ctx, []string{verb, "../../testdata/tfrecords/torchdata-example.tfrecord"}, &stdout, &stderr); code != 130 || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", verb, code, stdout.String(), stderr.String())
		}
	}
}
