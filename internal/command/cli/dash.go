package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Dash is the argument that means stdin or stdout where a stream makes sense.
const Dash = "-"

// ReadsStdin is the annotation of a command whose one PATH may be a dash.
const ReadsStdin = "stdin"

// HandleDashes makes the commands that read streams accept a dash for stdin, and all others return
// an error for it. A dash never means a file of that name.
func HandleDashes(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		HandleDashes(below)
	}
	check, run := cmd.Args, cmd.RunE
	if check == nil || run == nil || cmd.DisableFlagParsing {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return err
		}
		return CheckDashes(cmd, args)
	}
	if _, ok := cmd.Annotations[ReadsStdin]; ok {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, Dash) {
				args = []string{os.Stdin.Name()}
			}
			return run(cmd, args)
		}
	}
}

// CheckDashes returns an error for dashes in places where a stream is not supported.
func CheckDashes(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		if f.Value.String() == Dash && f.Name != "plan-only" && f.Name != "vocab" && (kind == "DIR" || slices.Contains(fileKinds, kind)) {
			err = DashError(f.Name)
		}
	})
	at := slices.Index(args, Dash)
	if err != nil || at < 0 {
		return err
	}
	_, stream := cmd.Annotations[ReadsStdin]
	path := cmd.CommandPath()
	switch table := strings.HasSuffix(path, " convert csv") || strings.HasSuffix(path, " convert table"); {
	case table && len(args) <= 2 && at == 0, stream && len(args) == 1:
		if stream && runtime.GOOS == "windows" {
			return UsageError("-: Windows cannot open stdin as a file; name a file")
		}
		return nil
	case table && at < len(args)-1, stream:
		return UsageError("-: stdin must be the only input")
	}
	verb := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if at == len(args)-1 && at > 0 && strings.Contains(cmd.Use, " OUT") {
		return UsageError("-: OUT of %s cannot be stdout; name a file or directory (./- for one of that name)", verb)
	}
	return UsageError("-: %s can use neither stdin nor stdout here; name a file or directory (./- for one of that name)", verb)
}

// DashError returns the error for a dash as the value of a flag that wants a file.
func DashError(flag string) error {
	return UsageError("--%s -: it can be neither stdin nor stdout; name a file", flag)
}

// IsPipe reports whether a path is a pipe, such as a FIFO or the /dev/fd/63 of a shell.
func IsPipe(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&fs.ModeNamedPipe != 0
}

// Spooled maps files that pipes were copied to, to the names that the user gave for the pipes.
type Spooled map[string]string

// Name gives pipes their own names in an error.
func (s Spooled) Name(err error) error {
	if err == nil || len(s) == 0 {
		return err
	}
	text := err.Error()
	for file, name := range s {
		text = strings.ReplaceAll(text, file, name)
	}
	return &namedError{text, err}
}

// namedError is an error with other names in its text.
type namedError struct {
	text string
	err  error
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.err }

// Spool copies a pipe, or stdin for a dash, to a file of its name in dir, or below it where
// another one has the name.
func Spool(cmd *cobra.Command, src, dir string) (file string, err error) {
	name, in := "stdin", io.NopCloser(cmd.InOrStdin())
	if src != Dash {
		name = filepath.Base(src)
		if in, err = storage.OpenStream(cmd.Context(), src); err != nil {
			return "", err
		}
		defer in.Close()
	}
	file = filepath.Join(dir, name)
	if _, err := os.Lstat(file); err == nil {
		if dir, err = os.MkdirTemp(dir, ""); err != nil {
			return "", err
		}
		file = filepath.Join(dir, name)
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	copied := make(chan error, 1)
	go func() { // a read of stdin that blocks does not notice an interrupt
		_, err := io.Copy(f, in)
		if closed := f.Close(); err == nil {
			err = closed
		}
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-cmd.Context().Done():
		err = context.Cause(cmd.Context())
	}
	if err != nil {
		return "", fmt.Errorf("copy %s to a file: %w", name, err)
	}
	return file, nil
}
