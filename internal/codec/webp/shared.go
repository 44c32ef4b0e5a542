package webp

import "errors"

// Errors of the container and of both codings.
var (
	errFormat = errors.New("invalid format")
	errShort  = errors.New("unexpected end of data")
	// errStrict is for headers that libwebp rejects and golang.org/x/image/webp accepts.
	errStrict = errors.New("a header with values that no encoder writes")
)

// sized returns a buffer of n elements, whose contents are undefined: buf's memory if it is enough.
func sized[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}
