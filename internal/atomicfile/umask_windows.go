package atomicfile

import "os"

// Mode is what the system makes of the mode of a new file or directory.
func Mode(perm os.FileMode) os.FileMode { return perm }
