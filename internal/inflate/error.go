package inflate

import "fmt"

// Error says what is wrong with compressed data.
type Error struct {
	// Offset is the number of bytes of compressed data up to where the fault was noticed.
	Offset int64
	// Reason says what is wrong.
	Reason string
	// Checksum says that the data decompress and have another checksum than the stream says.
	Checksum bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d of the compressed data", e.Reason, e.Offset)
}

// fail returns an error at the current position.
func (r *Reader) fail(format string, args ...any) error {
	return &Error{Offset: r.Consumed(), Reason: fmt.Sprintf(format, args...)}
}
