package filetree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// Write writes the files of an export.
type Write func(ctx context.Context, files Files) error

// Export has files written below a directory next to out, which is then renamed to out; in
// a store, below out.
func Export(ctx context.Context, out string, write Write, o *spec.Options, report *spec.Report) (err error) {
	if at := storage.Parse(out); at.Remote() {
		return exportToStore(ctx, at, write, o, report)
	}
	taken, err := isTaken(out)
	if err != nil {
		return err
	}
	if taken {
		o.Notef("%s exists: comparing it with what would be written", out)
		sweep(out)
		report.Status = spec.UpToDate
		err := writeBelow(ctx, out, write, taken, report)
		if errors.Is(err, compare.ErrDiffers) {
			err = output.Differs(out, "")
		}
		return err
	}
	temp, done, err := WorkDirectory(out)
	if err != nil {
		return err
	}
	defer done()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := writeBelow(ctx, temp, write, taken, report); err != nil {
		return err
	}
	if err := os.Chmod(temp, atomicfile.Mode(0o777)); err != nil {
		return err
	}
	return publishDirectory(temp, out)
}

// isTaken reports whether a directory exists and is not empty: an earlier export may have written it.
// It returns an error if no directory can be written there.
func isTaken(out string) (bool, error) {
	if err := storage.CheckOutput(out); err != nil {
		return false, err
	}
	st, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, atomicfile.CheckDirectory(out)
	case err != nil:
		return false, err
	case !st.IsDir():
		return false, output.Differs(out, "it is not a directory")
	}
	entries, err := os.ReadDir(out)
	return len(entries) > 0, err
}

// publishDirectory gives a finished directory its name. An empty directory of that name
// makes way; anything else makes it fail.
func publishDirectory(temp, out string) error {
	taken, err := isTaken(out)
	if err == nil && taken {
		err = output.Differs(out, "")
	}
	if err != nil {
		return err
	}
	err = os.Remove(out)
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Rename(temp, out)
	if err == nil {
		if err = atomicfile.SyncDir(filepath.Dir(out)); err == nil {
			return nil
		}
		err = errors.Join(err, os.Rename(out, temp))
	}
	if existed {
		err = errors.Join(err, os.Mkdir(out, 0o755))
	}
	return err
}

// writeBelow has files written below dir and synced or, where it is finished, compared.
func writeBelow(ctx context.Context, dir string, write Write, finished bool, report *spec.Report) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return write(ctx, Below(root, finished, report))
}

// Below returns the files of an export in a directory. If it is finished, they are compared.
func Below(root *os.Root, finished bool, report *spec.Report) Files {
	return Files{Tree: &localTree{root, finished}, Report: report}
}
