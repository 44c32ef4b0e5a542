package convert

import (
	"slices"
	"sync"
	"weak"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/tfrecord"
)

// A large array is made where it is stored: in the frame of its record, between the room for what
// precedes and follows it there.
//
//	largeHead bytes | the array | largeTail bytes
//
// So a worker holds it once, from decoding to writing.
const (
	largeArray = 1 << 20 // smaller ones are copied into the frame
	largeHead  = 2 << 10
	largeTail  = 4 << 10
)

// largeFrames are the buffers of frames that are written, to be used again: otherwise, the garbage
// collector would let as much memory again pile up. It frees those that are not in use.
var largeFrames struct {
	mu   sync.Mutex
	free []weak.Pointer[[]byte]
}

// getLarge returns a buffer for the frame of an array of n bytes. Its size is at most twice what is
// needed.
func getLarge(n int64) []byte {
	n += largeHead + largeTail
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

func putLarge(b []byte) {
	largeFrames.mu.Lock()
	defer largeFrames.mu.Unlock()
	largeFrames.free = append(largeFrames.free, weak.Make(&b))
}

// largeResult is where a sample's array is made, if that is in the frame of its record.
type largeResult struct {
	frame []byte  // nil: elsewhere
	array *[]byte // the field of the sample that has the array
}

// use makes *array, a buffer of the sample, the part of a frame for n bytes.
func (l *largeResult) use(array *[]byte, n int64) {
	l.frame, l.array = getLarge(n), array
	*array = l.frame[largeHead : largeHead : largeHead+n]
}

// take returns the frame if data is in its place there, and nil otherwise. The sample no longer has
// it.
func (l *largeResult) take(data []byte) []byte {
	frame := l.frame
	if frame == nil || len(data) == 0 || &data[0] != &frame[largeHead] {
		return nil
	}
	*l.array, *l = nil, largeResult{}
	return frame
}

// free gives back what take has not taken.
func (l *largeResult) free() {
	if l.frame != nil {
		*l.array = nil
		putLarge(l.frame)
		*l = largeResult{}
	}
}

// placeResult lets a large array of pixels be made where it is stored, if nothing else is in its
// piece. The image is decoded to this many channels.
func (s *imageSource) placeResult(m *sampleWork, channels int) {
	t := &m.task
	if !m.alone || s.o.Encode.Format != Raw || t.Form != augment.Pixels {
		return
	}
	array, w, h := &m.decoded.Pix, t.Width, t.Height
	if len(t.Draw.Steps) > 0 || t.Resize != nil {
		array = &t.Pixels.Pix
		w, h = m.resultSize()
	}
	if n := int64(w) * int64(h) * int64(channels); n >= largeArray && n <= maxStored {
		m.large.use(array, n)
	}
}

// frameLarge frames the builder's record with a value of one more feature, which is in its place in
// the frame. It reports false if the rest of the record has no room there.
func (p *piece) frameLarge(frame, value, around []byte, at int) bool {
	start := largeHead - at - tfrecord.HeaderSize
	if len(p.frames) > 0 || start < 0 || len(around)-at > largeTail-tfrecord.FooterSize {
		return false
	}
	p.large = frame
	copy(frame[largeHead-at:], around[:at])
	frame = append(frame[:largeHead+len(value)], around[at:]...)
	p.frames = tfrecord.EndFrame(frame, start)[start:]
	p.sizes = append(p.sizes, len(p.frames))
	return true
}
