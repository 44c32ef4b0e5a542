package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// CacheOptions are the options of Flow.Cache, where an element counts as a record of its
// bytes; the zero value caches in memory.
type CacheOptions struct {
	// Dir is a directory for the cache, created if missing. Later runs and other processes use it,
	// too. Default: memory, for one run.
	Dir string
	// Limit is the maximum number of bytes of records to cache, including about 64 more for each
	// record in memory and about 24 on disk. It does not count towards Options.Memory. Default: 1
	// GiB in memory, 16 GiB on disk.
	Limit int64
	// Partial caches as many elements as fit, from the first one on, and reads the rest from the
	// source in each epoch. If the disk fills up before the limit is reached, the run continues
	// without a cache (see OnDiscard). It is an error unless the elements are records. Default:
	// running out of room is an error, [ErrCacheFull].
	Partial bool
	// Version identifies what functions before the cache do: a cache on disk with another version
	// is not used. It is required there if functions of yours, such as one of a Map, come before
	// the cache.
	Version string
	// Replace removes a cache on disk of something else, or a damaged one, and fills it again; if
	// damage is found midway, the epoch continues from the source. Default: a cache of something
	// else is [ErrOtherCache], and a damaged one is an error.
	Replace bool
	// OnDiscard, if not nil, is called with the reason when a cache on disk was removed for Replace
	// or abandoned for Partial.
	OnDiscard func(why error)
}

// Default limits of a cache.
const (
	defaultMemoryCache = 1 << 30
	defaultDiskCache   = 16 << 30
)

// ErrCacheFull means that there is more to cache than [CacheOptions] allow or the disk has room
// for.
var ErrCacheFull = errors.New("cache is full")

// ErrOtherCache means that the cache in a directory is of another dataset, other stages or another
// version.
var ErrOtherCache = errors.New("cache of something else")

// Cache adds a stage that keeps the elements of an epoch.
func Cache(before *pipeline.Link, o CacheOptions) *pipeline.Link {
	passes := int64(1)
	if before != nil {
		passes = before.Passes
	}
	next := before.Then(CacheName, func(r *pipeline.Run, up pipeline.Stage) (pipeline.Stage, error) {
		return NewCacheStage(r, up, o, passes, CacheOf{Stages: slices.Clone(r.Names[:len(r.Names)-1])})
	})
	next.Rereads = true
	return next
}

// CacheName is the name of the stage in positions.
const CacheName = "cache"

// NewCacheStage returns the stage after up, whose epochs are of so many passes over the set.
func NewCacheStage(r *pipeline.Run, up pipeline.Stage, o CacheOptions, passes int64, of CacheOf) (*CacheStage, error) {
	if o.Limit < 0 {
		return nil, fmt.Errorf("reader: a cache of %d bytes: want 0 for the default, or more", o.Limit)
	}
	if passes < 0 {
		return nil, errors.New("reader: Cache of pipes that Repeat a different number of times: cache each of them before Mix or Concat")
	}
	if o.Dir != "" && o.Version == "" && r.Calls {
		return nil, errors.New("reader: a Cache on disk after a function, such as that of a Map: want a Version that changes when the function does")
	}
	x := &CacheStage{run: r, up: up, of: of, partial: o.Partial, passes: passes}
	if o.Dir == "" {
		x.store, x.where = newMemoryCache(r, o.Limit), "memory"
		x.stats = r.Stats("cache(memory)")
	} else {
		x.store, x.where = newDiskCache(r, o, of), o.Dir
		x.stats = r.Stats("cache(disk)")
	}
	return x, nil
}

// cacheStore stores the elements of an epoch.
type cacheStore interface {
	// Open finds the content, or prepares to fill it. With neither content nor fill, another
	// process is filling it.
	Open() (cacheContent, error)
	// Add adds the first n of records for which there is room.
	Add(records []pipeline.Record) (n int, err error)
	// Finish makes what was added the content.
	Finish(rest cacheRest) error
	// seek moves to element n of the content, at most its length; rest then describes what follows
	// the content.
	seek(n int64) error
	rest() cacheRest
	// Read returns the next elements of the content; io.EOF after the last one.
	Read() (*pipeline.Block, error)
	// Close discards unfinished content and closes files. Finished content stays.
	Close()
	// isCorrupt reports whether err is damage of the content that open will replace.
	isCorrupt(err error) bool
	// disable ends filling for good if err, from add or finish, means that space ran out. Otherwise
	// it returns false.
	disable(err error) bool
}

// cacheRest is where the elements that are not in a cache begin: Skip elements after a position of
// the stage before. Without a position there are none.
type cacheRest struct {
	At   pipeline.Position `json:"at"`
	Skip int64             `json:"skip"`
}

// cacheContent describes the content of a cacheStore.
type cacheContent struct {
	whole   bool // the store is complete
	records int64
	fill    bool // or it has to be filled,
	// elsewhere means that another process is filling it
	elsewhere bool
}

