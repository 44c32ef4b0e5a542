package plan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/testwait"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// numbers yields n tasks; each makes a piece of the given size with its number.
func numbers(n int, size int, inside func(i int) error) func(yield func(numbered, error) bool) {
	return func(yield func(numbered, error) bool) {
		for i := range n {
			run := func(p *Piece) error {
				if size > 0 {
					p.Frames = make([]byte, size)
				}
				p.Samples = int64(i)
				return inside(i)
			}
			if !yield(numbered{shard: i / 10, run: run}, nil) {
				return
			}
		}
	}
}

// orderedSync is ordered with a consumer that frees each piece when it returns.
func orderedSync(ctx context.Context, tasks iter.Seq2[numbered, error], workers, window int, bytes, memory int64, consume func(shard int, p *Piece) error) error {
	return ordered(ctx, tasks, workers, window, bytes, memory, func(t numbered, p *Piece) error {
		err := consume(t.shard, p)
		if err == nil {
			p.free()
		}
		return err
	})
}

func TestOrderedKeepsTheOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, bytes := range []int64{1, 1 << 10, 1 << 30} {
			next := 0
			err := orderedSync(context.Background(), numbers(200, 300, func(int) error {
				time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
				return nil
			}), workers, 2*workers+2, bytes, 0, func(shard int, p *Piece) error {
				if int(p.Samples) != next || shard != next/10 {
					t.Fatalf("piece %d of job %d comes in place %d", p.Samples, shard, next)
				}
				next++
				return nil
			})
			if err != nil || next != 200 {
				t.Errorf("%d workers, %d bytes: %d pieces, %v", workers, bytes, next, err)
			}
		}
	}
}

func TestOrderedHoldsFewBytes(t *testing.T) {
	const size, workers, limit = 1 << 20, 4, 3 << 20
	var held, most atomic.Int64
	err := orderedSync(context.Background(), numbers(60, size, func(int) error {
		if n := held.Add(size); n > most.Load() {
			most.Store(n)
		}
		return nil
	}), workers, 50, limit, 0, func(int, *Piece) error {
		time.Sleep(time.Millisecond) // slower than the workers
		held.Add(-size)
		return nil
	})
	// Above the limit by what the workers had begun when it was reached.
	if want := int64(limit + (workers+1)*size); err != nil || most.Load() > want {
		t.Errorf("held %d bytes, want at most %d; %v", most.Load(), want, err)
	}
}

// Pieces that are freed late, and in another order, count until then: memory stays within its bound.
func TestOrderedFreesInAnyOrder(t *testing.T) {
	const size, limit, workers, n = 1 << 10, 8 << 10, 4, 2000
	rng := torture.Rand(t)
	var unfreed, most atomic.Int64
	var writers sync.WaitGroup
	shards := make([]chan *Piece, 5)
	for i := range shards {
		shards[i] = make(chan *Piece, n)
		writers.Go(func() {
			for p := range shards[i] {
				runtime.Gosched()
				unfreed.Add(-size)
				p.free()
			}
		})
	}
	next := 0
	err := ordered(t.Context(), numbers(n, size, func(int) error {
		if held := unfreed.Add(size); held > most.Load() {
			most.Store(held)
		}
		return nil
	}), workers, window(workers), limit, 0, func(_ numbered, p *Piece) error {
		if int(p.Samples) != next {
			t.Errorf("piece %d comes in place %d", p.Samples, next)
		}
		next++
		shards[rng.IntN(len(shards))] <- p
		return nil
	})
	for _, c := range shards {
		close(c)
	}
	writers.Wait()
	if want := int64(limit + (workers+1)*size); err != nil || next != n || most.Load() > want {
		t.Errorf("%d pieces, %d bytes at once, want at most %d; %v", next, most.Load(), want, err)
	}
}

