package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// Refetch fetches p again, which came from offset off of in and contains damage, bypassing all
// caches, in case the bytes changed in transit. It replaces the bytes of p that differ, and the
// cached blocks that they came from, and reports whether any did; if not, the object itself is
// damaged. A nil good accepts any bytes. Otherwise, while the bytes differ each time and good
// returns false, p is fetched up to 4 times, and then Refetch returns an error that reports this.
//
// Only an object, or what wraps one and has a method Refetch, can be fetched again: for all others,
// such as local files, Refetch returns false.
func Refetch(in any, p []byte, off int64, good func(p []byte) bool) (changed bool, err error) {
	if r, ok := in.(refetcher); ok {
		return r.Refetch(p, off, good)
	}
	return false, nil
}

type refetcher interface {
	Refetch(p []byte, off int64, good func(p []byte) bool) (changed bool, err error)
}

// MostRefetches is the maximum number of further reads of an object whose bytes differ each time.
const MostRefetches = 4

var errUnstable = errors.New("other bytes arrive each time: they change in transit, in the network, a proxy or a faulty machine, and the object itself did not")

// Unstable returns the error for an object of which other bytes came each of MostRefetches times. It
// is an *fs.PathError: a failure of transport, not damage of the object.
func Unstable(path string) error {
	return &fs.PathError{Op: "read", Path: path, Err: errUnstable}
}

// Refetch is the function Refetch for an object.
func (o *object) Refetch(p []byte, off int64, good func(p []byte) bool) (changed bool, err error) {
	if off < 0 || off+int64(len(p)) > o.is.Size {
		return false, nil
	}
	for range MostRefetches {
		differs, err := o.replace(p, off)
		if err != nil || !differs {
			return changed, err
		}
		if changed = true; good == nil || good(p) {
			return true, nil
		}
	}
	return changed, o.failed(fmt.Errorf("bytes %d to %d: %w", off, off+int64(len(p))-1, errUnstable))
}

// replace fetches p, which is at off, and reports whether other bytes came.
func (o *object) replace(p []byte, off int64) (differs bool, err error) {
	buffer := buffers.Get().(*[partSize]byte)
	defer buffers.Put(buffer)
	around := o.around()
	for at := 0; at < len(p); at += partSize {
		old := p[at:min(at+partSize, len(p))]
		fresh, begin := buffer[:len(old)], off+int64(at)
		if err := around.download(fresh, begin); err != nil {
			return differs, err
		}
		if bytes.Equal(old, fresh) {
			continue
		}
		differs = true
		copy(old, fresh)
		o.ahead.correct(fresh, begin)
		around.renew(o.cached, begin, begin+int64(len(fresh)))
		CountHarm(o.at.String(), begin, int64(len(fresh)))
	}
	return differs, nil
}

// around returns o for requests that no cache may answer, neither one of ours nor one on the way.
func (o *object) around() *object {
	return &object{at: o.at, store: o.store, is: o.is, ctx: Around(o.ctx)}
}

// Around returns a context with which opened objects are read from the store, bypassing all caches.
// The blocks that are read are dropped from the cache in use.
func Around(ctx context.Context) context.Context { return context.WithValue(ctx, aroundKey{}, true) }

type aroundKey struct{}

// AroundCaches reports whether a request is one that caches on the way to the store must not
// answer.
func AroundCaches(ctx context.Context) bool { return ctx.Value(aroundKey{}) != nil }

// renew replaces the blocks with the bytes from begin to end in a cache, which may be nil. One that
// cannot be fetched is removed.
func (o *object) renew(c *cached, begin, end int64) {
	if c == nil {
		return
	}
	buffer := firsts.Get().(*[firstPart]byte)
	defer firsts.Put(buffer)
	for block := begin / blockSize; block*blockSize < end; block++ {
		os.Remove(c.path(block))
		data := buffer[:min(blockSize, o.is.Size-block*blockSize)]
		if o.download(data, block*blockSize) == nil {
			c.keep(block, data)
		}
	}
}

// drop removes the blocks with the bytes from begin to end from the cache.
func (o *object) drop(begin, end int64) {
	if o.cached == nil {
		return
	}
	for block := begin / blockSize; block*blockSize < end; block++ {
		os.Remove(o.cached.path(block))
	}
}

// correct replaces what was read ahead from off on.
func (a *ahead) correct(fresh []byte, off int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.parts {
		begin, end := max(p.begin, off), min(p.end(), off+int64(len(fresh)))
		if begin < end && p.isReady() && p.err == nil {
			copy(p.data[begin-p.offset:end-p.offset], fresh[begin-off:])
		}
	}
}

// Refetch also corrects the bytes that the next read may begin with.
func (f *forward) Refetch(p []byte, off int64, good func(p []byte) bool) (changed bool, err error) {
	if changed, err = f.object.Refetch(p, off, good); changed {
		f.tail = f.tail[:0]
	}
	return changed, err
}

// harms counts the times that bytes were fetched again since they had changed in transit.
var harms struct {
	n    atomic.Int64
	note atomic.Pointer[func(string)]
}

// NoteHarm has note called, by any goroutine, when bytes of an object arrived changed and were
// fetched again: the 1st, 2nd, 4th, 8th, ... time in this process. There may be one note at a time:
// stop removes it.
func NoteHarm(note func(string)) (stop func()) {
	harms.note.Store(&note)
	return func() { harms.note.CompareAndSwap(&note, nil) }
}

// Harmed returns how often bytes of objects arrived changed in this process, and were fetched again.
func Harmed() int64 { return harms.n.Load() }

// CountHarm counts length bytes at off of an object that arrived changed; a length of 0 is
// anywhere.
func CountHarm(name string, off, length int64) {
	n := harms.n.Add(1)
	note := harms.note.Load()
	if note == nil || n&(n-1) != 0 {
		return
	}
	times := ""
	if n > 1 {
		times = fmt.Sprintf(" (%d times in this run)", n)
	}
	where := fmt.Sprintf("some of bytes %d to %d", off, off+length-1)
	if length == 0 {
		where = "some of its bytes"
	}
	(*note)(fmt.Sprintf("%s: %s changed in transit or in a cache, not in the object, and were fetched again%s: check the network, proxies and memory",
		name, where, times))
}
