package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/atomicfile"
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

// KeepInputs refuses a list that would take the place of a file of the inputs.
func KeepInputs(ctx context.Context, list string, in []string) error {
	there, err := os.Stat(list)
	if err != nil {
		return nil // a new file
	}
	sources, err := shard.Expand(ctx, in, shard.ExpandOptions{Partial: true})
	if err != nil {
		return err
	}
	for _, s := range sources {
		files := []string{s.Path}
		if s.Set != nil {
			files = append(files, filepath.Join(s.Set.Dir, manifest.File))
		}
		for _, file := range files {
			if st, err := os.Stat(file); err == nil && os.SameFile(st, there) {
				return fmt.Errorf("--report: %s is one of the inputs: give another file", list)
			}
		}
	}
	return nil
}
