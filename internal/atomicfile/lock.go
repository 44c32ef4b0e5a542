package atomicfile

import "errors"

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("locked by another process")
