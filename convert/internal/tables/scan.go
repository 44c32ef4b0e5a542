package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/account"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// scanFile is the state file with the results of scanning, so that a run with nothing to do need
// not read the input.
const scanFile = "scan.json"

// scanState is the content of scanFile.
type scanState struct {
	// Options that the scan result depends on.
	Options string                `json:"options"`
	Files   map[string]scanResult `json:"files"` // by absolute path or URL
}

// scanResult is the scan result of a file as it was then.
type scanResult struct {
	Size    int64           `json:"size"`
	ModTime int64           `json:"mod_time"` // nanoseconds since 1970
	Version string          `json:"version,omitempty"`
	Change  string          `json:"change,omitempty"` // as storage.Change has it
	Table   json.RawMessage `json:"table"`
}

// of reports whether the result is of the file as it is now; change is its storage.Change, or "".
func (r *scanResult) of(f tableReader, change string) bool {
	return r.Table != nil && r.Size == f.Size() && r.Version == f.Version() &&
		(r.Version != "" || r.ModTime == f.ModTime().UnixNano() && (change == "" || r.Change == "" || r.Change == change))
}

// changeOf returns the storage.Change of a file on disk; "" if it has none, or o does not care.
func (o *TableOptions) changeOf(f tableReader) string {
	st, err := os.Stat(f.Name())
	if err != nil || o.TrustTimes || f.Version() != "" {
		return ""
	}
	return storage.Change(st)
}

// settledBy reports whether a version of a file written after the given time could be distinguished
// from this one. Stores report times in whole seconds.
func settledBy(f tableReader, began time.Time) bool {
	age := began.Sub(f.ModTime())
	if v := f.Version(); v != "" {
		return !strings.HasPrefix(v, storage.Modified) || age > 2*plan.Settled
	}
	return age > plan.Settled
}

// scan finds the column types and row boundaries. For unchanged files it takes them from the state
// of an earlier run into the directory out, if one is given.
func (t *tables) scan(ctx context.Context, o *TableOptions, out string) error {
	options, err := t.format.scanOptions()
	if err != nil {
		return err
	}
	t.scanned = scanState{Options: options, Files: map[string]scanResult{}}
	var before scanState
	if !o.HashInputs && out != "" {
		before = readScan(ctx, out)
	}
	t.account = account.Account{}
	for _, f := range t.files {
		path := f.path()
		result := before.Files[path]
		if before.Options == options && result.of(f, o.changeOf(f)) && f.restore(result.Table) {
			t.scanned.Files[path] = result
		} else {
			began, change := t.now(), o.changeOf(f)
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
				t.scanned.Files[path] = result
			} else {
				f.fresh = newFreshScan(f, result, t.now())
			}
		}
		n := f.counts()
		f.firstRow = t.rows
		t.rows, t.bytes = t.rows+n.rows, t.bytes+n.bytes
		if n.blank > 0 {
			t.account.AddMany(account.Blank, n.blank, f.name)
		}
	}
	if t.rows == 0 {
		return fmt.Errorf("%s: %s: nothing to convert", t.files[0].Name(), t.format.noRows())
	}
	t.columns, err = t.format.merge(t.files)
	return err
}

// readScan reads the state of earlier scans; a failure is never an error.
func readScan(ctx context.Context, out string) scanState {
	var s scanState
	data, err := storage.ReadFile(ctx, storage.Join(out, shard.StateDir, scanFile), setdir.MaxState)
	if err != nil || setdir.DecodeState(data, &s) != nil {
		return scanState{}
	}
	return s
}
