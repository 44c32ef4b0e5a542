package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/shard"
)

// Exit codes. A script may rely on them; interface.md of the design and every
// command's help say the same.
const (
	exitFine        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFaults      = 3
	exitInterrupted = 130 // 128 + SIGINT
	exitClosedPipe  = 141 // 128 + SIGPIPE
	exitTerminated  = 143 // 128 + SIGTERM
)

// maxUsage bounds what a wrong use writes to stderr, in bytes.
const maxUsage = 1000

// wrongUsage is an error in how the command was called: exit code 2.
type wrongUsage struct {
	err  error
	help string // printed after the error; "" for a hint at --help
}

func (e *wrongUsage) Error() string { return e.err.Error() }
func (e *wrongUsage) Unwrap() error { return e.err }

// usageError says that the command was called wrongly (exit code 2). A hint at
// --help is added when it is printed.
func usageError(format string, args ...any) error {
	return &wrongUsage{err: fmt.Errorf(format, args...)}
}

// dataFaults is an error in the data: exit code 3.
type dataFaults struct{ err error }

func (e *dataFaults) Error() string { return e.err.Error() }
func (e *dataFaults) Unwrap() error { return e.err }

// faultError says that the data have faults (exit code 3). An err whose text
// is empty prints nothing: everything was said already.
func faultError(err error) error { return &dataFaults{err: err} }

// interrupted is the cause of a context that a signal cancelled.
type interrupted struct{ signal os.Signal }

func (e *interrupted) Error() string { return e.signal.String() }

// errClosedPipe says that nobody reads stdout any more, as after head.
var errClosedPipe = errors.New("stdout is closed")

// exitCode maps what a command returned to the exit code. It is the only place
// that does.
func exitCode(ctx context.Context, err error) int {
	var wrong *wrongUsage
	var option *shard.OptionError
	var bad *dataFaults
	var stopped *interrupted
	switch {
	case err == nil:
		return exitFine
	case errors.As(context.Cause(ctx), &stopped):
		if stopped.signal == syscall.SIGTERM {
			return exitTerminated
		}
		return exitInterrupted
	case errors.Is(err, errClosedPipe):
		return exitClosedPipe
	case errors.As(err, &wrong), errors.As(err, &option):
		return exitUsage
	case errors.As(err, &bad):
		return exitFaults
	default:
		return exitFailed
	}
}

// report prints an error for the user: one line, and for wrong usage a second one that names the
// help.
func report(ctx context.Context, stderr io.Writer, cmd *cobra.Command, err error) {
	if err == nil {
		return
	}
	text := err.Error()
	switch code := exitCode(ctx, err); {
	case code == exitClosedPipe: // no reason to complain
	case code == exitUsage:
		if len(text) > maxUsage {
			text = strings.ToValidUTF8(text[:maxUsage], "") + "..."
		}
		fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), text)
		if wrong := new(wrongUsage); errors.As(err, &wrong) && wrong.help != "" {
			fmt.Fprint(stderr, wrong.help)
		} else {
			fmt.Fprintf(stderr, "Run '%s --help' for how it is used.\n", cmd.CommandPath())
		}
	case (code == exitInterrupted || code == exitTerminated) && isStop(ctx, err):
		cause := context.Cause(ctx)
		for _, end := range []string{context.Canceled.Error(), cause.Error(), ": "} {
			text = strings.TrimSuffix(text, end)
		}
		if text != "" {
			text = ": " + text
		}
		fmt.Fprintf(stderr, "%s: stopped (%v)%s\n", cmd.CommandPath(), cause, text)
	case text != "":
		fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), text)
		if then := remedy(cmd, err); then != "" {
			fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), then)
		}
	}
}

// isStop reports whether an error says no more than that the context has ended.
func isStop(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))
}

// faultsMean is the annotation of a command that says what exit code 3 means
// for it. Commands that look at no data have none.
const faultsMean = "faults"

// exitHelp is the list of exit codes at the end of a command's help.
func exitHelp(cmd *cobra.Command) string {
	var b strings.Builder
	line := func(code int, means string) { fmt.Fprintf(&b, "  %-3d  %s\n", code, means) }
	line(exitFine, "fine")
	line(exitFailed, "failed: missing or empty input, I/O error, refused")
	line(exitUsage, "wrong usage: unknown verb, flag or value")
	if means := cmd.Annotations[faultsMean]; means != "" {
		line(exitFaults, means)
	}
	line(exitInterrupted, "interrupted (Ctrl-C)")
	line(exitClosedPipe, "stdout was closed before everything was written, as head does")
	line(exitTerminated, "terminated")
	return b.String()
}
