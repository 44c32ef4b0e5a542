package tablefile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
)

// ScanFile is the state file with the results of scanning, so that a run with nothing to do need
// not read the input.
const ScanFile = "scan.json"

// scanState is the content of ScanFile.
type scanState struct {
	// Options that the scan result depends on.
	Options string                `json:"options"`
	Files   map[string]scanResult `json:"files"` // by absolute path or URL
}

// changeOf returns the storage.Change of a file on disk; "" if it has none, or with TrustTimes.
func (o *Options) changeOf(f reader) string {
	st, err := os.Stat(f.Name())
	if err != nil || o.TrustTimes || f.Version() != "" {
		return ""
	}
	return storage.Change(st)
}

// Scan finds the kinds of columns and the boundaries of rows. For unchanged files it takes them
// from the state of an earlier run into the directory out, if one is given.
func (t *Tables) Scan(ctx context.Context, out string) error {
	options, err := t.format.scanOptions()
	if err != nil {
		return err
	}
	t.state = scanState{Options: options, Files: map[string]scanResult{}}
	var before scanState
	if !t.o.HashInputs && out != "" {
		before = readScan(ctx, out)
	}
	t.Account = account.Account{}
	for _, f := range t.Files {
		result := before.Files[f.path()]
		if before.Options == options && result.of(f, t.o.changeOf(f)) && f.restore(result.Table) {
			t.state.Files[f.path()] = result
		} else if err := t.scanFile(ctx, f); err != nil {
			return err
		}
		f.take()
		f.FirstRow = t.Rows
		t.Rows, t.Bytes = t.Rows+f.scanned.rows, t.Bytes+f.scanned.bytes
		if n := f.scanned.blank; n > 0 {
			t.Account.AddMany(account.Blank, n, f.As)
		}
	}
	if t.Rows == 0 {
		return fmt.Errorf("%s: %s: nothing to convert", t.Files[0].Name(), t.format.noRows())
	}
	t.Columns, err = t.format.merge(t.Files)
	return err
}

// scanFile scans a file, and keeps the result if a later change of the file can be recognised.
func (t *Tables) scanFile(ctx context.Context, f *File) error {
	began, change := t.Now(), t.o.changeOf(f)
	var table json.RawMessage
	err := storage.Reread(ctx, f.Name(), func(ctx context.Context) (err error) {
		table, err = f.scan(ctx)
		return err
	})
	if err != nil {
		return err
	}
	result := scanResult{Size: f.Size(), ModTime: f.ModTime().UnixNano(), Version: f.Version(), Change: change, Table: table}
	if settledBy(f, began) {
		t.state.Files[f.path()] = result
	} else {
		f.fresh = newFreshScan(f, result, t.Now())
	}
	return nil
}

// Save saves the results of scanning in the state of a set, for its next run, unless it has.
func (t *Tables) Save(dir *setdir.Dir) {
	for _, f := range t.Files {
		if result, ok := f.confirm(dir.Context()); ok {
			t.state.Files[f.path()], f.fresh = result, nil
		}
	}
	if n := len(t.state.Files); n > t.saved {
		// Without it the next run takes longer: an error is ignored.
		_ = dir.State().Put(ScanFile, t.state)
		t.saved = n
	}
}

// readScan reads the state of earlier scans; a failure is never an error.
func readScan(ctx context.Context, out string) scanState {
	var s scanState
	data, err := storage.ReadFile(ctx, storage.Join(out, shard.StateDir, ScanFile), setdir.MaxState)
	if err != nil || setdir.DecodeState(data, &s) != nil {
		return scanState{}
	}
	return s
}
