package cloud

import "github.com/tfrec/tfrec/internal/storage"

// CacheOptions say where what is read of objects is kept, and how much of it.
type CacheOptions struct {
	// Dir is the directory. It is created if necessary; a non-empty one that is not a cache is
	// refused. Processes may share it, and later ones use what is in it.
	Dir string
	// Size is how many bytes the files in it may have, each rounded up to 4 KiB.
	// Default: 10 GiB; 4 MiB is the least.
	Size int64
	// Note, if not nil, is called once, by any goroutine, if the directory becomes unwritable,
	// which only costs speed.
	Note func(string)
}

// UseCache has what is read of objects that are opened from now on kept in a local directory, and
// taken from there when it is read again, in the version that the store has then. What is in the
// directory has checksums, and what is damaged there is read from the store. Objects that are open
// when stop is called continue using it.
//
// A process has one cache at a time; another one is an error.
func UseCache(o CacheOptions) (stop func(), err error) {
	return storage.UseCache(storage.CacheOptions(o))
}
