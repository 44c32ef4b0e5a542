package tablefile

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// scanResult is the scan result of a file as it was then.
type scanResult struct {
	Size    int64           `json:"size"`
	ModTime int64           `json:"mod_time"` // nanoseconds since 1970
	Version string          `json:"version,omitempty"`
	Change  string          `json:"change,omitempty"` // as storage.Change has it
	Table   json.RawMessage `json:"table"`
}

// of reports whether the result is of the file as it is now; change is its storage.Change, or "".
func (r *scanResult) of(f reader, change string) bool {
	return r.Table != nil && r.Size == f.Size() && r.Version == f.Version() &&
		(r.Version != "" || r.ModTime == f.ModTime().UnixNano() && (change == "" || r.Change == "" || r.Change == change))
}

// settledBy reports whether a version of a file written after the given time could be distinguished
// from this one. Stores report times in whole seconds.
func settledBy(f reader, began time.Time) bool {
	age := began.Sub(f.ModTime())
	if v := f.Version(); v != "" {
		return !strings.HasPrefix(v, storage.Modified) || age > 2*plan.Settled
	}
	return age > plan.Settled
}

// freshScan is the scan of a local file that had just changed, when its time did not reveal a
// further change yet. The result is of use for the next run if all of the file was read again, with
// the same bytes, after a change would have got another time: then the scan is of these bytes,
// whatever it had read. Making the set reads it all again, so this costs nothing.
type freshScan struct {
	result scanResult
	again  []atomic.Bool // the chunks that were read again
}

// newFreshScan returns a fresh scan if reading f again could confirm it; nil otherwise. It is called
// at the end of the scan, before anything is read again.
func newFreshScan(f *File, result scanResult, ended time.Time) *freshScan {
	if f.Version() != "" || !settledBy(f, ended) {
		return nil
	}
	return &freshScan{result, make([]atomic.Bool, len(f.scannedRows().chunks))}
}

// read reads a chunk. The formats that are text compare it with what was scanned.
func (f *File) read(ctx context.Context, c *Chunk) error {
	err := f.reader.read(ctx, c)
	if err == nil && f.fresh != nil && c.text != nil && int64(len(*c.text)) == c.Bytes {
		f.fresh.again[c.Index].Store(true)
	}
	return err
}

// confirm returns the result of a fresh scan if it can be saved.
func (f *File) confirm(ctx context.Context) (scanResult, bool) {
	if f.fresh == nil {
		return scanResult{}, false
	}
	for i := range f.fresh.again {
		if !f.fresh.again[i].Load() {
			return scanResult{}, false
		}
	}
	st, err := storage.Stat(ctx, f.path())
	if err != nil || st.Size() != f.fresh.result.Size || st.ModTime().UnixNano() != f.fresh.result.ModTime {
		return scanResult{}, false
	}
	return f.fresh.result, true
}
