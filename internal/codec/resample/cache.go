package resample

import "sync"

// The weights of an axis cost more than resizing a small image with them, and the images of a
// dataset have few sizes: they are cached, up to a bound.
const (
	// AxisBytes bounds the memory of one generation of the cache.
	AxisBytes = 8 << 20
	// axisLargest is the largest table worth keeping.
	axisLargest = AxisBytes / 16
)

// AxisCache keeps tables in two generations: when the younger one is full the older one is dropped.
// Tables that are still used move from the older to the younger one.
type AxisCache struct {
	mu         sync.Mutex
	Young, Old map[Key]*Axis
	Bytes      int // of the young
}

// Axes caches the axes of all resizes.
var Axes AxisCache

// Get returns the table of k, made or kept.
func (c *AxisCache) Get(k Key) *Axis {
	c.mu.Lock()
	a := c.Young[k]
	if a == nil {
		if a = c.Old[k]; a != nil {
			c.keep(k, a)
		}
	}
	c.mu.Unlock()
	if a != nil {
		return a
	}
	a = makeAxis(k) // outside the lock; two goroutines may both make it, to the same effect
	if a.bytes() <= axisLargest {
		c.mu.Lock()
		c.keep(k, a)
		c.mu.Unlock()
	}
	return a
}

// keep puts a into the young generation. The lock must be held.
func (c *AxisCache) keep(k Key, a *Axis) {
	if c.Young[k] != nil {
		return
	}
	if n := a.bytes(); c.Young == nil || c.Bytes+n > AxisBytes {
		c.Old, c.Young, c.Bytes = c.Young, make(map[Key]*Axis), 0
	}
	c.Young[k] = a
	c.Bytes += a.bytes()
}

// bytes returns the approximate memory of the table, including its place in the map.
func (a *Axis) bytes() int {
	return 4*(len(a.First)+len(a.Count)+len(a.Weights)) + a.packed.bytes() + 256
}
