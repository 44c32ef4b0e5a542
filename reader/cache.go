package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// CacheOptions are those of [Pipe.Cache]; the zero value caches in memory.
type CacheOptions struct {
	// Dir is a directory for the cache, made when it is not there. It is used again
	// by later runs, and by other processes. Default: memory, for one run.
	Dir string
	// Limit is the most bytes of records to cache, with some 64 more for each of
	// them in memory, and some 24 on disk. It is apart from [Options.Memory].
	// Default: 1 GiB in memory, 16 GiB on disk.
	Limit int64
	// Partial caches what fits, from the beginning on, and reads the rest from
	// where it comes from in each epoch. Where the disk is full before the limit is
	// reached, the run goes on without a cache (see OnDiscard). Default: what does
	// not fit is an error, [ErrCacheFull].
	Partial bool
	// Version stands for what the stages before do and their names do not tell,
	// such as the code of a function: a cache on disk of another version is not
	// used.
	Version string
	// Replace removes a cache on disk of something else, or a damaged one, and
	// fills it again; where damage shows in the middle, the epoch goes on from what
	// the cache was made of. Default: the one is refused, with [ErrOtherCache], and
	// the other an error.
	Replace bool
	// OnDiscard, when not nil, is told why a cache on disk was removed for Replace,
	// or given up for Partial.
	OnDiscard func(why error)
}

// Limits of a cache that has none given.
const (
	defaultMemoryCache = 1 << 30
	defaultDiskCache   = 16 << 30
)

// ErrCacheFull says that there is more to cache than [CacheOptions] allow, or
// than the disk has room for.
var ErrCacheFull = errors.New("cache is full")

// ErrOtherCache says that the cache in a directory is one of another dataset, of
// other stages, or of another version.
var ErrOtherCache = errors.New("cache of something else")

// Cache gives the elements of what comes before it, and keeps them: once it has
// given all, later epochs (see [Pipe.Repeat]) come from the cache, and nothing
// before it runs any more. Every epoch is in the order of the first one, so
// shuffle behind the cache and not before it. [Record.Epoch] goes on counting;
// damage that was skipped is reported while the cache is filled, and not again.
//
// An epoch that is broken off leaves no cache, and the next one fills it again.
// In memory, each run has a cache of its own. On disk, a whole cache of the
// same dataset, stages and Version is used at once; while one process fills it,
// others wait for nothing, and read what it is made of in that epoch. Who wants to
// cache something else in the directory is refused at Start, while it is being filled,
// too, and then even with Replace. Each worker of a job has a cache of its own in
// the directory. A cache that is no longer wanted is removed by deleting it.
//
// A [State] says how many elements of the epoch were received. Resuming from it
// costs nothing with a whole cache on disk. Otherwise the epoch's elements are
// read again from the beginning, which fills the cache.
func (p Pipe) Cache(o CacheOptions) Pipe {
	passes := int64(1)
	if p.last != nil {
		passes = p.last.passes
	}
	const name = "cache"
	return p.then(name, func(r *run, up stage) (stage, error) {
		if o.Limit < 0 {
			return nil, fmt.Errorf("reader: a cache of %d bytes: want 0 for the default, or more", o.Limit)
		}
		x := &cacheStage{run: r, up: up, name: name, partial: o.Partial, passes: passes}
		if o.Dir == "" {
			x.store = newMemoryCache(r, o.Limit)
			x.stats = r.stats("cache(memory)")
		} else {
			x.store = newDiskCache(r, o)
			x.stats = r.stats("cache(disk)")
		}
		return x, nil
	})
}

// cacheStore is where the elements of an epoch are kept.
type cacheStore interface {
	// open finds the content, or makes ready for it. Without content and with
	// nothing to fill, somebody else fills it just now.
	open() (cacheContent, error)
	// add adds records to what is being filled, the first n that there is room for.
	add(records []Record) (n int, err error)
	// finish makes what was added the content.
	finish(rest cacheRest) error
	// seek goes to element n of the content, at most its number; then rest
	// tells what comes behind it.
	seek(n int64) error
	rest() cacheRest
	// read returns the next elements of the content; io.EOF behind the last one.
	read() (*Block, error)
	// close discards what was not finished, and closes files. The content stays.
	close()
	// isCorrupt reports whether err of the content is damage that open will replace.
	isCorrupt(err error) bool
	// disable ends filling for good, when err of add or finish says that there is no
	// room; false when it does not.
	disable(err error) bool
}

