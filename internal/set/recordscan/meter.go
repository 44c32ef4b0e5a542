package recordscan

import (
	"context"
	"encoding/hex"
	"hash"
	"io"
	"sync/atomic"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// Meter is a file that is hashed as it is read, while what was read is still in
// the cache. It stops when its context does.
type Meter struct {
	Context context.Context
	File    storage.File
	Sum     hash.Hash     // nil: not hashed
	Done    *atomic.Int64 // the number of bytes read is added to it; may be nil
	Rate    *RateLimit    // nil: no limit

	N   int64 // bytes read
	Err error // what ended the reading, but for io.EOF

	changed bool // bytes that went into Sum were wrong
}

// Read implements io.Reader.
func (m *Meter) Read(p []byte) (int, error) {
	if m.Err == nil {
		m.Err = m.Context.Err()
	}
	if m.Err != nil {
		return 0, m.Err
	}
	if m.Err = inject.Fault(m.Context, "read", m.File.Name()); m.Err != nil {
		return 0, m.Err
	}
	n, err := m.File.Read(m.Rate.Part(p))
	if m.Err = m.Rate.Wait(m.Context, n); m.Err != nil {
		return n, m.Err
	}
	m.N += int64(n)
	if m.Done != nil {
		m.Done.Add(int64(n))
	}
	if m.Sum != nil {
		m.Sum.Write(p[:n])
	}
	if err != nil && err != io.EOF {
		m.Err = err
	}
	return n, err
}

// Refetch fetches again what tfrecord found to be damaged.
func (m *Meter) Refetch(p []byte, off int64, good func(p []byte) bool) (bool, error) {
	changed, err := storage.Refetch(m.File, p, off, good)
	m.changed = m.changed || changed
	if err != nil {
		m.Err = err
	}
	return changed, err
}

// Reread reads the file from its beginning again, also for the hash, after tfrecord found it to be
// damaged.
func (m *Meter) Reread(failed error, read func() error) error {
	return storage.RereadFile(m.File, failed, func() error {
		if m.Done != nil {
			m.Done.Add(-m.N)
		}
		if m.Sum != nil {
			m.Sum.Reset()
		}
		m.N = 0
		return read()
	})
}

// Drain reads the rest of the file, for the hash.
func (m *Meter) Drain() {
	_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{m}, make([]byte, 256<<10)) // Read keeps the error
}

// MostRehashed is the maximum number of times that a file is hashed again because its bytes change
// in transit.
const MostRehashed = 3

// Digest returns the hash of a file that was read to its end, in hexadecimal digits. What changed in
// transit is hashed again until the result is the same twice. Err may be set then.
func (m *Meter) Digest() string {
	sum := hex.EncodeToString(m.Sum.Sum(nil))
	for range MostRehashed {
		if !m.Rehash() {
			break
		}
		was := sum
		if sum = hex.EncodeToString(m.Sum.Sum(nil)); sum == was {
			break
		}
	}
	return sum
}

// Rehash hashes the object from its beginning, around all caches, if some of what was hashed had
// changed in transit, and reports whether it did.
func (m *Meter) Rehash() bool {
	if !m.changed || m.Err != nil {
		return false
	}
	st, err := m.File.Stat()
	if m.Err = err; err != nil {
		return false
	}
	is, _ := st.Sys().(storage.Object)
	f, err := storage.Parse(m.File.Name()).OpenListed(storage.Around(m.Context), is)
	if m.Err = err; err != nil {
		return false
	}
	defer f.Close()
	again := Meter{Context: m.Context, File: f, Sum: m.Sum, Rate: m.Rate}
	m.Sum.Reset()
	again.Drain()
	m.N, m.Err = again.N, again.Err
	return m.Err == nil
}

// Left returns how much of the file is still to be read, so that the buffer for a
// large record need not grow. It is 0 where that is not known.
func (m *Meter) Left() int64 {
	st, err := m.File.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0
	}
	at, err := m.File.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return st.Size() - at
}

// Size returns the size of the whole file, or for a pipe the number of bytes read.
func (m *Meter) Size() int64 {
	if st, err := m.File.Stat(); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return m.N
}
