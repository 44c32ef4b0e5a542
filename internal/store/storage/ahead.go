package storage

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// ahead prefetches parts of an object for a sequential reader. Other reads are requested directly.
type ahead struct {
	object *object
	work   sync.WaitGroup // parts that are on their way

	mu     sync.Mutex
	closed bool
	next   int64   // where the last read ended
	missed int     // reads that continued elsewhere since one of the parts was read
	depth  int     // parts to request ahead of the current one
	parts  []*part // one after the other, without gaps
}

// part is a requested range of an object.
type part struct {
	offset int64
	data   []byte
	held   int64         // of what may be read ahead; 0 for one that a reader waited for
	ready  chan struct{} // closed when data or err is set
	err    error

	// Guarded by ahead.mu:
	begin     int64 // offset of what no loan kept
	loans     int   // that were not released
	abandoned bool  // no further read will use it
}

func (p *part) end() int64 { return p.offset + int64(len(p.data)) }

func (p *part) isReady() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// buffers are for parts. One that is less than full is cut from a full one; the
// beginnings of objects, of which hundreds may be open, have smaller ones.
var (
	buffers = sync.Pool{New: func() any { return new([partSize]byte) }}
	firsts  = sync.Pool{New: func() any { return new([firstPart]byte) }}
)

func newBuffer(size int64) []byte {
	if size <= firstPart {
		return firsts.Get().(*[firstPart]byte)[:size]
	}
	return buffers.Get().(*[partSize]byte)[:size]
}

// recycleUnused returns the memory of a part to its pool once it is abandoned, complete and not
// lent.
func (p *part) recycleUnused() {
	if !p.abandoned || !p.isReady() || p.loans > 0 {
		return
	}
	if cap(p.data) == firstPart {
		firsts.Put((*[firstPart]byte)(p.data[:firstPart]))
	} else {
		buffers.Put((*[partSize]byte)(p.data[:partSize]))
	}
	p.data = nil
}

// abandon marks the part as unused by further reads.
func (p *part) abandon() {
	p.abandoned = true
	if p.isReady() {
		release(p.held) // lent bytes belong to the borrowers
	}
	p.recycleUnused()
}

// readAt fills p from off on.
func (a *ahead) readAt(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	a.mu.Lock()
	sequential := off > 0 && off == a.next
	inParts := a.follow(off, sequential)
	a.next = off + int64(len(p))
	a.mu.Unlock()
	if !inParts {
		return a.object.fetch(p, off)
	}
	for len(p) > 0 {
		n, err := a.read(p, off, sequential)
		if err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// follow decides whether a read at off is sequential. The prefetched parts are dropped for another
// sequential reader if the first one stops reading.
func (a *ahead) follow(off int64, sequential bool) bool {
	if len(a.parts) > 0 {
		end := a.parts[len(a.parts)-1].end()
		if off >= a.parts[0].begin && off < end || sequential && off == end {
			a.missed = 0
			return true
		}
	}
	if !sequential {
		return false
	}
	a.missed++
	return len(a.parts) == 0 || a.missed > mostMissed
}

const mostMissed = 4

// read copies at least one byte, starting at off, which must be in the object. Sequential reads
// start read-ahead.
func (a *ahead) read(p []byte, off int64, sequential bool) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	part, err := a.wait(off, sequential)
	if err != nil {
		return 0, err
	}
	n := copy(p, part.data[off-part.offset:])
	a.next = off + int64(n)
	return n, nil
}

// wait returns the part with off, when it has come.
func (a *ahead) wait(off int64, sequential bool) (*part, error) {
	for {
		if a.closed {
			return nil, a.object.failed(fs.ErrClosed)
		}
		part := a.stepTo(off, sequential)
		if part.isReady() {
			err := part.err
			if err != nil {
				a.abandon(len(a.parts)) // request it again if the reader continues
			}
			return part, err
		}
		a.mu.Unlock()
		<-part.ready
		a.mu.Lock()
	}
}

// stepTo returns the part that contains off, drops those before it, and prefetches some after it
// for sequential readers.
func (a *ahead) stepTo(off int64, sequential bool) *part {
	i := slices.IndexFunc(a.parts, func(p *part) bool { return p.begin <= off && off < p.end() })
	switch {
	case i < 0 && len(a.parts) > 0 && off < a.parts[0].begin && a.parts[0].begin-off <= partSize:
		// A read goes back a little, for example to a chunk that two shards share: get the missing
		// bytes.
		size := a.parts[0].begin - off
		a.parts = slices.Insert(a.parts, 0, a.start(off, size, 0, func(p *part) error { return a.object.fetch(p.data, off) }))
	case i < 0:
		a.abandon(len(a.parts))
		a.depth, a.missed = 1, 0
		a.ask(off, 0)
	case i > 0:
		a.abandon(i)
		a.depth = min(2*a.depth, mostAhead)
	}
	for sequential && len(a.parts) <= a.depth && a.parts[len(a.parts)-1].end() < a.object.is.Size && hold(partSize) {
		a.ask(a.parts[len(a.parts)-1].end(), partSize)
	}
	return a.parts[0]
}

// ask starts to fetch a part that begins at off and ends at the end of a block.
func (a *ahead) ask(off, held int64) {
	end := min((off+partSize)/blockSize*blockSize, a.object.is.Size)
	a.add(off, end-off, held, func(p *part) error { return a.object.fetch(p.data, off) })
}

// add appends a part and starts filling it.
func (a *ahead) add(off, size, held int64, fill func(*part) error) {
	a.parts = append(a.parts, a.start(off, size, held, fill))
}

// start returns a part that is being filled.
func (a *ahead) start(off, size, held int64, fill func(*part) error) *part {
	p := &part{offset: off, begin: off, data: newBuffer(size), held: held, ready: make(chan struct{})}
	a.work.Go(func() {
		err := fill(p)
		a.mu.Lock()
		defer a.mu.Unlock()
		p.err = err
		close(p.ready)
		if p.abandoned {
			p.abandon()
		}
	})
	return p
}

// begin takes the body of the request that opened the object for the first part, of which sum is.
// It calls alive before each read, and ended after the last.
func (a *ahead) begin(body io.ReadCloser, sum Sum, alive, ended func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.depth = 1
	a.add(0, min(firstPart, a.object.is.Size), 0, func(p *part) error {
		n, _ := drain(body, p.data, alive)
		ended()
		err := a.object.checked(p.data, 0, func() (Sum, error) {
			_, err := a.object.transfer(p.data[n:], int64(n)) // what did not come
			return sum, err
		})
		if err == nil {
			a.object.keep(p.data, 0)
		}
		return err
	})
}

// drop discards all parts and waits for their requests to end.
func (a *ahead) drop() {
	a.mu.Lock()
	a.abandon(len(a.parts))
	a.next = 0
	a.mu.Unlock()
	a.work.Wait()
}

// abandon forgets the first n parts.
func (a *ahead) abandon(n int) {
	for _, p := range a.parts[:n] {
		p.abandon()
	}
	a.parts = slices.Delete(a.parts, 0, n)
}

// close cancels all requests and waits for them to end.
func (a *ahead) close() {
	a.mu.Lock()
	a.closed = true
	a.abandon(len(a.parts))
	a.mu.Unlock()
	a.object.cancel(context.Canceled)
	a.work.Wait()
}
