package coco

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/textfile"
)

// Read reads the instances file at path, a local one or a URL. Errors name it.
func Read(ctx context.Context, path string, o annotation.Options) (*annotation.Set, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	f, err := textfile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := f.Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lists, err := readLists(ctx, in, o)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var set *annotation.Set
	if err == nil {
		set, err = join(lists, storage.Base(path))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// reader is one run of readLists.
type reader struct {
	free chan *batch // to use again
	full chan *batch

	failed atomic.Bool // a batch has an error, so that later ones do not matter

	mu     sync.Mutex // guards the fields below
	lists  []*parsed  // by the index of the batch
	err    error      // of the first batch that has one
	first  int        // the index of that
	faults int        // in all lists
}

// keptBuffer is the maximum size of a buffer that is used again: elements may be longer than a
// batch.
const keptBuffer = 1 << 20

// maxFaults bounds the elements that cannot be used, which may be as short as "{},".
const maxFaults = 1 << 18

func tooManyFaults(f *annotation.Fault) error {
	return fmt.Errorf("more than %d annotations cannot be used, such as %s: %s", maxFaults, f.Name, f.Reason)
}

// readLists parses the lists of a file, in its order.
func readLists(ctx context.Context, in io.Reader, o annotation.Options) ([]*parsed, error) {
	r := &reader{free: make(chan *batch, o.Workers+2), full: make(chan *batch)}
	for range cap(r.free) {
		r.free <- &batch{}
	}
	var group errgroup.Group
	group.Go(func() error {
		defer close(r.full)
		return r.split(ctx, in)
	})
	for range o.Workers {
		group.Go(func() error {
			p := newParser(o.Regions)
			for b := range r.full {
				found, err := p.parse(b)
				r.done(b.index, found, err)
				if cap(b.data) > keptBuffer {
					b.data = nil
				}
				r.free <- b
			}
			return nil
		})
	}
	err := group.Wait()
	if err := r.firstError(); err != nil {
		return nil, err
	}
	return r.lists, err
}

// firstError returns the first error in the file. All batches before it are parsed, so that it is
// the same for any number of workers.
func (r *reader) firstError() error {
	faults := 0
	for i, found := range r.lists {
		if faults += len(found.faults); faults > maxFaults {
			return tooManyFaults(&found.faults[0])
		}
		for j := range found.rows {
			reason := found.rows[j].anyReason()
			if reason == "" {
				continue
			}
			if faults++; faults > maxFaults {
				return tooManyFaults(&annotation.Fault{Name: found.rows[j].name, Reason: reason})
			}
		}
		if r.err != nil && i == r.first {
			return r.err
		}
	}
	return nil
}

// split sends the batches of a file to the workers.
func (r *reader) split(ctx context.Context, in io.Reader) error {
	s := splitter{
		r: in,
		next: func() (*batch, error) {
			select {
			case b := <-r.free:
				return b, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
		emit: func(b *batch) error {
			if r.failed.Load() {
				return errStopped
			}
			select {
			case r.full <- b:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
	}
	return s.run()
}

// errStopped ends the splitter after an error of a worker, which is reported instead.
var errStopped = errors.New("stopped")

// done takes the result of a batch from a worker.
func (r *reader) done(index int, found *parsed, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.lists) <= index {
		r.lists = append(r.lists, nil)
	}
	r.lists[index] = found
	r.faults += len(found.faults)
	for i := range found.rows {
		if found.rows[i].reason != "" {
			r.faults++
		}
	}
	if err != nil && (r.err == nil || index < r.first) {
		r.err, r.first = err, index
	}
	if r.err != nil || r.faults > maxFaults {
		r.failed.Store(true)
	}
}
