package prefetch

import (
	"context"
	"sync"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// MaxBytes bounds the bytes that are requested and not yet used, which may also be bounded by the
// memory of a run. An image that a worker waits for is requested in any case.
const MaxBytes = 64 << 20

// mostFetched is the maximum number of images that are requested and not yet taken: enough for the
// others to arrive while a request that the store rejected pauses.
func mostFetched() int { return 4 * storage.MostRequests() }

// Fetcher reads images of a store in the order of their use.
type Fetcher struct {
	images origin.Origin
	masks  *origin.Tree // nil without
	memory int64        // bytes that may be requested and not used
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	next    func() *origin.Image // next image to request; nil after the last one
	ahead   []*Fetch             // not yet taken, in order; the last may not have begun
	waiting int                  // requests in flight
	closed  bool
	held    int64 // bytes requested and not yet used
}

// Fetch is an image being read, with its mask, as far as these are in a store.
type Fetch struct {
	fetcher *Fetcher
	pic     *origin.Image
	begun   bool          // guarded by the fetcher's mu
	waited  bool          // a worker waited for it
	ready   chan struct{} // closed when image and mask are set
	image   fetched
	mask    fetched
}

// fetched is a file that was read from a store.
type fetched struct {
	wanted bool  // it is in a store
	size   int64 // as it was listed; 0 if not wanted
	buffer *[]byte
	data   []byte
	input  setdir.Input
	err    error
}

// read reads the file.
func (f *fetched) read(ctx context.Context, from origin.Origin, pic *origin.Image) {
	f.buffer = fetchBuffers.Get().(*[]byte)
	f.data, f.input, f.err = from.Read(ctx, pic, *f.buffer)
}

// done gives back the memory.
func (f *fetched) done() {
	if f.buffer != nil && f.err == nil && cap(f.data) <= plan.KeepFrames {
		*f.buffer = f.data
		fetchBuffers.Put(f.buffer)
	}
	f.buffer, f.data = nil, nil
}

// fetchBuffers holds buffers for images, as *[]byte.
var fetchBuffers = sync.Pool{New: func() any { return new([]byte) }}

// New begins to read the images that next returns, until it returns nil, with their masks, as far as
// these are in a store; masks is nil without. At most memory bytes are requested and not yet used. The
// caller closes the fetcher.
func New(ctx context.Context, images origin.Origin, masks *origin.Tree, memory int64, next func() *origin.Image) *Fetcher {
	f := &Fetcher{images: images, masks: masks, memory: memory, next: next}
	f.ctx, f.cancel = context.WithCancel(storage.Limited(ctx))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fill()
	return f
}

// Close cancels all requests. Waiting for one returns an error.
func (f *Fetcher) Close() {
	f.cancel()
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.work.Wait()
}

// More lets next return further images: change, which sees to that, is not called at the same time as
// next.
func (f *Fetcher) More(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.fill()
}

// Take returns the next image. The order of calls is the order of the images.
func (f *Fetcher) Take() *Fetch {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ahead) == 0 {
		f.look()
	}
	t := f.ahead[0]
	f.ahead = f.ahead[1:]
	f.fill()
	return t
}

// fill begins as many fetches as there is room for.
func (f *Fetcher) fill() {
	for !f.closed && f.waiting < storage.MostRequests() && len(f.ahead) <= mostFetched() {
		if n := len(f.ahead); n == 0 || f.ahead[n-1].begun {
			if !f.look() {
				return
			}
		}
		last := f.ahead[len(f.ahead)-1]
		if f.held > 0 && f.held+last.size() > f.memory {
			return
		}
		f.begin(last)
	}
}

// look appends the next image, and reports whether there was one.
func (f *Fetcher) look() bool {
	pic := f.next()
	if pic == nil {
		return false
	}
	t := &Fetch{fetcher: f, pic: pic, ready: make(chan struct{})}
	if t.image.wanted = f.images.Remote(); t.image.wanted {
		t.image.size = pic.Size
	}
	if mask := pic.Mask(); mask != nil && f.masks.Remote() {
		t.mask.wanted, t.mask.size = true, mask.Size
	}
	f.ahead = append(f.ahead, t)
	return true
}

// begin requests an image.
func (f *Fetcher) begin(t *Fetch) {
	t.begun = true
	if f.closed {
		t.image.err = context.Cause(f.ctx)
		t.mask.err = t.image.err
		close(t.ready)
		return
	}
	f.waiting++
	f.held += t.size()
	f.work.Go(func() {
		if t.image.wanted {
			t.image.read(f.ctx, f.images, t.pic)
		}
		if t.mask.wanted && t.image.err == nil {
			t.mask.read(f.ctx, f.masks, t.pic.Mask())
		}
		close(t.ready)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waiting--
		f.fill()
	})
}

// size is the number of bytes requested.
func (t *Fetch) size() int64 { return t.image.size + t.mask.size }

// Image waits for an image, which is valid until Done. It reports false if t is nil or is not a
// fetch of this image.
func (t *Fetch) Image(pic *origin.Image) (data []byte, in setdir.Input, err error, ok bool) {
	if t == nil || t.pic != pic || !t.image.wanted {
		return nil, setdir.Input{}, nil, false
	}
	t.wait()
	return t.image.data, t.image.input, t.image.err, true
}

// Mask is Image for the mask of an image.
func (t *Fetch) Mask(pic *origin.Image) (data []byte, in setdir.Input, err error, ok bool) {
	if t == nil || t.pic != pic || !t.mask.wanted {
		return nil, setdir.Input{}, nil, false
	}
	t.wait()
	return t.mask.data, t.mask.input, t.mask.err, true
}

// HoldsMask reports whether the memory of a mask belongs to the fetch.
func (t *Fetch) HoldsMask() bool { return t.mask.wanted }

// wait returns when the files are there, which are valid until Done.
func (t *Fetch) wait() {
	f := t.fetcher
	f.mu.Lock()
	if !t.begun {
		f.begin(t)
	}
	f.mu.Unlock()
	t.waited = true
	<-t.ready
}

// Done releases the files. Those that no worker waited for belong to a failed run, and keep their
// memory.
func (t *Fetch) Done() {
	if !t.waited {
		return
	}
	t.image.done()
	t.mask.done()
	f := t.fetcher
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= t.size()
	f.fill()
}
