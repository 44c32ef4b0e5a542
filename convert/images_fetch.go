package convert

import (
	"context"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/setdir"
)

// Images of an object store are requested ahead of the workers: at most mostFetches requests are in
// flight, since each mostly waits, and at most fetchBytes are requested and not yet used. An image
// that a worker waits for is requested in any case; a worker has one batch at a time.
const (
	mostFetches = 32
	fetchBytes  = 64 << 20
	mostFetched = 1024 // maximum number of images in fetchBytes
)

// fetcher reads images of a store in the order of their use.
type fetcher struct {
	source *imageSource
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	next    func() *imageFile // next image to request; nil after the last one
	ahead   []*fetch          // not yet taken, in order; the last may not have begun
	waiting int               // requests in flight
	closed  bool
	held    int64 // bytes requested and not yet used
}

// fetch is an image being read from a store.
type fetch struct {
	fetcher *fetcher
	pic     *imageFile
	begun   bool          // guarded by the fetcher's mu
	waited  bool          // a worker waited for it
	ready   chan struct{} // closed when data or err is set
	buffer  *[]byte
	data    []byte
	input   setdir.Input
	err     error
}

// fetchBuffers holds buffers for images, as *[]byte.
var fetchBuffers = sync.Pool{New: func() any { return new([]byte) }}

// fetch begins to read the images that next returns, until it returns nil. The caller closes the
// fetcher.
func (s *imageSource) fetch(ctx context.Context, next func() *imageFile) *fetcher {
	f := &fetcher{source: s, next: next}
	f.ctx, f.cancel = context.WithCancel(ctx)
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
	for !f.closed && f.waiting < mostFetches && len(f.ahead) <= mostFetched {
		if n := len(f.ahead); n == 0 || f.ahead[n-1].begun {
			if !f.look() {
				return
			}
		}
		last := f.ahead[len(f.ahead)-1]
		if f.held > 0 && f.held+last.pic.size > fetchBytes {
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
	f.ahead = append(f.ahead, &fetch{fetcher: f, pic: pic, ready: make(chan struct{})})
	return true
}

// begin requests an image.
func (f *fetcher) begin(t *fetch) {
	t.begun = true
	if f.closed {
		t.err = context.Cause(f.ctx)
		close(t.ready)
		return
	}
	f.waiting++
	f.held += t.pic.size
	f.work.Go(func() {
		t.buffer = fetchBuffers.Get().(*[]byte)
		t.data, t.input, t.err = f.source.origin.read(f.ctx, t.pic, *t.buffer)
		close(t.ready)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waiting--
		f.fill()
	})
}

// wait returns the image, which is valid until done.
func (t *fetch) wait() ([]byte, setdir.Input, error) {
	f := t.fetcher
	f.mu.Lock()
	if !t.begun {
		f.begin(t)
	}
	f.mu.Unlock()
	t.waited = true
	<-t.ready
	return t.data, t.input, t.err
}

// done releases the image. One that nobody waited for belongs to a failed run, and keeps its
// memory.
func (t *fetch) done() {
	if !t.waited {
		return
	}
	if t.err == nil && cap(t.data) <= keepFrames {
		*t.buffer = t.data
		fetchBuffers.Put(t.buffer)
	}
	t.data = nil
	f := t.fetcher
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held -= t.pic.size
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

func (p *jobImages) next() *imageFile {
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

// prepare implements source.
func (s *imageSource) prepare(ctx context.Context, jobs []int, inOrder bool) error {
	if err := s.origin.load(ctx, s.temp, s.imagesOf(jobs)); err != nil {
		return err
	}
	if !s.origin.remote() || len(jobs) == 0 {
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
func (s *imageSource) imagesOf(jobs []int) iter.Seq[*imageFile] {
	if jobs == nil {
		for job := range s.samples {
			jobs = append(jobs, job)
		}
	}
	images := jobImages{source: s, jobs: jobs}
	return func(yield func(*imageFile) bool) {
		for p := images.next(); p != nil && yield(p); p = images.next() {
		}
	}
}

// rest implements source.
func (s *imageSource) rest() {
	if s.ahead != nil {
		s.ahead.close()
		s.ahead = nil
	}
	_ = s.origin.unload() // nobody reads its temporary files again
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
