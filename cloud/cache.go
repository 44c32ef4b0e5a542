package cloud

import "github.com/tfrec/tfrec/internal/store/storage"

// CacheOptions are the location and size of a cache of objects.
type CacheOptions struct {
	// Dir is the directory. It is created if necessary. A directory of another user, one that
	// others can write to, and a non-empty one that is not a cache are errors. Processes may share
	// it, and later ones use its contents.
	Dir string
	// Size bounds the total size of the files in it, each rounded up to 4 KiB. Default: 10 GiB.
	// Minimum: 4 MiB.
	Size int64
	// Note, if not nil, is called once, by any goroutine, if the directory becomes unwritable,
	// which only costs speed.
	Note func(string)
}

// UseCache caches the contents of objects opened from now on in a local directory. Later reads use
// the cache if the object still has the same version. Cached data have checksums; damaged data are
// read from the store again. Objects that are open when stop is called continue to use the cache.
//
// A process has one cache at a time; another one is an error.
func UseCache(o CacheOptions) (stop func(), err error) {
	return storage.UseCache(storage.CacheOptions(o))
}
