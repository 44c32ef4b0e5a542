package reader

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/tfrec/tfrec/tfrecord"
)

// errChanged is for data that are good when they are read a second time.
var errChanged = errors.New("the file changed while it was read")

// resyncWindow is how many bytes are searched at a time.
const resyncWindow = 256 << 10

// damageEnd returns where reading may go on behind a frame at offset that is not
// good: behind it when its data alone are wrong (n is its size then) and another
// frame follows, else where resync finds one.
func damageEnd(file io.ReaderAt, name string, offset int64, n int, v verdict, l limits) (int64, error) {
	if v == frameDamaged && headerAt(file, offset+int64(n), l) {
		return offset + int64(n), nil
	}
	return resync(file, name, offset+1, l.max)
}

// headerAt reports whether the file ends at offset, or a header begins there.
func headerAt(file io.ReaderAt, offset int64, l limits) bool {
	var header [frameHeader]byte
	n, err := file.ReadAt(header[:], offset)
	if n == 0 && err == io.EOF {
		return true
	}
	_, v := l.frame(header[:n])
	return n == frameHeader && v != frameBroken
}

// resync finds the first frame at or behind offset whose length and data both
// have their CRC, and returns where it begins; where the file ends when there
// is none. Of lengths, all but one in 2³² are ruled out by their own CRC before
// any data are read.
func resync(file io.ReaderAt, name string, offset int64, largest uint64) (int64, error) {
	fail := func(err error) (int64, error) {
		return 0, &tfrecord.Error{Name: name, Record: -1, Offset: offset, Part: tfrecord.PartData, Err: err}
	}
	window := make([]byte, resyncWindow)
	check := limits{max: largest}
	for {
		n, err := file.ReadAt(window, offset)
		if err != nil && err != io.EOF {
			return fail(err)
		}
		for i := 0; i+frameHeader <= n; i++ {
			// The upper bytes of nearly any length are zero.
			if binary.LittleEndian.Uint64(window[i:]) > largest {
				continue
			}
			size, v := check.frame(window[i:n])
			if v == frameShort && size > n-i && crcHolds(window[i+8:], window[i:i+8]) {
				if v, err = frameFrom(file, offset+int64(i), size, check); err != nil {
					return fail(err)
				}
			}
			if v == frameGood {
				return offset + int64(i), nil
			}
		}
		if err == io.EOF {
			return offset + int64(n), nil
		}
		offset += int64(n - frameHeader + 1)
	}
}

// frameFrom looks at a frame that lies partly outside of a buffer.
func frameFrom(file io.ReaderAt, offset int64, size int, check limits) (verdict, error) {
	// A byte at the end shows whether the file is long enough.
	var last [1]byte
	if _, err := file.ReadAt(last[:], offset+int64(size)-1); err != nil {
		if err == io.EOF {
			return frameShort, nil
		}
		return frameShort, err
	}
	p := make([]byte, size)
	if _, err := file.ReadAt(p, offset); err != nil && err != io.EOF {
		return frameShort, err
	}
	_, v := check.frame(p)
	return v, nil
}
