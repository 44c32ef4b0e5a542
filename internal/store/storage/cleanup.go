package storage

import (
	"context"
	"time"
)

// CleanupAfterInterrupt bounds the total time of a run's cleanup after its user has interrupted it.
// Tests on busy machines raise it before the first run begins.
var CleanupAfterInterrupt = 1500 * time.Millisecond

type cleanupKey struct{}

// WithPromptCleanup returns a context for a run whose user waits for its end once ctx is done: the
// contexts of Cleanup for it, and for its children, end CleanupAfterInterrupt later.
func WithPromptCleanup(ctx context.Context) context.Context {
	end, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(CleanupAfterInterrupt, cancel) })
	return context.WithValue(ctx, cleanupKey{}, end)
}

// Cleanup returns a context for requests that undo what was begun, also when ctx is done. It ends
// after limit, and sooner after an interrupt: see WithPromptCleanup. The next run finds what could
// not be undone.
func Cleanup(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	end, ok := ctx.Value(cleanupKey{}).(context.Context)
	if !ok {
		return cleanup, cancel
	}
	stop := context.AfterFunc(end, cancel)
	return cleanup, func() { stop(); cancel() }
}
