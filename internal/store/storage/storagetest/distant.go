package storagetest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Distant is a Store at the other end of a network: requests take time, some fail before or after
// they are carried out, and some lists are out of date. Like a cloud's client, it repeats the
// requests that package storage does not. The faults of a request depend on the seed, its kind and
// name, and the number of times it was made before. Within testing/synctest the time is free.
//
//	d := &storagetest.Distant{Store: storagetest.New(), Seed: 1, Latency: 20 * time.Millisecond, Faults: 0.1, Stale: 0.1, Age: time.Second}
//	storage.Register("mem", func(context.Context, string) (storage.Store, error) { return d, nil })
type Distant struct {
	*Store
	Seed    uint64
	Latency time.Duration // of a request on average; one in a hundred takes 20 times as long
	Steady  bool          // every request takes exactly Latency
	Faults  float64       // share of the requests that fail, half of them after they are carried out
	Stale   float64       // share of the lists that are Age old
	Age     time.Duration

	// Serves is the maximum number of concurrent requests for ranges. Further ones fail. Default:
	// no limit.
	Serves int
	// Bandwidth is the total speed of all ranges in bytes a second. Default: no limit.
	Bandwidth int64

	mu     sync.Mutex
	times  map[string]int // requests by kind and name
	counts map[string]int // requests by kind
	faults int
	stale  int
	past   []change
	marks  map[string]*distantSender // who made an object
	ranges Ranges
	serves int       // requests for ranges that are carried out now
	free   time.Time // when the last range requested so far has arrived
}

// Ranges are the requests for ranges of objects.
type Ranges struct {
	Most        int // in flight at a time, without those that were refused
	Refused     int
	First, Last time.Time // when the first one was made, and the last one ended
}

// Ranges returns statistics of the requests for ranges.
func (d *Distant) Ranges() Ranges {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ranges
}

// change records the object, if any, that a name had before it was written or removed.
type change struct {
	at    time.Time
	name  string
	was   entry
	there bool
}

// Requests returns how many requests of each kind there were: "list", "stat", "open", "put",
// "begin", "part", "finish" and "remove".
func (d *Distant) Requests() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.counts)
}

// Harm returns how many requests failed, and how many lists were stale.
func (d *Distant) Harm() (faults, stale int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults, d.stale
}

var errDistant = errors.New("503 Slow Down, or a connection that broke")

// begin begins a request: it takes its time, and may fail at once. The function that it returns
// ends the request.
func (d *Distant) begin(ctx context.Context, kind, name string) (random *rand.Rand, end func() error, err error) {
	d.mu.Lock()
	if d.times == nil {
		d.times, d.counts, d.marks = map[string]int{}, map[string]int{}, map[string]*distantSender{}
	}
	key := kind + " " + name
	d.times[key]++
	d.counts[kind]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", key, d.times[key])
	d.mu.Unlock()
	random = rand.New(rand.NewPCG(d.Seed, h.Sum64()))
	latency := d.Latency
	if !d.Steady {
		latency = time.Duration(random.ExpFloat64() * float64(d.Latency))
		if random.IntN(100) == 0 {
			latency *= 20
		}
	}
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	fails, late := random.Float64() < d.Faults, random.IntN(2) == 0
	if !fails {
		return random, func() error { return nil }, nil
	}
	d.mu.Lock()
	d.faults++
	d.mu.Unlock()
	if late {
		return random, func() error { return errDistant }, nil
	}
	return nil, nil, errDistant
}

// remember records the object, if any, of a name that is about to change. The caller holds d.mu.
func (d *Distant) remember(name string) {
	d.Store.mu.Lock()
	was, there := d.Store.objects[name]
	d.Store.mu.Unlock()
	now := time.Now()
	d.past = append(d.past, change{now, name, was, there})
	for len(d.past) > 0 && now.Sub(d.past[0].at) > d.Age {
		d.past = d.past[1:]
	}
}

