package shard

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/osfile"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// frameMark says where in a file a record begins.
type frameMark struct{ record, offset int64 }

// A file is marked while its frames are counted in about so many places, which
// lie so far apart at least.
const (
	mostMarks   = 1024
	leastMarked = 1 << 20
)

// frameWalk goes over the headers of the frames of a plain file.
type frameWalk struct {
	file   storage.File
	size   int64
	o      tfrecord.ReaderOptions
	at     frameMark // the next record
	every  int64     // bytes between two marks; 0: none are made
	marks  []frameMark
	window []byte
	each   func(offset int64, size int) // is called with each frame; it may be nil
	rate   *recordscan.RateLimit        // nil: as fast as can be
}

// Sizes of what a walk reads at a time: much where records are small, so that
// there is one of them after another in it, and little where most of it would
// be payload.
const (
	walkWindow = 256 << 10
	walkHeader = 4 << 10
	largeFrame = 16 << 10
)

// to goes on to the record of a number, or the end of the file.
func (w *frameWalk) to(ctx context.Context, record int64) error {
	framing := w.o.Framing()
	if w.window == nil {
		w.window = make([]byte, walkWindow)
	}
	next := walkWindow
	for w.at.offset < w.size && w.at.record < record {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, err := osfile.Reader{File: w.file}.ReadAt(w.window[:next], w.at.offset)
		if err != nil && err != io.EOF {
			return err
		}
		if w.at.offset+int64(n) < w.size && n < next {
			return fmt.Errorf("%s shrank while it was read", w.o.Name)
		}
		if err := w.rate.Wait(ctx, n); err != nil {
			return err
		}
		next = walkWindow
		for at := 0; w.at.record < record; {
			frame, v := framing.Check(w.window[at:n])
			end := w.at.offset + int64(frame)
			if v == tfrecord.FrameWhole || v == tfrecord.FrameShort && n-at >= tfrecord.HeaderSize && end <= w.size {
				w.pass(frame)
				if v == tfrecord.FrameWhole {
					at += frame
					continue
				}
				if frame >= largeFrame {
					next = walkHeader
				}
			} else if at < n && (v != tfrecord.FrameShort || n-at >= tfrecord.HeaderSize || w.at.offset+int64(n-at) >= w.size) {
				return tfrecord.NewSalvager(w.file, w.o).Fault(w.at.record, w.at.offset)
			}
			break
		}
	}
	return nil
}

// pass goes on by a frame.
func (w *frameWalk) pass(frame int) {
	if w.each != nil {
		w.each(w.at.offset, frame)
	}
	w.at.record++
	w.at.offset += int64(frame)
	if w.every == 0 {
		return
	}
	last := int64(0)
	if n := len(w.marks); n > 0 {
		last = w.marks[n-1].offset
	}
	if w.at.offset-last >= w.every {
		w.marks = append(w.marks, w.at)
	}
}
