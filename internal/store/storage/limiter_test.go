package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// crowd makes requests of a limiter, as many at a time as it may allow, and returns its limit after
// each.
func crowd(t *testing.T, l *limiter, requests int, request func() error) (limits []int) {
	var mu sync.Mutex
	inFlight, begun := 0, 0
	var wait sync.WaitGroup
	for range l.most {
		wait.Go(func() {
			for {
				mu.Lock()
				if begun++; begun > requests {
					mu.Unlock()
					return
				}
				mu.Unlock()
				step, err := l.begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inFlight++
				if inFlight > l.most {
					t.Errorf("%d requests in flight, of %d", inFlight, l.most)
				}
				mu.Unlock()
				began := time.Now()
				err = request()
				mu.Lock()
				inFlight--
				mu.Unlock()
				l.end(step, time.Since(began), err)
				l.mu.Lock()
				limit := l.limit
				l.mu.Unlock()
				mu.Lock()
				limits = append(limits, limit)
				mu.Unlock()
				if err != nil {
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
	wait.Wait()
	if l.inFlight != 0 || len(l.waiting) != 0 {
		t.Errorf("%d requests in flight and %d waiting after all", l.inFlight, len(l.waiting))
	}
	return limits
}

func mean(of []int) (sum float64) {
	for _, n := range of {
		sum += float64(n)
	}
	return sum / float64(len(of))
}

// TestLimitSettles finds the number of requests that a store is worth, whose latency varies as much
// as that of a queue does. Seeds make no difference.
func TestLimitSettles(t *testing.T) {
	const requests = 20_000
	for _, test := range []struct {
		name        string
		rate        float64 // requests a second that are answered; 0: any number
		serves      int     // at a time; 0: any number
		refuses     float64 // share of the requests, whatever their number
		least, most float64 // limit on average, over the second half
	}{
		{"latency", 0, 0, 0, 230, 256},
		{"3 are enough", 100, 0, 0, 60, 100},
		{"90 are enough", 3000, 0, 0, 75, 200},
		{"130 are enough", 4300, 0, 0, 110, 200},
		{"40 served", 0, 40, 0, 34, 42},
		{"200 served", 0, 200, 0, 150, 205},
		{"4 served", 0, 4, 0, 8, 12},
		{"1 in 500 refused", 0, 0, 0.002, 64, 256},
		{"1 in 5 refused", 0, 0, 0.2, 8, 12},
	} {
		for seed := range uint64(race.Few(3, 1)) {
			t.Run(fmt.Sprint(test.name, ", seed ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(seed, 0))
					var mu sync.Mutex
					var free time.Time // when all that was asked for is answered
					served, refused := 0, 0
					limits := crowd(t, newLimiter(256), requests, func() error {
						mu.Lock()
						latency := 10*time.Millisecond + time.Duration(random.ExpFloat64()*float64(20*time.Millisecond))
						answered := time.Now()
						if test.rate > 0 {
							if free.Before(answered) {
								free = answered
							}
							free = free.Add(time.Duration(random.ExpFloat64() / test.rate * float64(time.Second)))
							answered = free
						}
						busy := test.serves > 0 && served == test.serves || random.Float64() < test.refuses
						if busy {
							refused++
						} else {
							served++
						}
						mu.Unlock()
						time.Sleep(max(latency, time.Until(answered)))
						if busy {
							return fmt.Errorf("503: %w", ErrBusy)
						}
						mu.Lock()
						defer mu.Unlock()
						served--
						return nil
					})
					got := mean(limits[len(limits)/2:])
					t.Logf("limit %.0f on average, %.1f%% refused", got, 100*float64(refused)/float64(len(limits)))
					if got < test.least || got > test.most {
						t.Errorf("want %.0f to %.0f", test.least, test.most)
					}
					if test.serves > 8 && refused > requests/50 {
						t.Errorf("%d of %d refused", refused, requests)
					}
				})
			})
		}
	}
}

// TestLimitGivesUp ends contexts of requests that wait: none that is left waits for ever, and the
// limit stays as it is.
func TestLimitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(4)
		random := rand.New(rand.NewPCG(1, 1))
		var mu sync.Mutex
		began, gaveUp := 0, 0
		var wait sync.WaitGroup
		for range 2000 {
			mu.Lock()
			patience, took := time.Duration(random.IntN(50)), time.Duration(random.IntN(4))
			mu.Unlock()
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience*time.Millisecond)
				defer cancel()
				step, err := l.begin(ctx)
				mu.Lock()
				if err == nil {
					began++
				} else if gaveUp++; !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				mu.Unlock()
				if err == nil {
					time.Sleep(took * time.Millisecond)
					l.end(step, took, nil)
				}
			})
		}
		wait.Wait()
		if began == 0 || gaveUp == 0 || l.inFlight != 0 || len(l.waiting) != 0 || l.limit != 4 {
			t.Errorf("%d began, %d gave up: %d in flight and %d waiting of %d", began, gaveUp, l.inFlight, len(l.waiting), l.limit)
		}
	})
}
