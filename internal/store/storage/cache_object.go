package storage

import (
	"context"
	"os"
)

// recall opens o from the cache if the cache has the beginning of the object and the store reports
// that its version is still the same. Then the object's contents have not been requested.
func (o *object) recall() (bool, error) {
	c := inUse.Load()
	if c == nil || AroundCaches(o.ctx) {
		return false, nil
	}
	id := idOf(o.store, o.at)
	was := c.beginning(id)
	if was == nil {
		os.Remove(c.path(id, 0)) // if it exists, it is damaged
		return false, nil
	}
	is, err := Look(o.ctx, o.store, o.at.name)
	if err != nil {
		return false, err
	}
	if is.Version != was.version || is.Size != was.size {
		os.Remove(c.path(id, 0))
		return false, nil
	}
	o.is, o.cached = is, c.in(id, is)
	return true, nil
}

// become sets the properties of o and, if there is a cache, its identity there.
func (o *object) become(is Object) {
	o.is = is
	if c := inUse.Load(); c != nil {
		o.cached = c.in(idOf(o.store, o.at), is)
	}
}

// fetch fills p with the object's bytes from off on: from the cache, if there is
// one, and otherwise from the store, in whole blocks for the cache to keep.
func (o *object) fetch(p []byte, off int64) error {
	if o.cached == nil {
		return o.download(p, off)
	}
	if o.isFresh() {
		o.drop(off, off+int64(len(p)))
		return o.download(p, off)
	}
	for len(p) > 0 {
		if cause := context.Cause(o.ctx); cause != nil {
			return o.failed(cause)
		}
		n := min(int64(len(p)), blockSize-off%blockSize)
		if !o.cached.load(p[:n], off) {
			var err error
			if n, err = o.fill(p, off); err != nil {
				return err
			}
		}
		p, off = p[n:], off+n
	}
	return nil
}

// fill downloads the block that contains off and the following uncached blocks that overlap p, up
// to a part. It returns the number of bytes of p that it filled.
func (o *object) fill(p []byte, off int64) (int64, error) {
	first := off / blockSize
	last := first
	for want := off + int64(len(p)); (last+1)*blockSize < want && last+1-first < partSize/blockSize && !o.cached.has(last+1); {
		last++
	}
	begin, end := first*blockSize, min((last+1)*blockSize, o.is.Size)
	n := min(int64(len(p)), end-off)
	switch {
	case o.cached.cache.paused():
		return n, o.download(p[:n], off) // nothing would be kept
	case begin == off && n == end-off:
		if err := o.download(p[:n], off); err != nil {
			return 0, err
		}
		o.keep(p[:n], begin)
		return n, nil
	}
	buffer := buffers.Get().(*[partSize]byte)
	defer buffers.Put(buffer)
	data := buffer[:end-begin]
	if err := o.download(data, begin); err != nil {
		return 0, err
	}
	o.keep(data, begin)
	copy(p[:n], data[off-begin:])
	return n, nil
}

// keep puts whole blocks, which begin at off, in the cache, if there is one.
func (o *object) keep(data []byte, off int64) {
	if o.cached == nil {
		return
	}
	if o.isFresh() {
		o.drop(off, off+int64(len(data)))
	}
	for at := int64(0); at < int64(len(data)); at += blockSize {
		o.cached.keep((off+at)/blockSize, data[at:min(at+blockSize, int64(len(data)))])
	}
}

// isFresh reports whether o is read around caches.
func (o *object) isFresh() bool { return o.fresh.Load() || AroundCaches(o.ctx) }
