// Package recheck checks the frames of TFRecord files that may have changed in transit.
//
//	size, v, err := recheck.Frame(framing, file, buf[pos:have], offset)
//
// A tfrecord.Reader of an object does the same by itself.
package recheck

import (
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// Frame calls f.Check for the bytes p at an offset of in. If in is an object in a store, it first
// fetches damaged bytes again, into p, and returns the error of doing so. It is generic so that a
// file which is a struct is not converted to an interface, and allocated, for each frame.
func Frame[F any](f tfrecord.Framing, in F, p []byte, offset int64) (size int, v tfrecord.Verdict, err error) {
	for {
		size, v = f.Check(p)
		var suspect []byte
		switch v {
		case tfrecord.FrameBroken:
			suspect = p[:tfrecord.HeaderSize]
		case tfrecord.FrameDamaged:
			suspect = p[:size]
		default:
			return size, v, nil
		}
		changed, err := storage.Refetch(in, suspect, offset, func(p []byte) bool {
			_, v := f.Check(p)
			return v == tfrecord.FrameWhole || v == tfrecord.FrameShort
		})
		if err != nil || !changed {
			return size, v, err
		}
	}
}
