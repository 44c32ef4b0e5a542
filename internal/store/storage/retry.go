package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/tfrec/tfrec/internal/par"
)

// tries is the number of consecutive attempts of a request that may fail without progress. If one
// answer in five is an error, a billion requests succeed. The pauses add up to about a minute,
// which a server needs to restart.
const tries = 12

// pause returns the time to wait before the nth repetition of a request: a random time below a
// bound that doubles up to 8 s, so that many readers of one overloaded server spread out ("full
// jitter", Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015).
func pause(ctx context.Context, n int) time.Duration {
	longest, ok := ctx.Value(longestPause{}).(time.Duration)
	if !ok {
		longest = 8 * time.Second
	}
	return rand.N(min(50*time.Millisecond<<min(n, 10), longest))
}

// longestPause is the key of another bound in a context. Only tests set it.
type longestPause struct{}

// lasting reports whether an error will be the same when the request is made
// again.
func lasting(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrExist) ||
		errors.Is(err, ErrChanged) || errors.Is(err, ErrGone) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, context.Canceled)
}

// Retry makes a request with a short answer, again and again while its error may
// pass.
func Retry[T any](ctx context.Context, request func(context.Context) (T, error)) (T, error) {
	return retryLong(ctx, func(ctx context.Context, _ func(time.Duration)) (T, error) { return request(ctx) })
}

// retryLong is Retry for requests that may take longer than a server's silence limit while they
// make progress: alive sets how long the next silence may be.
func retryLong[T any](ctx context.Context, request func(ctx context.Context, alive func(time.Duration)) (T, error)) (T, error) {
	return retryTurns(ctx, func() (turn, error) { return turn{}, nil }, request)
}

// retryTurns is retryLong for requests that each have a turn.
func retryTurns[T any](ctx context.Context, take func() (turn, error), request func(ctx context.Context, alive func(time.Duration)) (T, error)) (v T, err error) {
	for n := 1; ; n++ {
		its, err := take()
		if err != nil {
			return v, err
		}
		v, err = once(ctx, request)
		its.end(err)
		if err == nil || ctx.Err() != nil || lasting(err) {
			return v, err
		}
		if n == tries {
			return v, fmt.Errorf("given up after %d tries: %w", n, err)
		}
		if err := par.Sleep(ctx, pause(ctx, n)); err != nil {
			return v, err
		}
	}
}

var errSilent = errors.New("the server did not answer in time")

// Look returns the properties of an object, with [Retry].
func Look(ctx context.Context, s Store, name string) (Object, error) {
	take := func() (turn, error) { return takeTurn(ctx, s) }
	return retryTurns(ctx, take, func(ctx context.Context, _ func(time.Duration)) (Object, error) { return s.Stat(ctx, name) })
}

func once[T any](ctx context.Context, request func(context.Context, func(time.Duration)) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(network.Load().silence, func() { cancel(errSilent) })
	defer watch.Stop()
	v, err := request(ctx, func(d time.Duration) { watch.Reset(d) })
	if err != nil && context.Cause(ctx) == errSilent {
		noteSilence("", network.Load().silence)
		err = errSilent // a context.Canceled would not be retried
	}
	return v, err
}
