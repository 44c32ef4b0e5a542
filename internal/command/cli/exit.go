package cli

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

// Exit codes. A script may rely on them; interface.md of the design and every command's help list
// the same.
const (
	ExitFine        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitFaults      = 3
	ExitInterrupted = 130 // 128 + SIGINT
	ExitClosedPipe  = 141 // 128 + SIGPIPE
	ExitTerminated  = 143 // 128 + SIGTERM
)

// maxUsage bounds the text of a usage error on stderr, in bytes.
const maxUsage = 1000

// wrongUsage is an error in how the command was called: exit code 2.
type wrongUsage struct {
	err  error
	help string // printed after the error; "" for a hint at --help
}

func (e *wrongUsage) Error() string { return e.err.Error() }
func (e *wrongUsage) Unwrap() error { return e.err }

// UsageError returns an error for wrong usage of the command (exit code 2). A hint at --help is
// added when it is printed.
func UsageError(format string, args ...any) error {
	return &wrongUsage{err: fmt.Errorf(format, args...)}
}

// dataFaults is an error in the data: exit code 3.
type dataFaults struct{ err error }

func (e *dataFaults) Error() string { return e.err.Error() }
func (e *dataFaults) Unwrap() error { return e.err }

// FaultError returns an error for faults in the data (exit code 3). An err with an empty text
// prints nothing, because the faults have already been printed.
func FaultError(err error) error { return &dataFaults{err: err} }

// Interrupted is the cause of a context that a signal cancelled.
type Interrupted struct{ Signal os.Signal }

func (e *Interrupted) Error() string { return e.Signal.String() }

// ErrClosedPipe means that the reader of stdout, such as head, has closed it.
var ErrClosedPipe = errors.New("stdout is closed")

// ExitCode maps the error of a command to the exit code. No other function does so.
func ExitCode(ctx context.Context, err error) int {
	var wrong *wrongUsage
	var option *shard.OptionError
	var bad *dataFaults
	var stopped *Interrupted
	switch {
	case err == nil:
		return ExitFine
	case errors.As(context.Cause(ctx), &stopped):
		if stopped.Signal == syscall.SIGTERM {
			return ExitTerminated
		}
		return ExitInterrupted
	case errors.Is(err, ErrClosedPipe):
		return ExitClosedPipe
	case errors.As(err, &wrong), errors.As(err, &option):
		return ExitUsage
	case errors.As(err, &bad):
		return ExitFaults
	default:
		return ExitFailed
	}
}

// Report prints an error for the user: one line, and for wrong usage a second one that names the
// help.
func Report(ctx context.Context, stderr io.Writer, cmd *cobra.Command, err error) {
	if err == nil {
		return
	}
	text := err.Error()
	switch code := ExitCode(ctx, err); {
	case code == ExitClosedPipe: // no reason to complain
	case code == ExitUsage:
		if len(text) > maxUsage {
			text = strings.ToValidUTF8(text[:maxUsage], "") + "..."
		}
		fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), text)
		if wrong := new(wrongUsage); errors.As(err, &wrong) && wrong.help != "" {
			fmt.Fprint(stderr, wrong.help)
		} else {
			fmt.Fprintf(stderr, "Run '%s --help' for how it is used.\n", cmd.CommandPath())
		}
	case (code == ExitInterrupted || code == ExitTerminated) && isStop(ctx, err):
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
		if then := Remedy(cmd, err); then != "" {
			fmt.Fprintf(stderr, "%s: %s\n", cmd.CommandPath(), then)
		}
	}
}

// isStop reports whether an error only means that the context has ended.
func isStop(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))
}

// FaultsMean is the annotation of a command with the meaning of exit code 3. Commands that read no
// data have none.
const FaultsMean = "faults"

// exitMeaning is an exit code and its meaning, in a word and in a line.
type exitMeaning struct {
	code        int
	short, long string
}

// exitCodes returns the exit codes of a command.
func exitCodes(cmd *cobra.Command) []exitMeaning {
	codes := []exitMeaning{
		{ExitFine, "fine", "fine"},
		{ExitFailed, "failed", "failed: missing or empty input, I/O error, refused"},
		{ExitUsage, "wrong usage", "wrong usage: unknown verb, flag or value"},
	}
	if means := cmd.Annotations[FaultsMean]; means != "" {
		codes = append(codes, exitMeaning{ExitFaults, "faults in the data", means})
	}
	return append(codes,
		exitMeaning{ExitInterrupted, "interrupted", "interrupted (Ctrl-C)"},
		exitMeaning{ExitClosedPipe, "closed pipe", "stdout was closed before everything was written, as head does"},
		exitMeaning{ExitTerminated, "terminated", "terminated"})
}

// ExitHelp is the list of exit codes at the end of all help of a command.
func ExitHelp(cmd *cobra.Command) string {
	var b strings.Builder
	for _, c := range exitCodes(cmd) {
		fmt.Fprintf(&b, "  %-3d  %s\n", c.code, c.long)
	}
	return b.String()
}
