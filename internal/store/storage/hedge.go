package storage

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// hedger counts the requests for ranges of a store, and how long their answers took to begin.
type hedger struct {
	mu       sync.Mutex
	requests int64 // for ranges
	hedged   int64 // of which a second one was made
	took     []time.Duration
	next     int // of took, when it is full
	p95      time.Duration
}

const (
	hedgeShare   = 20  // one request in as many may be hedged
	hedgeSamples = 200 // last answers that p95 is of
	hedgeUpdate  = 20  // answers after which it is computed again
)

var allHedgers sync.Map // by Store

func hedgerOf(s Store) *hedger {
	h, _ := allHedgers.LoadOrStore(s, new(hedger))
	return h.(*hedger)
}

// begin counts a request, and returns when to make a second one; 0 is never.
func (h *hedger) begin(after hedgeAfter) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests++
	if after.slowest {
		return h.p95
	}
	return after.delay
}

// allow reports whether a second request may be made, and counts it.
func (h *hedger) allow() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if (h.hedged+1)*hedgeShare > h.requests {
		return false
	}
	h.hedged++
	return true
}

// answered counts how long an answer took to begin.
func (h *hedger) answered(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.took) < hedgeSamples {
		h.took = append(h.took, d)
	} else {
		h.took[h.next] = d
	}
	h.next = (h.next + 1) % hedgeSamples
	if h.next%hedgeUpdate == 0 {
		sorted := slices.Sorted(slices.Values(h.took))
		h.p95 = sorted[len(sorted)*95/100]
	}
}

// opening is the answer to a request for a range.
type opening struct {
	body io.ReadCloser
	is   Object
	err  error
	from int // which of the requests
}

// openRange is Store.Open. If hedging is on and the answer does not begin in time, a second request
// is made: the first answer is taken, and the other request is cancelled. The body ends with ctx,
// which the caller cancels.
func openRange(ctx context.Context, s Store, name, version string, off, length int64) (io.ReadCloser, Object, error) {
	after := network.Load().hedge
	if after == (hedgeAfter{}) {
		return s.Open(ctx, name, version, off, length)
	}
	h := hedgerOf(s)
	began := time.Now()
	answers := make(chan opening, 2)
	var cancels []context.CancelFunc
	ask := func() {
		own, cancel := context.WithCancel(ctx)
		from := len(cancels)
		cancels = append(cancels, cancel)
		go func() {
			body, is, err := s.Open(own, name, version, off, length)
			answers <- opening{body, is, err, from}
		}()
	}
	ask()
	var late <-chan time.Time
	if d := h.begin(after); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	for pending := 1; ; {
		select {
		case <-late:
			if late = nil; h.allow() {
				ask()
				pending++
			}
		case a := <-answers:
			pending--
			if a.err != nil && pending > 0 && !lasting(a.err) {
				continue // the other one may be answered
			}
			if a.err == nil {
				h.answered(time.Since(began))
			}
			if pending > 0 {
				cancels[1-a.from]()
				go discard(answers)
			}
			return a.body, a.is, a.err
		}
	}
}

// discard closes the answer that came too late.
func discard(answers <-chan opening) {
	if a := <-answers; a.err == nil {
		a.body.Close()
	}
}