func TestOrderedStops(t *testing.T) {
	before := runtime.NumGoroutine()
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, run := range map[string]func() error{
		"task": func() error {
			return orderedSync(ctx, numbers(1000, 10, func(i int) error {
				if i == 50 {
					return broken
				}
				return nil
			}), 3, 8, 1, 0, func(int, *Piece) error { return nil })
		},
		"consumer": func() error {
			return orderedSync(ctx, numbers(1000, 10, func(int) error { return nil }), 3, 8, 1, 0, func(_ int, p *Piece) error {
				if p.Samples == 50 {
					return broken
				}
				return nil
			})
		},
		"source": func() error {
			return orderedSync(ctx, func(yield func(numbered, error) bool) { yield(numbered{}, broken) }, 3, 8, 1, 0, func(int, *Piece) error { return nil })
		},
	} {
		if err := run(); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := orderedSync(ctx, numbers(1000, 10, func(i int) error {
		if i == 50 {
			cancel()
		}
		return nil
	}), 3, 8, 1, 0, func(int, *Piece) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	testwait.Until(func() bool { return runtime.NumGoroutine() <= before })
}

// TestOrderedMemory: tasks reserve at random, several times each. All eventually get what they
// request, in order; together they never exceed the bound unless only one is working.
func TestOrderedMemory(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		memory, workers, next, alone := 50+r.Int64N(1000), 1+r.IntN(8), 0, atomic.Int64{}
		tasks := func(yield func(numbered, error) bool) {
			for i := range 300 {
				asks, sum := make([]int64, 1+r.IntN(3)), int64(0)
				for j := range asks {
					if asks[j] = 1 + r.Int64N(memory/2); r.IntN(40) == 0 {
						asks[j] = 1 + r.Int64N(3*memory)
					}
					sum += asks[j]
				}
				size, settles := r.Int64N(min(sum, 60)+1), r.IntN(2) == 0
				run := func(p *Piece) error {
					for _, n := range asks {
						if err := p.Reserve(n); err != nil {
							return err
						}
						h := p.room.holding
						h.mu.Lock()
						if h.bytes+h.reserved > memory {
							if alone.Add(1); h.active != p.room.reserved {
								t.Errorf("seed %d: %d reserved and %d made of %d, and others are at work with %d", seed, h.reserved, h.bytes, memory, h.active-p.room.reserved)
							}
						}
						h.mu.Unlock()
						runtime.Gosched()
					}
					p.Samples, p.Frames = int64(i), make([]byte, size)
					if settles {
						p.Settle()
					}
					return nil
				}
				if !yield(numbered{run: run}, nil) {
					return
				}
			}
		}
		err := orderedSync(context.Background(), tasks, workers, 2*workers+2, 1<<20, memory, func(_ int, p *Piece) error {
			if int(p.Samples) != next {
				t.Errorf("piece %d in place %d", p.Samples, next)
			}
			next++
			return nil
		})
		if err != nil || next != 300 || alone.Load() == 0 {
			t.Fatalf("seed %d: %d pieces, %d alone, %v", seed, next, alone.Load(), err)
		}
	}
}

// TestOrderedMemoryStops: a task that waits for memory notices that the run has failed.
func TestOrderedMemoryStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		has := make(chan struct{})
		tasks := []Fill{
			func(p *Piece) error {
				err := p.Reserve(10)
				close(has)
				synctest.Wait() // until the other one waits for memory
				return errors.Join(err, broken)
			},
			func(p *Piece) error {
				<-has
				if err := p.Reserve(10); !errors.Is(err, context.Canceled) {
					t.Errorf("it waits no more, with %v", err)
				}
				return nil
			},
		}
		err := orderedSync(t.Context(), func(yield func(numbered, error) bool) {
			for _, run := range tasks {
				if !yield(numbered{run: run}, nil) {
					return
				}
			}
		}, 2, 6, 1<<20, 15, func(int, *Piece) error { return nil })
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}

// TestOrderedFirstError: several tasks fail while competing for memory: whatever the timing, the
// error is that of the first one, and all pieces before it are consumed.
func TestOrderedFirstError(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		const n = 60
		var errs [n]error
		first := n
		for range 1 + r.IntN(4) {
			i := r.IntN(n)
			errs[i], first = fmt.Errorf("task %d", i), min(first, i)
		}
		workers, memory, next := 1+r.IntN(8), 50+r.Int64N(200), 0
		tasks := func(yield func(numbered, error) bool) {
			for i := range n {
				asks := [2]int64{1 + r.Int64N(memory/2), 1 + r.Int64N(2*memory)}
				run := func(p *Piece) error {
					for _, ask := range asks {
						if err := p.Reserve(ask); err != nil {
							return err
						}
						time.Sleep(time.Duration(rand.IntN(20)) * time.Microsecond)
					}
					p.Samples = int64(i)
					return errs[i]
				}
				if !yield(numbered{run: run}, nil) {
					return
				}
			}
		}
		err := orderedSync(context.Background(), tasks, workers, 2*workers+2, 1<<20, memory, func(_ int, p *Piece) error {
			if int(p.Samples) != next {
				t.Errorf("piece %d in place %d", p.Samples, next)
			}
			next++
			return nil
		})
		if err != errs[first] || next != first {
			t.Fatalf("seed %d: %d pieces and %v, want %d and %v", seed, next, err, first, errs[first])
		}
	}
}

// TestOrderedCancelled: a cancelled run returns the context's error, whatever the cause.
func TestOrderedCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	err := orderedSync(ctx, numbers(1000, 10, func(i int) error {
		if i == 50 {
			cancel(errors.New("interrupt"))
		}
		return nil
	}), 3, 8, 1, 0, func(int, *Piece) error { return nil })
	if err != context.Canceled {
		t.Error(err)
	}
}
