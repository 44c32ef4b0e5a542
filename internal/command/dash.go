package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// dash stands for stdin or stdout where a stream makes sense.
const dash = "-"

// readsStdin is the annotation of a command whose one PATH may be a dash.
const readsStdin = "stdin"

// handleDashes has the commands that read streams take a dash for stdin, and all
// others refuse it: none of them means a file of that name.
func handleDashes(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		handleDashes(below)
	}
	check, run := cmd.Args, cmd.RunE
	if check == nil || run == nil || cmd.DisableFlagParsing {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err
		}
		return checkDashes(cmd, args)
	}
	if _, ok := cmd.Annotations[readsStdin]; ok {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, dash) {
				args = []string{os.Stdin.Name()}
			}
			return run(cmd, args)
		}
	}
}

// checkDashes refuses dashes that do not stand for a stream.
func checkDashes(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		if f.Value.String() == dash && f.Name != "plan-only" && f.Name != "vocab" && (kind == "DIR" || slices.Contains(fileKinds, kind)) {
			err = usageError("--%s -: it can be neither stdin nor stdout; name a file", f.Name)
		}
	})
	at := slices.Index(args, dash)
	if err != nil || at < 0 {
		return err
	}
	_, stream := cmd.Annotations[readsStdin]
	switch table := cmd.CommandPath() == cmd.Root().Name()+" convert csv"; {
	case table && len(args) <= 2 && at == 0, stream && len(args) == 1:
		if stream && runtime.GOOS == "windows" {
			return usageError("-: Windows cannot open stdin as a file; name a file")
		}
		return nil
	case table && at < len(args)-1, stream:
		return usageError("-: stdin must be the only input")
	}
	return usageError("-: %s can use neither stdin nor stdout here; name a file or directory (./- for one of that name)", cmd.Name())
}

// spoolStdin copies stdin to a temporary file, for a conversion that reads its input
// more than once. The caller removes the directory that the file is in.
func spoolStdin(ctx context.Context, stdin io.Reader) (file, dir string, err error) {
	if dir, err = os.MkdirTemp("", "tfrec-stdin-*"); err != nil {
		return "", "", err
	}
	f, err := os.Create(filepath.Join(dir, "stdin"))
	if err != nil {
		return "", dir, err
	}
	copied := make(chan error, 1)
	go func() { // which a read that blocks does not keep from being interrupted
		_, err := io.Copy(f, stdin)
		if closed := f.Close(); err == nil {
			err = closed
		}
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("copy stdin: %w", err)
	}
	return f.Name(), dir, err
}