// cacheRest is where what is not in a cache begins: Skip elements behind a
// position of the stage before. Without a position there is nothing.
type cacheRest struct {
	At   position `json:"at"`
	Skip int64    `json:"skip"`
}

// cacheContent is what a cacheStore has.
type cacheContent struct {
	whole   bool // there is content,
	records int64
	fill    bool // or it is to be filled
}

// cacheStage gives every epoch as the first one of what comes before. Whether
// the elements come from there or from the store makes no difference to them,
// so that the place is their number alone.
type cacheStage struct {
	run     *run
	up      stage
	store   cacheStore
	stats   *stageStats
	name    string
	partial bool
	passes  int64 // epochs of the set in one of the stage before

	ctx     context.Context
	epochs  int32 // to add to those of the records
	seen    int64 // elements of the epoch before the next block
	want    int64 // the first element that is given
	reading bool  // from the store
	filling bool
	err     error
}

func (x *cacheStage) start(ctx context.Context, epoch int64, at position) error {
	x.close()
	own, _ := at.pop()
	if at != nil && (len(own) != 1 || own[0] < 0 || own[0] > maxSkip) {
		return errPosition(x.name)
	}
	x.ctx, x.epochs, x.err = ctx, int32(epoch*x.passes), nil
	x.seen, x.want = 0, 0
	if at != nil {
		x.want = own[0]
	}
	return x.open()
}

// open begins the epoch, before the first element that is wanted.
func (x *cacheStage) open() error {
	content, err := x.store.open()
	if err != nil {
		return err
	}
	x.reading, x.filling = content.whole, content.fill
	if !content.whole {
		x.seen = 0
		return x.up.start(x.ctx, 0, nil)
	}
	x.seen = min(x.want, content.records)
	if err := x.store.seek(x.seen); err != nil {
		if x.store.isCorrupt(err) {
			return x.open()
		}
		return err
	}
	return nil
}

// close ends the epoch.
func (x *cacheStage) close() {
	x.up.stop()
	x.store.close()
	x.reading, x.filling = false, false
}

func (x *cacheStage) stop() { x.close() }

func (x *cacheStage) next() (*Block, error) {
	watch := x.stats.watch()
	for x.err == nil {
		var b *Block
		if x.reading {
			b, x.err = x.read()
		} else {
			b, x.err = x.pass(&watch)
		}
		watch.busy()
		if b == nil {
			continue
		}
		drop := min(max(x.want-x.seen, 0), int64(len(b.Records)))
		x.seen += int64(len(b.Records))
		b.Records = b.Records[drop:]
		if len(b.Records) == 0 {
			b.Release()
			continue
		}
		b.at = b.at[:0].push(x.seen - int64(len(b.Records)))
		for i := range b.Records {
			b.Records[i].Epoch += x.epochs
		}
		x.stats.gave(b)
		return b, nil
	}
	if x.err == io.EOF && x.seen < x.want {
		x.err = errPosition(x.name)
	}
	return nil, x.err
}

// read returns elements of the store; nil when it has no more, but there are
// more.
func (x *cacheStage) read() (*Block, error) {
	if err := x.ctx.Err(); err != nil {
		return nil, err
	}
	b, err := x.store.read()
	if err != nil && err != io.EOF && x.store.isCorrupt(err) {
		x.want = max(x.want, x.seen)
		return nil, x.open()
	}
	if rest := x.store.rest(); err == io.EOF && rest.At != nil {
		x.reading = false
		x.want = max(x.want, x.seen)
		x.seen -= rest.Skip
		return nil, x.up.start(x.ctx, 0, slices.Clone(rest.At))
	}
	return b, err
}

// pass returns elements of the stage before, and caches them on the way.
func (x *cacheStage) pass(watch *stopwatch) (*Block, error) {
	b, err := x.up.next()
	watch.waited()
	if err == io.EOF && x.filling {
		if err := x.kept(x.store.finish(cacheRest{})); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if !x.filling {
		return b, nil
	}
	n, err := x.store.add(b.Records)
	switch {
	case err != nil:
		err = x.kept(err)
	case n < len(b.Records):
		if x.partial {
			err = x.kept(x.store.finish(cacheRest{slices.Clone(b.at), int64(n)}))
		} else {
			err = fmt.Errorf("reader: %w: more than the limit after %d records; raise CacheOptions.Limit, or set Partial", ErrCacheFull, x.seen+int64(n))
		}
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// kept ends filling with what the store said of it: that it is full is no error
// where that may be.
func (x *cacheStage) kept(err error) error {
	x.filling = false
	if err != nil && x.partial && x.store.disable(err) {
		return nil
	}
	return err
}
