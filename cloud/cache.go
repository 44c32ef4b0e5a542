package cloud

import "github.com/tfrec/tfrec/internal/storage"

// CacheOptions say where what is read of objects is kept, and how much of it.
type CacheOptions struct {
	// Dir is the directory. It is made if it is not there; one that holds anything and is
	// no cache is refused. Processes may share it, and ones that run later use what is
	// in it.
	Dir string
	// Size is how many bytes the files in it may have, each rounded up to 4 KiB.
	// Default: 10 GiB; 4 MiB is the least.
	Size int64
	// Note is told once, by any goroutine, when the directory cannot be written to in
	// the midst of it all: that costs speed and nothing else. nil: nobody is told.
	Note func(string)
}

// UseCache has what is read of objects that are opened from now on kept in a local
// directory, and taken from there when it is read again, in the version that the store
// has then. What is in the directory has checksums, and what is damaged there is read
// from the store. Objects that are open when stop is called go on using it.
//
// A process has one cache at a time; another one is an error.
func UseCache(o CacheOptions) (stop func(), err error) {
	return storage.UseCache(storage.CacheOptions(o))
}
