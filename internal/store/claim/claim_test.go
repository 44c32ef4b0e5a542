package claim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/store/storage/storagetest"
)

// inTime runs a test on a clock that jumps when everybody waits, and on a store whose
// own is wrong by an hour.
func inTime(t *testing.T, test func(t *testing.T, s *storagetest.Store)) {
	for _, wrong := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(fmt.Sprintf("store's clock %v", wrong), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := storagetest.New()
				s.Now = func() time.Time { return time.Now().Add(wrong).Truncate(time.Second) }
				test(t, s)
			})
		})
	}
}

func take(t *testing.T, ctx context.Context, s *storagetest.Store, o Options) *Claim {
	t.Helper()
	c, err := Take(ctx, s, "set/claims", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// die has a claim end as with its process: nobody renews it, and it stays.
func (c *Claim) die() {
	c.cancel(context.Canceled)
	c.keeper.Wait()
}

func TestOneAtATime(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		first := take(t, t.Context(), s, Options{})
		began := time.Now()
		var notes []string
		_, err := Take(t.Context(), s, "set/claims", Options{Note: func(n string) { notes = append(notes, n) }})
		if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "process ") {
			t.Errorf("a second claim: %v, want ErrHeld and by whom", err)
		}
		if waited := time.Since(began); waited > Renew+Renew/4 {
			t.Errorf("it took %v to find out that the first one lives, which is renewed every %v", waited, Renew)
		}
		if len(notes) != 1 {
			t.Errorf("notes %q, want one", notes)
		}
		if _, err := Take(t.Context(), s, "set/claims", Options{Shared: true}); !errors.Is(err, ErrHeld) {
			t.Errorf("a shared one: %v", err)
		}
		time.Sleep(10 * Expire)
		if err := first.Check(); err != nil {
			t.Errorf("after a while: %v", err)
		}
		first.Release()
		take(t, t.Context(), s, Options{}).Release()
		if left := s.Names(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

func TestSharedTogether(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		a, b := take(t, t.Context(), s, Options{Shared: true}), take(t, t.Context(), s, Options{Shared: true})
		if _, err := Take(t.Context(), s, "set/claims", Options{}); !errors.Is(err, ErrHeld) {
			t.Errorf("one alone beside them: %v", err)
		}
		a.Release()
		b.Release()
		take(t, t.Context(), s, Options{}).Release()
	})
}

// A process that died is waited for until its claim has expired, and no longer; one
// that died long ago not at all.
func TestDeadAreCleared(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		take(t, t.Context(), s, Options{}).die()
		time.Sleep(Renew)
		began := time.Now()
		c := take(t, t.Context(), s, Options{})
		if waited := time.Since(began); waited < Expire-Renew-time.Second || waited > Expire {
			t.Errorf("waited for %v, with %v left", waited, Expire-Renew)
		}
		if len(c.Cleared()) != 1 {
			t.Errorf("cleared %v", c.Cleared())
		}
		c.die()
		time.Sleep(2 * Expire)
		began = time.Now()
		take(t, t.Context(), s, Options{}).Release()
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("waited for %v for one that was dead for long", waited)
		}
		if left := s.Names(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// A process that was stopped, whose claim somebody else has removed, notices.
func TestLost(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		sleeper := take(t, t.Context(), s, Options{})
		sleeper.turn <- struct{}{} // keeps it from renewing
		other := take(t, t.Context(), s, Options{})
		<-sleeper.turn
		if err := sleeper.Check(); !errors.Is(err, ErrLost) {
			t.Errorf("after somebody else took over: %v", err)
		}
		if cause := context.Cause(sleeper.Context()); !errors.Is(cause, ErrLost) {
			t.Errorf("its context: %v", cause)
		}
		sleeper.Release()
		if err := other.Check(); err != nil {
			t.Error(err)
		}
		other.Release()
	})
}

// A claim that nobody has taken over continues.
func TestSleptAlone(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		c := take(t, t.Context(), s, Options{})
		c.turn <- struct{}{}
		time.Sleep(5 * Expire)
		<-c.turn
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		c.Release()
	})
}

// An outage shorter than a claim's life is harmless, and so is a longer one without other
// processes.
func TestOutage(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		from, to := time.Now().Add(2*Renew), time.Now().Add(2*Renew+10*Expire)
		s.Fault = func(string, string) error {
			if now := time.Now(); now.After(from) && now.Before(to) {
				return errors.New("503")
			}
			return nil
		}
		c := take(t, t.Context(), s, Options{})
		time.Sleep(2*Renew + Expire)
		short, cancel := context.WithTimeout(t.Context(), Renew)
		defer cancel()
		checked := make(chan error, 1)
		go func() { checked <- c.Check() }()
		select {
		case err := <-checked:
			if err == nil {
				t.Error("nothing could be found out, and Check says that all is well")
			}
		case <-short.Done(): // it still tries
		}
		time.Sleep(10 * Expire)
		if err := c.Check(); err != nil {
			t.Errorf("after the outage: %v", err)
		}
		c.Release()
	})
}

