package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/spelling"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Remedy returns advice for an error; empty if the error contains it or the remedy is unknown.
func Remedy(cmd *cobra.Command, err error) string {
	var bad *convert.BadSamplesError
	if errors.As(err, &bad) {
		const what = "fix or remove them, and run the same command again"
		if bad.Summary.Records == 0 { // skipping them leaves nothing
			return what
		}
		return what + "; --max-errors N|P% skips them"
	}
	for _, of := range []string{incompleteRemedy(cmd, err), foreignRemedy(err), PathRemedy(cmd, err)} {
		if of != "" {
			return of
		}
	}
	return ""
}

// PathRemedy returns the advice for an error of the operating system about a path.
func PathRemedy(cmd *cobra.Command, err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, syscall.ENOSPC) && errors.As(err, &at) && at.Path == os.Stdout.Name():
		return "free space where stdout goes, or send it elsewhere; then run the same command again"
	case errors.Is(err, syscall.ENOSPC) && errors.As(err, &at) && isTemporary(at.Path):
		return "free space there, or set TMPDIR to a directory that has more; then run the same command again"
	case errors.Is(err, syscall.ENOSPC):
		return "free space there, or choose another directory; then run the same command again"
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit of open files, as with ulimit -n 1024; then run the same command again"
	case errors.Is(err, syscall.EROFS):
		return "the file system is mounted read-only: choose another directory"
	case errors.Is(err, fs.ErrPermission):
		return "change its permissions, or run tfrec as a user who has them"
	}
	if !errors.As(err, &at) || !errors.Is(err, fs.ErrNotExist) || storage.Remote(at.Path) || !isGiven(cmd, at.Path) {
		return ""
	}
	dir, base := filepath.Split(filepath.Clean(at.Path))
	if dir == "" {
		dir = "."
	}
	near, least := "", 3
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Sprintf("directory %s does not exist either", printable.String(filepath.Clean(dir)))
	}
	for _, e := range entries {
		if d := spelling.Distance(e.Name(), base); d < least && d < len(base) {
			near, least = e.Name(), d
		}
	}
	if near != "" {
		return fmt.Sprintf("did you mean %s?", printable.String(filepath.Join(dir, near)))
	}
	if filepath.IsAbs(at.Path) {
		return "check the path"
	}
	here, err := os.Getwd()
	if err != nil {
		return "check the path"
	}
	return "check the path, which is relative to " + printable.String(here)
}

// isTemporary reports whether a file is a temporary one of tfrec's own.
func isTemporary(path string) bool {
	name, err := filepath.Rel(os.TempDir(), path)
	return err == nil && strings.HasPrefix(name, "tfrec-")
}

// isGiven reports whether a path is one that the command line names.
func isGiven(cmd *cobra.Command, path string) bool {
	args, _ := cmd.Context().Value(ArgsKey{}).([]string)
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		if arg != "" && filepath.Clean(arg) == filepath.Clean(path) {
			return true
		}
	}
	return false
}
