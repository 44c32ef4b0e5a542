package convert

import "github.com/tfrec/tfrec/convert/internal/origin"

import (
	"context"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// Images of an object store are requested ahead of the workers: as many at a time as storage.Limited
// allows, and at most fetchBytes, or a quarter of Memory, are requested and not yet used. An image
// that a worker waits for is requested in any case; a worker has one batch at a time.
const fetchBytes = 64 << 20

// mostFetched is the maximum number of images that are requested and not yet taken: enough for the
// others to arrive while a refused request pauses.
func mostFetched() int { return 4 * storage.MostRequests() }

// fetcher reads images of a store in the order of their use.
type fetcher struct {
	source *imageSource
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	next    func() *origin.Image // next image to request; nil after the last one
	ahead   []*fetch             // not yet taken, in order; the last may not have begun
	waiting int                  // requests in flight
	closed  bool
	held    int64 // bytes requested and not yet used
}

// fetch is an image being read, with its mask, as far as these are in a store.
type fetch struct {
	fetcher *fetcher
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

// fetches reports whether images or their masks are in a store.
func (s *imageSource) fetches() bool {
	return s.origin.Remote() || s.masks != nil && s.masks.Remote()
}

// fetch begins to read the images that next returns, until it returns nil. The caller closes the
// fetcher.
func (s *imageSource) fetch(ctx context.Context, next func() *origin.Image) *fetcher {
	f := &fetcher{source: s, next: next}
	f.ctx, f.cancel = context.WithCancel(storage.Limited(ctx))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fill()
	return f
}

// close cancels all requests. Waiting for one returns an error.
func (f *fetcher) close() {
	f.cancel()
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.work.Wait()
}

// take returns the next image. The order of calls is the order of the images.
func (f *fetcher) take() *fetch {
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
func (f *fetcher) fill() {
	for !f.closed && f.waiting < storage.MostRequests() && len(f.ahead) <= mostFetched() {
		if n := len(f.ahead); n == 0 || f.ahead[n-1].begun {
			if !f.look() {
				return
			}
		}
		last := f.ahead[len(f.ahead)-1]
		if f.held > 0 && f.held+last.size() > f.source.fetchMemory {
			return
		}
		f.begin(last)
	}
}

// look appends the next image; false if there are no more.
func (f *fetcher) look() bool {
	pic := f.next()
	if pic == nil {
		return false
	}
	t := &fetch{fetcher: f, pic: pic, ready: make(chan struct{})}
	if t.image.wanted = f.source.origin.Remote(); t.image.wanted {
		t.image.size = pic.Size
	}
	if mask := pic.Mask(); mask != nil && f.source.masks.Remote() {
		t.mask.wanted, t.mask.size = true, mask.Size
	}
	f.ahead = append(f.ahead, t)
	return true
}

// begin requests an image.
func (f *fetcher) begin(t *fetch) {
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
			t.image.read(f.ctx, f.source.origin, t.pic)
		}
		if t.mask.wanted && t.image.err == nil {
			t.mask.read(f.ctx, f.source.masks, t.pic.Mask())
		}
		close(t.ready)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waiting--
		f.fill()
	})
}

// size is how many bytes are requested.
func (t *fetch) size() int64 { return t.image.size + t.mask.size }

// wait returns when the files are there, which are valid until done.
func (t *fetch) wait() {
	f := t.fetcher
	f.mu.Lock()
	if !t.begun {
		f.begin(t)
	}
	f.mu.Unlock()
	t.waited = true
	<-t.ready
}

// done releases the files. Those that nobody waited for belong to a failed run, and keep their
// memory.
func (t *fetch) done() {
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

// jobImages are the images of jobs in order, each followed by its partners, without those that the
// listing rejected.
type jobImages struct {
	source *imageSource
	jobs   []int   // may grow
	job, i int     // next job, and next of its samples
	rest   []int32 // images of the sample before
}

func (p *jobImages) next() *origin.Image {
	for ; p.job < len(p.jobs); p.job, p.i = p.job+1, 0 {
		for samples := p.source.samples[p.jobs[p.job]]; len(p.rest) > 0 || p.i < len(samples); {
			if len(p.rest) == 0 {
				p.rest = p.source.needs(p.rest[:0], samples[p.i])
				p.i++
				continue
			}
			image := p.rest[0]
			p.rest = p.rest[1:]
			return &p.source.images[image]
		}
	}
	return nil
}

// aheadOfJobs requests the images of jobs ahead of their tasks.
type aheadOfJobs struct {
	*fetcher
	images   jobImages
	expected []int // jobs whose images were requested but not their tasks, in order
}

// Prepare implements source.
func (s *imageSource) Prepare(ctx context.Context, jobs []int, inOrder bool) error {
	if err := s.origin.Load(ctx, s.temp, s.imagesOf(jobs)); err != nil {
		return err
	}
	if !s.fetches() || len(jobs) == 0 {
		return nil
	}
	a := &aheadOfJobs{images: jobImages{source: s}}
	if inOrder {
		a.images.jobs, a.expected = slices.Clip(jobs), jobs
	}
	a.fetcher = s.fetch(ctx, a.images.next)
	s.ahead = a
	return nil
}

// temp creates a temporary file. A dry run writes nothing into the directory of the set.
func (s *imageSource) temp() (*os.File, error) {
	if s.o.DryRun {
		return os.CreateTemp("", "tfrec-archive.*")
	}
	return s.dir.TempFile("archive")
}

// imagesOf yields the images of jobs that can be read, in order; those of all jobs for nil. An image
// with variants comes several times.
func (s *imageSource) imagesOf(jobs []int) iter.Seq[*origin.Image] {
	if jobs == nil {
		for job := range s.samples {
			jobs = append(jobs, job)
		}
	}
	images := jobImages{source: s, jobs: jobs}
	return func(yield func(*origin.Image) bool) {
		for p := images.next(); p != nil && yield(p); p = images.next() {
		}
	}
}

// Rest implements source.
func (s *imageSource) Rest() {
	if s.ahead != nil {
		s.ahead.close()
		s.ahead = nil
	}
	_ = s.origin.Unload() // nobody reads its temporary files again
}

// begin requests the images of a job whose tasks come next, unless that was done.
func (a *aheadOfJobs) begin(job int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.expected) > 0 {
		a.expected = a.expected[1:]
		return
	}
	a.images.jobs = append(a.images.jobs, job)
	a.fill()
}

// take returns the images of samples of the job begun last, each with its partners, following those
// of the previous call.
func (a *aheadOfJobs) take(samples []sample) [][]*fetch {
	taken := make([][]*fetch, len(samples))
	for i, sample := range samples {
		for range a.images.source.needs(nil, sample) {
			taken[i] = append(taken[i], a.fetcher.take())
		}
	}
	return taken
}