// All waiting processes get the claim, one at a time.
func TestManyInTurn(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		var group sync.WaitGroup
		inside, most, times := 0, 0, 0
		var mu sync.Mutex
		began := time.Now()
		for range 30 {
			group.Go(func() {
				c, err := Take(t.Context(), s, "set/claims", Options{Wait: true})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside, times = inside+1, times+1
				most = max(most, inside)
				mu.Unlock()
				time.Sleep(100 * time.Millisecond)
				mu.Lock()
				inside--
				mu.Unlock()
				c.Release()
			})
		}
		group.Wait()
		if most != 1 || times != 30 {
			t.Errorf("%d at a time, %d in all", most, times)
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("30 turns of 100 ms took %v", took)
		}
		if left := s.Names(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// Whichever request of two concurrent claims fails, they never both hold it.
func TestNeverTwo(t *testing.T) {
	for seed := range 40 {
		synctest.Test(t, func(t *testing.T) {
			s := storagetest.New()
			var mu sync.Mutex
			requests := 0
			s.Fault = func(kind, name string) error {
				mu.Lock()
				requests++
				n := requests
				mu.Unlock()
				time.Sleep(time.Duration(n*(seed+1)%17) * 10 * time.Millisecond) // a way each
				if n%(seed+3) == 2 {
					return errors.New("503")
				}
				return nil
			}
			held := 0
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() {
					c, err := Take(t.Context(), s, "set/claims", Options{})
					if err != nil {
						return
					}
					mu.Lock()
					held++
					if held > 1 {
						t.Errorf("seed %d: %d have it", seed, held)
					}
					mu.Unlock()
					time.Sleep(3 * Expire)
					err = c.Check()
					mu.Lock()
					held--
					mu.Unlock()
					if errors.Is(err, ErrLost) {
						t.Errorf("seed %d: %v", seed, err)
					}
					c.Release()
				})
			}
			group.Wait()
		})
	}
}

// late is a store whose listings miss the last write a number of times.
type late struct {
	*storagetest.Store
	lists int
}

func (s *late) List(ctx context.Context, prefix string, deep bool) iter.Seq2[storage.Object, error] {
	if s.lists == 0 {
		return s.Store.List(ctx, prefix, deep)
	}
	s.lists--
	return func(yield func(storage.Object, error) bool) {
		var all []storage.Object
		for o := range s.Store.List(ctx, prefix, deep) {
			all = append(all, o)
		}
		newest := slices.MaxFunc(all, func(a, b storage.Object) int { return a.ModTime.Compare(b.ModTime) })
		for _, o := range all {
			if o.Name != newest.Name && !yield(o, nil) {
				return
			}
		}
	}
}

// A process that does not see its own claim does not hold the directory, and does not consider
// others dead.
func TestListsThatAreLate(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		first := take(t, t.Context(), s, Options{})
		defer first.Release()
		time.Sleep(2 * time.Second) // the clock has seconds
		_, err := Take(t.Context(), &late{s, 1}, "set/claims", Options{})
		if !errors.Is(err, ErrHeld) {
			t.Errorf("a second claim: %v, want ErrHeld", err)
		}
		first.turn <- struct{}{}
		err = first.renew(t.Context())
		<-first.turn
		if err != nil {
			t.Errorf("the first one: %v", err)
		}
		c, err := Take(t.Context(), &late{s, 3}, "free/claims", Options{Note: func(string) {}})
		if err != nil {
			t.Fatalf("a free folder: %v", err)
		}
		c.Release()
		_, err = Take(t.Context(), &late{s, 1 << 30}, "free/claims", Options{Note: func(string) {}})
		if err == nil || !strings.Contains(err.Error(), "listings do not show") {
			t.Errorf("with lists that are always late: %v", err)
		}
	})
}

func TestCancelled(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		c := take(t, t.Context(), s, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), Renew/3)
		defer cancel()
		if _, err := Take(ctx, s, "set/claims", Options{Wait: true}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting was cancelled: %v", err)
		}
		c.Release()
		if left := s.Names(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

func TestNotNeeded(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		held := take(t, t.Context(), s, Options{})
		asked := 0
		until := func() (bool, error) {
			asked++
			return asked == 3, nil
		}
		if _, err := Take(t.Context(), s, "set/claims", Options{Wait: true, Until: until}); !errors.Is(err, ErrNotNeeded) || asked != 3 {
			t.Errorf("asked %d times: %v", asked, err)
		}
		broken := errors.New("broken")
		if _, err := Take(t.Context(), s, "set/claims", Options{Wait: true, Until: func() (bool, error) { return false, broken }}); !errors.Is(err, broken) {
			t.Errorf("what fails: %v", err)
		}
		held.Release()
	})
}

