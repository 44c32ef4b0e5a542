package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// LinesFile is a file of JSON lines that is written atomically.
type LinesFile struct {
	path string
	file *os.File
	buf  *bufio.Writer
	to   *json.Encoder // to buf
}

// NewLinesFile begins a file, which gets its name when it is placed.
func NewLinesFile(path string) (*LinesFile, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	w := &LinesFile{path: path, file: file, buf: bufio.NewWriter(file)}
	w.to = json.NewEncoder(w.buf)
	w.to.SetEscapeHTML(false)
	return w, nil
}

// Add adds a line.
func (w *LinesFile) Add(v any) error {
	return w.to.Encode(v)
}

// Place gives the file its name, in place of one that has it.
func (w *LinesFile) Place() error {
	if err := w.buf.Flush(); err != nil {
		return err
	}
	return atomicfile.Place(w.file, w.path)
}

// Discard removes what was not placed.
func (w *LinesFile) Discard() { atomicfile.Discard(w.file) }

// CheckReport returns an error if the list of --report cannot be written: it is in an object store,
// for instance, or would replace a file of the inputs.
func CheckReport(ctx context.Context, list string, in []string) error {
	exists, err := output.FindLocal(ctx, list)
	if err == nil && exists {
		var inputs []string
		if inputs, err = filesOf(ctx, in); err != nil {
			return err
		}
		err = output.NotInput(ctx, list, inputs...)
	}
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// filesOf returns the files of records that paths refer to, and their manifests.
func filesOf(ctx context.Context, paths []string) ([]string, error) {
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: true})
	if err != nil {
		return nil, err
	}
	var files []string
	for _, s := range sources {
		files = append(files, s.Path)
		if s.Set != nil {
			files = append(files, storage.Join(s.Set.Dir, manifest.File))
		}
	}
	return files, nil
}
