package cloud

import "github.com/tfrec/tfrec/internal/storage"

// CacheOptions say where objects are cached, and how much of them.
type CacheOptions struct {
	// Dir is the directory. It is created if necessary; one of another user, one that others can
	// write, and a non-empty one that is not a cache are refused. Processes may share it, and later
	// ones use what is in it.
	Dir string
	// Size is how many bytes the files in it may have, each rounded up to 4 KiB.
	// Default: 10 GiB; 4 MiB is the least.
	Size int64
	// Note, if not nil, is called once, by any goroutine, if the directory becomes unwritable,
	// which only costs speed.
	Note func(string)
}

// UseCache caches in a local directory what is read of objects opened from now on. Later reads use
// the cache if the object still has the same version. Cached data have checksums; damaged data are
// read from the store again. Objects that are open when stop is called continue to use the cache.
//
// A process has one cache at a time; another one is an error.
func UseCache(o CacheOptions) (stop func(), err error) {
	return storage.UseCache(storage.CacheOptions(o))
}
