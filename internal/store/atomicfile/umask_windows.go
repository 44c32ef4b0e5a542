package atomicfile

import "os"

// Mode returns the mode of a new file or directory that is created with perm.
func Mode(perm os.FileMode) os.FileMode { return perm }
