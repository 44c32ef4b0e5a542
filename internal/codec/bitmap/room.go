package bitmap

import "slices"

// Grown returns n bytes of a buffer that is reused.
func Grown(buffer *[]byte, n int) []byte {
	*buffer = slices.Grow((*buffer)[:0], n)[:n]
	return *buffer
}

// Room returns buf with n elements of any content, grown when it must be.
func Room[T any](buf []T, n int) []T {
	return slices.Grow(buf[:0], n)[:n]
}