// A request to claim that arrives twice is answered by the second one, that the name exists.
func TestClaimedTwice(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		s.Lost = func(name string) error { return fmt.Errorf("%s: %w", name, fs.ErrExist) }
		c, err := Take(t.Context(), s, "set/claims", Options{})
		s.Lost = nil
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Take(t.Context(), s, "set/claims", Options{}); !errors.Is(err, ErrHeld) {
			t.Errorf("a second claim: %v", err)
		}
		c.Release()
		if left := s.Names(); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// A renewal that the store never answers is asked for again before the claim expires, so that others
// see that its process lives.
func TestRenewalUnanswered(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		var puts atomic.Int32
		slow := &unanswered{Store: s, hang: func() bool { return puts.Add(1) == 2 }} // the first renewal
		c, err := Take(t.Context(), slow, "set/claims", Options{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(Expire - time.Second)
		if _, err := Take(t.Context(), s, "set/claims", Options{}); !errors.Is(err, ErrHeld) {
			t.Errorf("a second claim: %v", err)
		}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		c.Release()
	})
}

// unanswered is a store of which some requests to write hang until their context ends.
type unanswered struct {
	*storagetest.Store
	hang func() bool
}

func (s *unanswered) Create(ctx context.Context, name string, o storage.CreateOptions) (storage.Upload, error) {
	if s.hang() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Create(ctx, name, o)
}

// A late renewal is not confused by the claim of a process that died while it tried, nor by one that
// tries meanwhile.
func TestLateBesideOthers(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		c := take(t, t.Context(), s, Options{})
		s.Put("set/claims/alone-dead", nil)
		time.Sleep(2 * Expire)
		stall := func(d time.Duration) {
			c.turn <- struct{}{}
			time.Sleep(d)
			<-c.turn
		}
		stall(Expire/2 + time.Second)
		if err := c.Check(); err != nil {
			t.Errorf("beside a dead one: %v", err)
		}
		s.Remove(t.Context(), "set/claims/alone-dead")

		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if _, err := Take(ctx, s, "set/claims", Options{Wait: true}); !errors.Is(err, context.Canceled) {
				t.Errorf("one that waits: %v", err)
			}
		})
		for range 20 {
			stall(Expire/2 + time.Second)
			if err := c.Check(); err != nil {
				t.Fatalf("beside one that waits: %v", err)
			}
		}
		cancel()
		waiting.Wait()
		c.Release()
	})
}

// Somebody who takes over between the two requests of a late renewal keeps the claim.
func TestTakenOverBetween(t *testing.T) {
	inTime(t, func(t *testing.T, s *storagetest.Store) {
		var other *Claim
		var first *Claim
		slow := &unanswered{Store: s, hang: func() bool {
			if first != nil && other == nil {
				time.Sleep(2 * Expire)
				s.Remove(t.Context(), first.name)
				other = &Claim{} // whoever asks next is not held up
				other = take(t, t.Context(), s, Options{})
			}
			return false
		}}
		c, err := Take(t.Context(), slow, "set/claims", Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.turn <- struct{}{}
		time.Sleep(Expire/2 + time.Second)
		first = c
		<-c.turn
		if err := c.Check(); !errors.Is(err, ErrLost) {
			t.Errorf("after somebody else took over: %v", err)
		}
		if err := other.Check(); err != nil {
			t.Errorf("who took over: %v", err)
		}
		c.Release()
		other.Release()
	})
}

// Hundreds of processes that claim at the same time take turns, though all of them withdraw when
// they meet, and some lists are stale.
func TestHundredsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &storagetest.Distant{Store: storagetest.New(), Seed: 1, Latency: 50 * time.Millisecond, Stale: 0.2, Age: time.Second}
		const processes = 300
		var made atomic.Bool
		var took atomic.Int64
		began := time.Now()
		var all sync.WaitGroup
		for range processes {
			all.Go(func() {
				c, err := Take(t.Context(), d, "set/claims", Options{Wait: true, Until: func() (bool, error) { return made.Load(), nil }})
				if errors.Is(err, ErrNotNeeded) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				took.Add(1)
				made.Store(true)
				c.Release()
			})
		}
		all.Wait()
		d.Stale = 0
		for o, err := range d.List(t.Context(), "set/claims/", true) {
			t.Errorf("left: %q, %v", o.Name, err)
		}
		requests := d.Requests()
		t.Logf("%v, %d of %d took it, %v", time.Since(began), took.Load(), processes, requests)
		if waited := time.Since(began); took.Load() == 0 || waited > 5*time.Minute {
			t.Errorf("%d took it within %v", took.Load(), waited)
		}
		if n := requests["list"] + requests["put"] + requests["remove"]; n > 100*processes {
			t.Errorf("%d requests of %d processes", n, processes)
		}
	})
}