// CacheStage returns every epoch like the first one of the stage before. Elements are the same from
// either source, so that their number alone is the position.
type CacheStage struct {
	run     *pipeline.Run
	up      pipeline.Stage
	store   cacheStore
	stats   *pipeline.Counters
	of      CacheOf
	partial bool
	passes  int64 // epochs of the set per epoch of the stage before
	where   string
	told    string // last event about what open found; "" for none
	built   bool   // by this run

	ctx     context.Context
	Epochs  int32 // to add to the epochs of the records
	seen    int64 // elements of the epoch before the next block
	want    int64 // first element to return
	reading bool  // from the store
	filling bool
	err     error
}

func (x *CacheStage) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.close()
	own, _ := at.Pop()
	if at != nil && (len(own) != 1 || own[0] < 0 || own[0] > pipeline.MaxSkip) {
		return pipeline.ErrPosition(CacheName)
	}
	x.ctx, x.Epochs, x.err = ctx, int32(epoch*x.passes), nil
	x.seen, x.want = 0, 0
	if at != nil {
		x.want = own[0]
	}
	return x.open()
}

// open begins the epoch before the first wanted element.
func (x *CacheStage) open() error {
	content, err := x.store.Open()
	if err != nil {
		return err
	}
	x.reading, x.filling = content.whole, content.fill
	switch {
	case content.whole && !x.built:
		x.tell(pipeline.EventOpened, slog.Int64(x.of.unit()+"s", content.records))
	case content.elsewhere:
		x.tell(pipeline.EventElsewhere)
	}
	if !content.whole {
		x.seen = 0
		return x.up.Start(x.ctx, 0, nil)
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

// tell logs the result of open, unless it is the same as before.
func (x *CacheStage) tell(event string, attrs ...slog.Attr) {
	if x.told != event {
		x.told = event
		x.run.Event(slog.LevelInfo, event, append([]slog.Attr{slog.String("cache", x.where)}, attrs...)...)
	}
}

// close ends the epoch.
func (x *CacheStage) close() {
	x.up.Stop()
	x.store.Close()
	x.reading, x.filling = false, false
}

func (x *CacheStage) Stop() { x.close() }

func (x *CacheStage) Next() (*pipeline.Block, error) {
	watch := x.stats.Watch()
	for x.err == nil {
		var b *pipeline.Block
		if x.reading {
			b, x.err = x.read()
		} else {
			b, x.err = x.pass(&watch)
		}
		watch.Busy()
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
		b.At = b.At[:0].Push(x.seen - int64(len(b.Records)))
		for i := range b.Records {
			b.Records[i].Epoch += x.Epochs
		}
		x.stats.Gave(b)
		return b, nil
	}
	if x.err == io.EOF && x.seen < x.want {
		x.err = pipeline.ErrPosition(CacheName)
	}
	return nil, x.err
}

// read returns elements of the store; nil if it has no more but the stage before has.
func (x *CacheStage) read() (*pipeline.Block, error) {
	if err := x.ctx.Err(); err != nil {
		return nil, err
	}
	b, err := x.store.Read()
	if err != nil && err != io.EOF && x.store.isCorrupt(err) {
		x.want = max(x.want, x.seen)
		return nil, x.open()
	}
	if rest := x.store.rest(); err == io.EOF && rest.At != nil {
		x.reading = false
		x.want = max(x.want, x.seen)
		x.seen -= rest.Skip
		return nil, x.up.Start(x.ctx, 0, slices.Clone(rest.At))
	}
	return b, err
}

// pass returns elements of the stage before, and caches them.
func (x *CacheStage) pass(watch *pipeline.Stopwatch) (*pipeline.Block, error) {
	b, err := x.up.Next()
	watch.Waited()
	if err == io.EOF && x.filling {
		if err := x.finish(cacheRest{}, x.seen); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if !x.filling {
		return b, nil
	}
	n, err := x.store.Add(b.Records)
	switch {
	case err != nil:
		err = x.kept(err)
	case n < len(b.Records):
		if x.partial {
			err = x.finish(cacheRest{slices.Clone(b.At), int64(n)}, x.seen+int64(n))
		} else {
			err = fmt.Errorf("reader: %w: more than the limit after %s; raise CacheOptions.Limit%s", ErrCacheFull,
				plural.Of(x.seen+int64(n), x.of.unit()), x.of.hint(", or set Partial"))
		}
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// finish makes the first records the content of the cache.
func (x *CacheStage) finish(rest cacheRest, records int64) error {
	err := x.store.Finish(rest)
	if err == nil {
		x.built = true
		x.run.Event(slog.LevelInfo, pipeline.EventBuilt,
			slog.String("cache", x.where), slog.Int64(x.of.unit()+"s", records), slog.Bool("partial", rest.At != nil))
	}
	return x.kept(err)
}

// kept ends filling when the store returns err: with Partial, running out of room is not an error.
func (x *CacheStage) kept(err error) error {
	x.filling = false
	if err != nil && x.partial && x.store.disable(err) {
		return nil
	}
	return err
}
