package card

import (
	"context"

	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Status is the state of a file of a card.
type Status string

// The states of files.
const (
	Written  Status = "written"
	UpToDate Status = "up_to_date"
	Missing  Status = "missing" // found by a check
	Differs  Status = "differs" // found by a check
)

// Result is what Write did with a file, or found.
type Result struct {
	Path   string `json:"path"`
	Status Status `json:"status"`
	Bytes  int64  `json:"bytes"` // of the file of the card
}

// WriteOptions are the options of Write.
type WriteOptions struct {
	// Overwrite replaces files that differ.
	Overwrite bool
	// Check compares, and writes nothing.
	Check bool
}

// Write writes the files of a card into a directory, which may be the URL of one in an object store.
// An existing file with other content is an error before anything is written, unless one of the
// options is set.
func Write(ctx context.Context, dir string, files []File, o WriteOptions) ([]Result, error) {
	results := make([]Result, len(files))
	for i, f := range files {
		path := storage.Join(dir, f.Name)
		status, err := compare(ctx, path, f.Data)
		if err != nil {
			return nil, err
		}
		if status == Differs && !o.Check && !o.Overwrite {
			return nil, output.Differs(path, "")
		}
		results[i] = Result{path, status, int64(len(f.Data))}
	}
	if o.Check {
		return results, nil
	}
	for i, f := range files {
		r := &results[i]
		if r.Status == UpToDate {
			continue
		}
		if err := output.Put(ctx, r.Path, f.Data, o.Overwrite); err != nil {
			return nil, err
		}
		r.Status = Written
	}
	return results, nil
}

// compare compares a file with the bytes that it should have.
func compare(ctx context.Context, path string, data []byte) (Status, error) {
	exists, err := output.Find(ctx, path)
	if err != nil || !exists {
		return Missing, err
	}
	has, err := output.Has(ctx, path, data)
	switch {
	case err != nil:
		return "", err
	case has:
		return UpToDate, nil
	}
	return Differs, nil
}
