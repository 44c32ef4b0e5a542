package sha256pair

import (
	"hash"
	"slices"
	"sync"
)

// Queue is a stream of which pieces wait to be hashed. Its methods are called by one goroutine.
type Queue struct {
	sum    hash.Hash
	pieces []piece
	busy   bool // some goroutine hashes the first piece
	idle   *sync.Cond
}

// piece is the rest of the data of one Add that is not hashed yet.
type piece struct {
	data []byte
	done func()
}

// queues are the open queues of all goroutines.
var queues struct {
	sync.Mutex
	open    int
	waiting []*Queue // that have pieces and are not busy
}

// mostWaiting is the maximum number of pieces in a queue that wait for another one. With fewer,
// queues that do not always work at the same time, as on a busy machine, miss each other more
// often.
const mostWaiting = 4

// NewQueue returns a queue that adds to sum, a hash of package crypto/sha256.
func NewQueue(sum hash.Hash) *Queue {
	queues.Lock()
	defer queues.Unlock()
	queues.open++
	return &Queue{sum: sum, idle: sync.NewCond(&queues)}
}

// Add hashes data, at once or later, and calls done, in any goroutine, when data may be used again.
// done must not use a queue.
func (q *Queue) Add(data []byte, done func()) {
	queues.Lock()
	defer queues.Unlock()
	q.pieces = append(q.pieces, piece{data, done})
	most := mostWaiting
	if queues.open < 2 {
		most = 0
	}
	q.work(most)
}

// Flush hashes the remaining data.
func (q *Queue) Flush() {
	queues.Lock()
	defer queues.Unlock()
	q.work(0)
}

// Close ends the use of the queue. It does not hash the remaining data.
func (q *Queue) Close() {
	queues.Lock()
	defer queues.Unlock()
	for q.busy {
		q.idle.Wait()
	}
	queues.open--
	q.leave()
	for _, p := range q.pieces {
		p.done()
	}
	q.pieces = nil
}

// work hashes pieces until at most most are left, each together with one of another queue if there is
// one. The queue that has too many does it, and not the one that finds another: it is ahead.
func (q *Queue) work(most int) {
	for {
		switch {
		case q.busy && len(q.pieces) > most+1, q.busy && most == 0:
			q.idle.Wait()
		case q.busy:
			return
		case len(q.pieces) > most:
			q.leave()
			q.hash()
		default:
			q.wait()
			return
		}
	}
}

// wait makes the queue one that waits, if it has anything to wait for.
func (q *Queue) wait() {
	if len(q.pieces) > 0 && !slices.Contains(queues.waiting, q) {
		queues.waiting = append(queues.waiting, q)
	}
}

// leave makes the queue one that does not wait.
func (q *Queue) leave() {
	if i := slices.Index(queues.waiting, q); i >= 0 {
		queues.waiting = slices.Delete(queues.waiting, i, i+1)
	}
}

// hash hashes the first piece of q or, if another queue waits, as much of it as the other has.
func (q *Queue) hash() {
	q.busy = true
	p := q.pieces[0].data
	if len(queues.waiting) == 0 {
		queues.Unlock()
		q.sum.Write(p)
		queues.Lock()
		q.hashed(len(p))
		return
	}
	other := queues.waiting[0]
	other.leave()
	other.busy = true
	r := other.pieces[0].data
	n := min(len(p), len(r))
	queues.Unlock()
	write(q.sum, other.sum, p[:n], r[:n])
	queues.Lock()
	q.hashed(n)
	other.hashed(n)
	other.wait()
}

// hashed ends the hashing of the first n bytes of the first piece.
func (q *Queue) hashed(n int) {
	q.busy = false
	first := &q.pieces[0]
	if first.data = first.data[n:]; len(first.data) == 0 {
		first.done()
		q.pieces = slices.Delete(q.pieces, 0, 1)
	}
	q.idle.Signal()
}
