package par

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// item is a number on its way through a map.
type item struct{ n, worked int }

// numbers gives the items below n, at random times.
func numbers(n int) func(context.Context, func(*item) error) error {
	return func(_ context.Context, give func(*item) error) error {
		for i := range n {
			time.Sleep(time.Duration(rand.IntN(5)))
			if err := give(&item{n: i}); err != nil {
				return err
			}
		}
		return nil
	}
}

// square works on an item, for a random time.
func square(_ context.Context, x *item) error {
	time.Sleep(time.Duration(rand.IntN(50)))
	x.worked = x.n * x.n
	return nil
}

// inOrder returns a consume that checks the items, and takes a random time.
func inOrder(t *testing.T, next *int) func(*item) error {
	return func(x *item) error {
		if x.n != *next || x.worked != x.n*x.n {
			t.Errorf("item %d, worked on to %d, in position %d", x.n, x.worked, *next)
		}
		*next++
		time.Sleep(time.Duration(rand.IntN(20)))
		return nil
	}
}

// shapes calls f with numbers of workers and windows, each in a bubble.
func shapes(t *testing.T, f func(t *testing.T, workers, window int)) {
	for _, workers := range []int{1, 2, 7} {
		for _, window := range []int{0, 1, 2, 2*workers + 2, 1000} {
			t.Run(fmt.Sprintf("%d workers, window %d", workers, window), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(t, workers, window) })
			})
		}
	}
}

func TestMapKeepsTheOrder(t *testing.T) {
	shapes(t, func(t *testing.T, workers, window int) {
		for _, n := range []int{0, 1, 200} {
			next := 0
			if err := Map(t.Context(), workers, window, numbers(n), square, inOrder(t, &next)); err != nil || next != n {
				t.Errorf("%d of %d items: %v", next, n, err)
			}
		}
	})
}

// TestMapBounds: no more workers at work than there are, and no more items given and not
// consumed than the window, one that is consumed and one that is given allow.
func TestMapBounds(t *testing.T) {
	shapes(t, func(t *testing.T, workers, window int) {
		var given, working, consumed atomic.Int64
		err := Map(t.Context(), workers, window,
			func(ctx context.Context, give func(*item) error) error {
				return numbers(300)(ctx, func(x *item) error {
					given.Add(1)
					return give(x)
				})
			},
			func(ctx context.Context, x *item) error {
				if n := working.Add(1); n > int64(workers) {
					t.Errorf("%d are worked on at a time", n)
				}
				defer working.Add(-1)
				if n := given.Load() - consumed.Load(); n > int64(window)+2 {
					t.Errorf("%d items are under way", n)
				}
				return square(ctx, x)
			},
			func(x *item) error {
				time.Sleep(time.Duration(rand.IntN(100)))
				consumed.Add(1)
				return nil
			})
		if err != nil || consumed.Load() != 300 {
			t.Error(consumed.Load(), err)
		}
	})
}

// TestMapErrors has several items fail, each in some function: whatever the timing, the error
// is that of the first one, and all items before it are consumed.
func TestMapErrors(t *testing.T) {
	shapes(t, func(t *testing.T, workers, window int) {
		for range 200 {
			const n = 60
			var errs [n + 1]error // by item; the last is that of the source
			inWork, inConsume := map[int]bool{}, map[int]bool{}
			first := n
			for range 1 + rand.IntN(4) {
				i := rand.IntN(n)
				errs[i] = fmt.Errorf("item %d", i)
				inWork[i], inConsume[i] = rand.IntN(2) == 0, true
				first = min(first, i)
			}
			if rand.IntN(4) == 0 { // the source alone
				clear(errs[:])
				clear(inWork)
				clear(inConsume)
				first = n
			}
			errs[n] = errors.New("source")
			next := 0
			consume := inOrder(t, &next)
			err := Map(t.Context(), workers, window,
				func(ctx context.Context, give func(*item) error) error {
					if err := numbers(n)(ctx, give); err != nil {
						return err
					}
					return errs[n]
				},
				func(ctx context.Context, x *item) error {
					if err := square(ctx, x); err != nil || inWork[x.n] {
						return errors.Join(err, errs[x.n])
					}
					return nil
				},
				func(x *item) error {
					if inConsume[x.n] {
						return errs[x.n]
					}
					return consume(x)
				})
			if !errors.Is(err, errs[first]) || next != first {
				t.Fatalf("%d items and %v, want %d and %v", next, err, first, errs[first])
			}
		}
	})
}

