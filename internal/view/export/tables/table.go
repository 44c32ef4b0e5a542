package tables

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// table writes records as rows of a survey's columns.
type table interface {
	// row adds a record: a feature for each column, of KindNone where it has none.
	row(cells []tfrecord.Feature) error
	// close writes the buffered rest. It is called once, and not after an error.
	close() error
}

// Write writes the records to a file in a directory next to out, and then renames it to out;
// in a store, to an object that gets its name when it is complete.
func Write(ctx context.Context, in *input.Records, out string, o *spec.Options, report *spec.Report) (err error) {
	at := storage.Parse(out)
	taken, err := output.Find(ctx, out)
	if err != nil {
		return err
	}
	if taken {
		o.Notef("%s exists: comparing it with what would be written", out)
	}
	if o.Progress != nil {
		o.Progress.Planned.Add(2 * in.Size)
	}
	s, err := scanInput(ctx, in, o)
	if err != nil {
		return err
	}
	if len(in.Splits) > 1 {
		o.Notef("the splits %s go into one file, one after another, which does not distinguish them; give a glob to export one", strings.Join(in.Splits, ", "))
	}
	temp, done, err := filetree.WorkDirectory(out)
	if err != nil {
		return err
	}
	defer done()
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	report.Records, report.Files = s.records, 1
	if taken {
		report.Status = spec.UpToDate
		report.Bytes, err = compareTable(ctx, in, at, temp, s, o)
		return err
	}
	if at.Remote() {
		report.Bytes, err = uploadTable(ctx, in, at, temp, s, o)
		return err
	}
	f, err := os.Create(filepath.Join(temp, "table"))
	if err != nil {
		return err
	}
	defer f.Close() // publishFile has closed it when all went well
	if err := writeTable(ctx, in, f, temp, s, o); err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	report.Bytes = st.Size()
	return publishFile(f, out)
}

// publishFile gives a finished file its name.
func publishFile(f *os.File, out string) error {
	if err := output.MustBeFree(out); err != nil {
		return err
	}
	if err := atomicfile.Rename(f, out); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(filepath.Dir(out)); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	return nil
}

// compareTable compares out with the file that the records make, and returns its
// size.
func compareTable(ctx context.Context, in *input.Records, out storage.Location, temp string, s *inputScan, o *spec.Options) (int64, error) {
	f, err := out.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	same := compare.NewWriter(f)
	same.Strict = true
	err = writeTable(ctx, in, same, temp, s, o)
	if err == nil {
		err = same.Finish()
	}
	switch {
	case same.Differs():
		return 0, output.Differs(out.Path(), "")
	case err != nil:
		return 0, err
	}
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// uploadTable writes a table to a store, and returns its size.
func uploadTable(ctx context.Context, in *input.Records, at storage.Location, temp string, s *inputScan, o *spec.Options) (int64, error) {
	f, err := filetree.NewStoreFile(ctx, at)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if err := writeTable(ctx, in, f, temp, s, o); err != nil {
		return 0, err
	}
	if err := f.Commit(); errors.Is(err, compare.ErrDiffers) {
		return 0, output.Differs(at.Path(), "")
	} else if err != nil {
		return 0, err
	}
	return f.Bytes, nil
}

// writeTable writes the records to a file.
func writeTable(ctx context.Context, in *input.Records, to io.Writer, temp string, s *inputScan, o *spec.Options) error {
	w := bufio.NewWriterSize(to, 1<<18)
	t, err := newTable(w, temp, s, o)
	if err != nil {
		return err
	}
	var cells []tfrecord.Feature
	records, err := in.Each(ctx, o.Progress, func(r *input.Row) error {
		var err error
		if cells, err = s.cells(cells, r); err != nil {
			return err
		}
		return t.row(cells)
	})
	if err != nil {
		return err
	}
	if records != s.records {
		return input.ErrChanged
	}
	if err := t.close(); err != nil {
		return err
	}
	return w.Flush()
}

func newTable(w io.Writer, temp string, s *inputScan, o *spec.Options) (table, error) {
	switch o.Format {
	case spec.CSV:
		return newCSV(w, s, o.Safe)
	case spec.JSONL:
		return newJSONL(w, s)
	case spec.Parquet:
		return newParquet(w, s)
	case spec.NPZ:
		return newNPZ(w, temp, s)
	}
	return nil, fmt.Errorf("unknown format %q", o.Format)
}
