package tables

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tfrec/tfrec/internal/storage"
)

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
func newFreshScan(f *tableFile, result scanResult, ended time.Time) *freshScan {
	if f.Version() != "" || !settledBy(f, ended) {
		return nil
	}
	return &freshScan{result, make([]atomic.Bool, len(f.chunks()))}
}

// read reads a chunk. The formats that are text compare it with what was scanned.
func (f *tableFile) read(ctx context.Context, c *openChunk) error {
	err := f.tableReader.read(ctx, c)
	if err == nil && f.fresh != nil && c.text != nil && int64(len(*c.text)) == c.bytes {
		f.fresh.again[c.index].Store(true)
	}
	return err
}

// confirm returns the result of a fresh scan if it can be saved.
func (f *tableFile) confirm(ctx context.Context) (scanResult, bool) {
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
