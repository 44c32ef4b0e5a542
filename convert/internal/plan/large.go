package plan

import (
	"slices"
	"sync"
	"weak"

	"github.com/tfrec/tfrec/tfrecord"
)

// A large array is made where it is stored: in the frame of its record, between the room for what
// precedes and follows it there.
//
//	largeHead bytes | the array | largeTail bytes
//
// So a worker holds it once, from decoding to writing.
const (
	LargeArray = 1 << 20 // smaller ones are copied into the frame
	LargeHead  = 2 << 10
	LargeTail  = 4 << 10
)

// largeFrames are the buffers of frames that are written, to be used again: otherwise, the garbage
// collector would let as much memory again pile up. It frees those that are not in use.
var largeFrames struct {
	mu   sync.Mutex
	free []weak.Pointer[[]byte]
}

// GetLarge returns a buffer for the frame of an array of n bytes. It is at most twice as large as
// needed.
func GetLarge(n int64) []byte {
	n += LargeHead + LargeTail
	l := &largeFrames
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []byte
	l.free = slices.DeleteFunc(l.free, func(free weak.Pointer[[]byte]) bool {
		b := free.Value()
		if found == nil && b != nil && int64(len(*b)) >= n && int64(len(*b)) <= 2*n {
			found = *b
			return true
		}
		return b == nil
	})
	if found == nil {
		found = make([]byte, n)
	}
	return found
}

// PutLarge gives back a buffer of GetLarge.
func PutLarge(b []byte) {
	largeFrames.mu.Lock()
	defer largeFrames.mu.Unlock()
	largeFrames.free = append(largeFrames.free, weak.Make(&b))
}

// FrameLarge frames the builder's record with a value of one more feature, which is in its place in
// the frame. It reports false if the rest of the record has no room there.
func (p *Piece) FrameLarge(frame, value, around []byte, at int) bool {
	start := LargeHead - at - tfrecord.HeaderSize
	if len(p.Frames) > 0 || start < 0 || len(around)-at > LargeTail-tfrecord.FooterSize {
		return false
	}
	p.large = frame
	copy(frame[LargeHead-at:], around[:at])
	frame = append(frame[:LargeHead+len(value)], around[at:]...)
	p.Frames = tfrecord.EndFrame(frame, start)[start:]
	p.Sizes = append(p.Sizes, len(p.Frames))
	return true
}
