package par

import (
	"context"
	"time"
)

// Sleep waits for d. When ctx ends first it returns its cause.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
