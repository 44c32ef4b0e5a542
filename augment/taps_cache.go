package augment

import "sync"

// The weights of an axis cost more than resizing a small image with them, and the images of a
// dataset have few sizes: they are cached, up to a bound.
const (
	// axisBytes bounds the memory of one generation of the cache.
	axisBytes = 8 << 20
	// axisLargest is the largest table worth keeping.
	axisLargest = axisBytes / 16
)

// axisCache keeps tables in two generations: when the younger one is full the older one is dropped.
// Tables that are still used move from the older to the younger one.
type axisCache struct {
	mu         sync.Mutex
	young, old map[axisKey]*axis
	bytes      int // of the young
}

var axes axisCache

// get returns the table of k, made or kept.
func (c *axisCache) get(k axisKey) *axis {
	c.mu.Lock()
	a := c.young[k]
	if a == nil {
		if a = c.old[k]; a != nil {
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
func (c *axisCache) keep(k axisKey, a *axis) {
	if c.young[k] != nil {
		return
	}
	if n := a.bytes(); c.young == nil || c.bytes+n > axisBytes {
		c.old, c.young, c.bytes = c.young, make(map[axisKey]*axis), 0
	}
	c.young[k] = a
	c.bytes += a.bytes()
}

// bytes returns the approximate memory of the table, including its place in the map.
func (a *axis) bytes() int {
	return 4*(len(a.first)+len(a.count)+len(a.weights)) + a.packed.bytes() + 256
}
