package gpu

import "github.com/tfrec/tfrec/gpu/internal/cuda"

// FreeMemory opens a GPU for a moment and returns how many bytes of its memory
// nobody has. Errors are those of opening it.
func FreeMemory(index int) (free int64, err error) {
	d, err := cuda.Open(index)
	if err != nil {
		return 0, err
	}
	free, _, err = d.Memory()
	if closing := d.Close(); err == nil {
		err = closing
	}
	return free, err
}
