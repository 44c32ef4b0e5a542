package recordcount

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// FrameMark is the position of a record in a file.
type FrameMark struct{ Record, Offset int64 }

// Counting the frames of a file records about mostMarks marks, at least leastMarked bytes apart.
const (
	mostMarks   = 1024
	leastMarked = 1 << 20
)

// FrameWalk walks over the frame headers of an uncompressed file.
type FrameWalk struct {
	File   storage.File
	Size   int64
	O      tfrecord.ReaderOptions
	At     FrameMark // the next record
	Every  int64     // bytes between two marks; 0 records none
	Marks  []FrameMark
	Window []byte
	Each   func(offset int64, size int) // called with each frame; may be nil
	rate   *recordscan.RateLimit        // nil: no limit
}

// Read sizes of a walk: large for small records, so that one read covers many of them, and small
// where most of it would be payload.
const (
	walkWindow = 256 << 10
	walkHeader = 4 << 10
	largeFrame = 16 << 10
)

// To advances to the record with the given number, or to the end of the file.
func (w *FrameWalk) To(ctx context.Context, record int64) error {
	framing := w.O.Framing()
	if w.Window == nil {
		w.Window = make([]byte, walkWindow)
	}
	file := osfile.NewReader(ctx, w.File)
	next := walkWindow
	for w.At.Offset < w.Size && w.At.Record < record {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, err := file.ReadAt(w.Window[:next], w.At.Offset)
		if err != nil && err != io.EOF {
			return err
		}
		if w.At.Offset+int64(n) < w.Size && n < next {
			return fmt.Errorf("%s shrank while it was read", w.O.Name)
		}
		if err := w.rate.Wait(ctx, n); err != nil {
			return err
		}
		next = walkWindow
		for at := 0; w.At.Record < record; {
			frame, v, err := recheck.Frame(framing, file, w.Window[at:n], w.At.Offset)
			if err != nil {
				return err
			}
			end := w.At.Offset + int64(frame)
			if v == tfrecord.FrameWhole || v == tfrecord.FrameShort && n-at >= tfrecord.HeaderSize && end <= w.Size {
				w.pass(frame)
				if v == tfrecord.FrameWhole {
					at += frame
					continue
				}
				if frame >= largeFrame {
					next = walkHeader
				}
			} else if at < n && (v != tfrecord.FrameShort || n-at >= tfrecord.HeaderSize || w.At.Offset+int64(n-at) >= w.Size) {
				return tfrecord.NewSalvager(w.File, w.O).Fault(w.At.Record, w.At.Offset)
			}
			break
		}
	}
	return nil
}

// pass advances by one frame.
func (w *FrameWalk) pass(frame int) {
	if w.Each != nil {
		w.Each(w.At.Offset, frame)
	}
	w.At.Record++
	w.At.Offset += int64(frame)
	if w.Every == 0 {
		return
	}
	last := int64(0)
	if n := len(w.Marks); n > 0 {
		last = w.Marks[n-1].Offset
	}
	if w.At.Offset-last >= w.Every {
		w.Marks = append(w.Marks, w.At)
	}
}
