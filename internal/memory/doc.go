// Package memory says how much memory there is, and shares it between workers.
//
//	gate := memory.NewGate(memory.Limit() / 4)
//	...
//	if err := gate.Acquire(ctx, n); err != nil {
//		return err
//	}
//	defer gate.Release(n)
package memory
