package storage

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// changedError is the error for received bytes that do not match the store's checksum.
type changedError struct {
	kind   SumKind
	always bool // the same bytes came each time
}

func (e *changedError) Error() string {
	why := "they change on the way, in the network, a proxy or a faulty machine, and the object itself did not"
	if e.always {
		why = "the same bytes came each time, so that a cache on the way has wrong ones, or the store states a wrong checksum"
	}
	return fmt.Sprintf("the bytes that arrive do not have the checksum that the store states (%s): %s", e.kind, why)
}

// mostAlike is the number of times that the same bytes must arrive before a mismatch is an error.
const mostAlike = 3

// checked has get fill data with what begins at off. While that does not have the checksum that
// comes with it, it is downloaded again, around caches.
func (o *object) checked(data []byte, off int64, get func() (Sum, error)) error {
	guesses := guessesOf(o.store)
	var before Sum // of what came last
	alike := 1
	for n := 1; ; n++ {
		sum, err := get()
		get = func() (Sum, error) { return o.around().transfer(data, off) }
		if err != nil || sum.Guessed && guesses.useless() {
			return err
		}
		if sum.holds(data) {
			if sum.Guessed {
				guesses.right.Store(true)
			}
			if n > 1 {
				CountHarm(o.at.String(), off, int64(len(data)))
			}
			return nil
		}
		now := SumOf(SHA256, data)
		if alike++; now != before {
			alike = 1
		}
		if sum.Guessed && alike == 2 {
			guesses.wrong.Add(1)
			return nil
		}
		if alike == mostAlike {
			return o.failed(&changedError{sum.Kind, true})
		}
		before = now
		if err := o.again(off, n, &changedError{sum.Kind, false}); err != nil {
			return err
		}
	}
}

// guesses are how guessed checksums of a store turned out.
type guesses struct {
	right atomic.Bool  // some were the contents' checksums
	wrong atomic.Int32 // how many were not
}

// useless reports whether guessed checksums of the store are not worth checking. Where ETags are
// random, for example, checking would read each object twice.
func (g *guesses) useless() bool { return !g.right.Load() && g.wrong.Load() >= 3 }

var allGuesses sync.Map // by Store

func guessesOf(s Store) *guesses {
	g, _ := allGuesses.LoadOrStore(s, new(guesses))
	return g.(*guesses)
}
