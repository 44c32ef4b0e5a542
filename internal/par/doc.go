// Package par coordinates goroutines: an ordered parallel map, a parallel loop, a budget of bytes,
// a condition whose waits contexts end, and a sleep that they cut short.
//
// Map works on items in parallel and consumes them in order:
//
//	err := par.Map(ctx, workers, 2*workers,
//		func(ctx context.Context, give func(*block) error) error { return read(ctx, give) },
//		func(ctx context.Context, b *block) error { return b.check() },
//		func(b *block) error { return write(b) })
//
// Cond is for waits that neither a channel nor a Budget expresses:
//
//	mu.Lock()
//	defer mu.Unlock()
//	if err := changed.Wait(ctx, func() bool { return inside < limit }); err != nil {
//		return err
//	}
//	inside++
package par