// TestMapErrorEndsTheSource: a source that waits sees that an item has failed, and the items
// before that are consumed all the same.
func TestMapErrorEndsTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := 0
		consume := inOrder(t, &next)
		err := Map(t.Context(), 3, 8,
			func(ctx context.Context, give func(*item) error) error {
				if err := numbers(3)(ctx, give); err != nil {
					return err
				}
				<-ctx.Done()
				return context.Cause(ctx)
			},
			func(ctx context.Context, x *item) error {
				if x.n == 2 {
					return errStop
				}
				time.Sleep(time.Second)
				if ctx.Err() != nil {
					t.Errorf("the context of item %d ended, and one after it failed", x.n)
				}
				return square(ctx, x)
			}, consume)
		if err != errStop || next != 2 {
			t.Errorf("%d items: %v", next, err)
		}
	})
}

// TestMapCancelled cancels at a random time: the error is the cause, what is consumed was worked
// on, and functions that wait for the context see it end.
func TestMapCancelled(t *testing.T) {
	shapes(t, func(t *testing.T, workers, window int) {
		stopped := 0
		for range 100 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Duration(rand.IntN(2500)), func() { cancel(errStop) })
			next := 0
			err := Map(ctx, workers, window, numbers(100), func(ctx context.Context, x *item) error {
				if rand.IntN(50) == 0 && stopped%2 == 0 {
					<-ctx.Done()
					return context.Cause(ctx)
				}
				return square(ctx, x)
			}, inOrder(t, &next))
			switch {
			case err != nil:
				stopped++
			case next != 100:
				t.Errorf("%d items of 100, and no error", next)
			}
			if err != nil && err != errStop {
				t.Errorf("the error is %v, want the cause", err)
			}
			cancel(nil)
		}
		if stopped == 0 {
			t.Error("none was stopped")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		if err := Map(ctx, workers, window, numbers(1), square, func(*item) error { return nil }); err != errStop {
			t.Errorf("cancelled before it began: %v", err)
		}
	})
}

// TestMapErrorsRace is TestMapErrors with real goroutines at real speed, for the race detector.
func TestMapErrorsRace(t *testing.T) {
	for range 500 {
		fails := rand.IntN(40)
		next := 0
		err := Map(t.Context(), 4, 6,
			func(_ context.Context, give func(*item) error) error {
				for i := range 50 {
					if err := give(&item{n: i}); err != nil {
						return err
					}
				}
				return nil
			},
			func(_ context.Context, x *item) error {
				if x.n >= fails && x.n%3 == fails%3 {
					return fmt.Errorf("item %d", x.n)
				}
				return nil
			},
			func(x *item) error {
				if x.n != next {
					t.Errorf("item %d in position %d", x.n, next)
				}
				next++
				return nil
			})
		if want := fmt.Sprintf("item %d", fails); err == nil || err.Error() != want || next != fails {
			t.Fatalf("%d items and %v, want %d and %s", next, err, fails, want)
		}
	}
}

// TestMapConsumesOnlyWhatWasWorkedOn cancels a map whose consumer is late: what no worker took any
// more must not pass for done.
func TestMapConsumesOnlyWhatWasWorkedOn(t *testing.T) {
	const things = 8
	why := errors.New("enough")
	for range 200 {
		ctx, cancel := context.WithCancelCause(context.Background())
		begun := make(chan struct{})
		var worked [things]bool
		err := Map(ctx, 1, things,
			func(_ context.Context, give func(int) error) error {
				for i := range things {
					if i == 1 {
						close(begun)
					}
					if err := give(i); err != nil {
						return err
					}
				}
				return nil
			},
			func(_ context.Context, i int) error {
				<-begun
				cancel(why)
				worked[i] = true
				return nil
			},
			func(i int) error {
				if !worked[i] {
					t.Fatalf("%d is consumed, and nobody worked on it", i)
				}
				return nil
			})
		if !errors.Is(err, why) {
			t.Fatalf("a cancelled map said %v, want %v", err, why)
		}
	}
}
