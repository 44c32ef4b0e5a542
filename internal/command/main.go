// Package command is the command tfrec: what its main functions, with and without object storage, have
// in common. Each verb has a file here that parses flags, calls a package and prints; conversions have a
// package below. Results go to stdout, everything else to stderr. What verbs share is in cli (flags, exit
// codes, progress), text and formats.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tfrec/tfrec/internal/command/cli"
	"github.com/tfrec/tfrec/internal/command/conversion"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Main runs the command with the process's arguments, and returns the exit code.
func Main() int { return MainWith(nil) }

// MainWith is Main for a command whose conversions an engine carries out; nil is
// none.
func MainWith(e *Engine) int {
	NameFlags()
	// A closed pipe is an error to report, not a death by signal.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := interruptible(context.Background())
	defer stop()
	return runWith(ctx, e, os.Args[1:], os.Stdout, os.Stderr)
}

// NameFlags makes all texts name options by their flags. It must be called before a text is rendered.
func NameFlags() { optname.ForCommand(conversion.FieldFlags()) }

// run runs the command with the given arguments and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runWith(ctx, nil, args, stdout, stderr)
}

// runWith is run with an engine.
func runWith(ctx context.Context, e *Engine, args []string, stdout, stderr io.Writer) int {
	for i, arg := range args {
		args[i] = storage.Local(arg) // file:///a is /a, also in output
	}
	out := cli.NewResultWriter(stdout)
	errs := printable.NewWriter(stderr)
	storage.OnSilence(func(store string, since time.Duration) {
		fmt.Fprintf(errs, "tfrec: %s has not answered for %v; requests are made again\n", store, since)
	})
	defer storage.OnSilence(nil)
	root := newRootCommand(e)
	if e != nil {
		e.Args = args
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	cmd, err := root.ExecuteContextC(context.WithValue(ctx, cli.ArgsKey{}, args))
	out.Flush()
	if out.Err != nil && cli.ExitCode(ctx, err) != cli.ExitUsage {
		err = out.Err // what went before it is its consequence
		if errors.Is(err, syscall.EPIPE) {
			err = cli.ErrClosedPipe
		}
	}
	cli.Report(ctx, errs, cmd, err)
	_ = errs.Flush() // nowhere to report it
	return cli.ExitCode(ctx, err)
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels,
// with the signal as its cause. A second signal ends the process at once.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	run, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(&cli.Interrupted{Signal: s})
		case <-run.Done():
		}
	}()
	return storage.WithPromptCleanup(run), func() { cancel(nil) }
}