// List implements storage.Store.
func (d *Distant) List(ctx context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	return func(yield func(storage.Object, error) bool) {
		all, err := storage.Retry(ctx, func(ctx context.Context) ([]storage.Object, error) {
			random, end, err := d.begin(ctx, "list", prefix)
			if err != nil {
				return nil, err
			}
			list := d.list(prefix, deep, random.Float64() < d.Stale)
			return list, end()
		})
		if err != nil {
			yield(storage.Object{}, err)
			return
		}
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (d *Distant) list(prefix string, deep, stale bool) (list []storage.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[string]storage.Object{}
	d.Store.mu.Lock()
	for name, e := range d.Store.objects {
		if strings.HasPrefix(name, prefix) {
			found[name] = e.is
		}
	}
	d.Store.mu.Unlock()
	if stale {
		now := time.Now()
		changed := false
		for _, c := range slices.Backward(d.past) {
			if now.Sub(c.at) > d.Age || !strings.HasPrefix(c.name, prefix) {
				continue
			}
			changed = true
			delete(found, c.name)
			if c.there {
				found[c.name] = c.was.is
			}
		}
		if changed {
			d.stale++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		o := found[name]
		if first, _, below := strings.Cut(name[len(prefix):], "/"); below && !deep {
			o = storage.Object{Name: prefix + first + "/"}
		}
		if len(list) == 0 || list[len(list)-1].Name != o.Name {
			list = append(list, o)
		}
	}
	return list
}

// Stat implements storage.Store.
func (d *Distant) Stat(ctx context.Context, name string) (storage.Object, error) {
	_, end, err := d.begin(ctx, "stat", name)
	if err != nil {
		return storage.Object{}, err
	}
	o, err := d.Store.Stat(ctx, name)
	return o, errors.Join(err, end())
}

// Open implements storage.Store.
func (d *Distant) Open(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, storage.Object, error) {
	served := d.serve()
	_, end, err := d.begin(ctx, "open", name)
	if err == nil {
		err = end()
	}
	if err == nil && !served {
		err = fmt.Errorf("503 Slow Down: %w", storage.ErrBusy)
	}
	var body io.ReadCloser
	var is storage.Object
	if err == nil {
		body, is, err = d.Store.Open(ctx, name, version, offset, length)
	}
	if err != nil {
		if served {
			d.served()
		}
		return nil, storage.Object{}, err
	}
	return &distantBody{ReadCloser: body, ctx: ctx, from: d, arrives: d.send(min(length, is.Size-offset))}, is, nil
}

// serve counts a request for a range, and reports whether it is carried out.
func (d *Distant) serve() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ranges.First.IsZero() {
		d.ranges.First = time.Now()
	}
	if d.Serves > 0 && d.serves == d.Serves {
		d.ranges.Refused++
		return false
	}
	d.serves++
	d.ranges.Most = max(d.ranges.Most, d.serves)
	return true
}

// served ends what serve began.
func (d *Distant) served() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serves--
	d.ranges.Last = time.Now()
}

// send returns when a body of n bytes has arrived, after those that were sent before it.
func (d *Distant) send(n int64) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.Bandwidth == 0 {
		return now
	}
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(time.Duration(float64(n) / float64(d.Bandwidth) * float64(time.Second)))
	return d.free
}

// distantBody is a body that arrives at some time.
type distantBody struct {
	io.ReadCloser
	ctx     context.Context
	from    *Distant
	arrives time.Time
	once    sync.Once
}

func (b *distantBody) Read(p []byte) (int, error) {
	if wait := time.Until(b.arrives); wait > 0 {
		select {
		case <-time.After(wait):
		case <-b.ctx.Done():
			return 0, context.Cause(b.ctx)
		}
	}
	return b.ReadCloser.Read(p)
}

func (b *distantBody) Close() error {
	b.once.Do(b.from.served)
	return b.ReadCloser.Close()
}

// Remove implements storage.Store.
func (d *Distant) Remove(ctx context.Context, name string) error {
	_, err := storage.Retry(ctx, func(ctx context.Context) (struct{}, error) {
		_, end, err := d.begin(ctx, "remove", name)
		if err != nil {
			return struct{}{}, err
		}
		d.mu.Lock()
		d.remember(name)
		err = d.Store.Remove(ctx, name)
		d.mu.Unlock()
		return struct{}{}, errors.Join(err, end())
	})
	return err
}

// Unfinished implements storage.Unfinished: parts are not kept.
func (d *Distant) Unfinished(context.Context, string) iter.Seq2[storage.Leftover, error] {
	return func(func(storage.Leftover, error) bool) {}
}
