package storage

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// ErrBusy is wrapped by the errors of requests that a store rejected because it gets too many
// (status 429 or 503).
var ErrBusy = errors.New("too many requests")

// Limited returns a context that limits the number of requests in flight to each store: requests
// made with it, or by files opened with it, wait their turn. The limit adapts to the store. It is
// for small requests that are made ahead of their use: others neither wait nor count.
func Limited(ctx context.Context) context.Context {
	return context.WithValue(ctx, limitedKey{}, true)
}

type limitedKey struct{}

// MostRequests returns the maximum number of requests of contexts from [Limited] in flight to a
// store.
func MostRequests() int { return network.Load().requests }

const (
	firstLimit = 64 // before anything is known of a store
	leastLimit = 8  // whatever is refused

	doubling = 2    // the steps up to the first one that does not pay
	smallest = 1.25 // those after it

	// paysShare is the fraction of the gain at constant latency that a step must achieve.
	paysShare = 1.0 / 3

	firstHold, longestHold = 8, 128 // rounds between a step that does not pay and the next
	refusedHold            = 2      // rounds for one request more, once some were refused
)

// limiter finds the best number of requests in flight to a store. A round is as many answers as the
// limit allows requests in flight. Only answers that come while the limit is fully used count: at
// the highest limit, while that many requests are in flight, and below it, while others wait.
//
// The limit doubles as long as this increases throughput, which is the limit divided by the mean
// latency (Little's law): constant latency is due to the network, and growing latency to a queue,
// which gets time to fill up before it is judged. A step that does not pay is undone. A smaller one
// is tried some rounds later, and again after twice as many.
//
// A refused request lowers the limit by one: of more requests than a store takes, as many are left
// as it takes. From then on, the limit grows by one every other round, as TCP's does in congestion
// avoidance (RFC 5681).
type limiter struct {
	most int

	mu       sync.Mutex
	waiting  []*waiter // in order
	inFlight int
	limit    int

	step    int           // steps so far: the latency of a request counts if it began after the last one
	answers int           // since then
	latency time.Duration // of them together
	due     int           // answers at which the limit may change
	factor  float64       // of the next step
	hold    int           // rounds after the next step that does not pay
	refused bool          // some were, at any time
	from    int           // the limit before the last step; 0 if that is settled
	mean    time.Duration // the latency then
	filled  bool          // a queue has had time to fill up since
}

// waiter is a request that may not begin yet.
type waiter struct {
	ready chan struct{} // closed when it may
	step  int
}

func newLimiter(most int) *limiter {
	first := min(firstLimit, most)
	return &limiter{most: most, limit: first, due: first, factor: doubling, hold: firstHold}
}

var allLimiters sync.Map // by Store

func limiterOf(s Store) *limiter {
	if l, ok := allLimiters.Load(s); ok {
		return l.(*limiter)
	}
	l, _ := allLimiters.LoadOrStore(s, newLimiter(MostRequests()))
	return l.(*limiter)
}

// turn is the place of a request among those in flight.
type turn struct {
	limiter *limiter // nil for a request that does not count
	step    int
	began   time.Time
}

// takeTurn waits until a request to a store may begin. The caller ends the turn, unless there is an
// error, which is the context's.
func takeTurn(ctx context.Context, s Store) (turn, error) {
	if ctx.Value(limitedKey{}) == nil {
		return turn{}, nil
	}
	l := limiterOf(s)
	step, err := l.begin(ctx)
	return turn{l, step, time.Now()}, err
}

// end ends a turn. err is nil if the response has been read to its end.
func (t turn) end(err error) {
	if t.limiter != nil {
		t.limiter.end(t.step, time.Since(t.began), err)
	}
}

func (l *limiter) begin(ctx context.Context) (step int, err error) {
	l.mu.Lock()
	if l.inFlight < l.limit && len(l.waiting) == 0 {
		defer l.mu.Unlock()
		l.inFlight++
		return l.step, nil
	}
	w := &waiter{ready: make(chan struct{})}
	l.waiting = append(l.waiting, w)
	l.mu.Unlock()
	select {
	case <-w.ready:
		return w.step, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, w); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else { // it may begin, and does not
		l.inFlight--
		l.admit()
	}
	return 0, context.Cause(ctx)
}

func (l *limiter) end(step int, took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	used := len(l.waiting) > 0 || l.limit == l.most && l.inFlight >= l.most*9/10
	l.inFlight--
	switch {
	case errors.Is(err, ErrBusy):
		l.refuse()
	case err == nil && used && (step == l.step || l.refused):
		l.answers++
		if l.latency += took; l.answers >= l.due {
			l.adapt()
		}
	}
	l.admit()
}

// admit lets requests begin as far as the limit allows.
func (l *limiter) admit() {
	for l.inFlight < l.limit && len(l.waiting) > 0 {
		w := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		w.step = l.step
		l.inFlight++
		close(w.ready)
	}
}

// refuse lowers the limit.
func (l *limiter) refuse() {
	l.limit = max(l.limit-1, min(leastLimit, l.most))
	if !l.refused {
		l.refused, l.from = true, 0
		l.measure(refusedHold * l.limit)
	}
}

// measure begins to measure latency, and to count up to a number of answers.
func (l *limiter) measure(answers int) {
	l.step++
	l.answers, l.latency, l.due = 0, 0, answers
}

// adapt changes the limit after enough answers.
func (l *limiter) adapt() {
	mean := l.latency / time.Duration(l.answers)
	switch {
	case l.refused:
		l.limit = min(l.limit+1, l.most)
		l.measure(refusedHold * l.limit)
	case l.from > 0 && !l.filled && mean > l.mean+l.mean/10:
		l.filled = true
		l.measure(2 * l.limit)
	case l.from > 0 && !pays(l.from, l.limit, l.mean, mean):
		l.limit, l.from, l.factor = l.from, 0, smallest
		l.measure(l.hold * l.limit)
		l.hold = min(2*l.hold, longestHold)
	case l.limit == l.most:
		l.from = 0
		l.measure(math.MaxInt)
	default:
		if l.from > 0 {
			l.hold = firstHold
		}
		l.from, l.mean = l.limit, mean
		l.limit = min(int(math.Ceil(float64(l.limit)*l.factor)), l.most)
		if l.filled = l.factor != doubling; l.filled {
			l.measure(4 * l.limit) // a small gain takes more answers to detect
		} else {
			l.measure(l.limit - l.from)
		}
	}
}

// pays reports whether a step from one limit to another is worth it, given the mean latencies.
func pays(from, to int, before, after time.Duration) bool {
	grew := float64(to) / float64(from)
	brought := grew * float64(before) / float64(max(after, 1))
	return brought-1 >= (grew-1)*paysShare
}
