package reshape

import (
	"context"

	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// block is a sequence of whole frames of one file, as read from the input.
type block struct {
	file   *input
	first  int64 // number in the file of its first record
	offset int64 // of its first frame, uncompressed
	data   []byte
	sizes  []int // of the frames in data

	checked bool    // the payload checksums have been verified
	targets []int   // of each record; empty: file.split for all
	places  []int64 // number of each record in its target; only for an order

	marks  []digest.Hash // of each record, if it was looked at
	labels []int64       // of each record, if labels are counted
	buffer []byte        // backing array of data
	charge int64         // bytes acquired from the budget
}

// noLabel is the entry in block.labels of a record without a label.
const noLabel = -1 << 63

// drop is the target of a record that is left out.
const drop = -1

// large reports whether the block has a buffer of its own for a large record.
func (b *block) large() bool { return b.charge > blockSize }

// room returns n bytes of the block's buffer, which a caller of stream.get may fill.
func (b *block) room(n int) []byte { return b.buffer[:n] }

// check verifies the payload checksums of a block, which its other methods and users rely on.
func (b *block) check(ctx context.Context, maxRecord int64) error {
	if b.checked {
		return nil
	}
	framing := tfrecord.Framing{MaxRecord: maxRecord}
	at := 0
	for i, size := range b.sizes {
		frame := b.data[at : at+size]
		if _, v := framing.Check(frame); v != tfrecord.FrameWhole {
			if err := b.recheck(ctx, framing, i, frame, b.offset+int64(at)); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// recheck returns the error for frame i, which is damaged, unless it is not when it is fetched again.
func (b *block) recheck(ctx context.Context, framing tfrecord.Framing, i int, frame []byte, offset int64) error {
	file, err := storage.Open(ctx, b.file.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, v, err := recheck.Frame(framing, file, frame, offset)
	if err != nil || v == tfrecord.FrameWhole {
		return err
	}
	return b.file.fault(file, b.first+int64(i), offset, framing.MaxRecord)
}

// eachRecord calls f with every record of the block that is not dropped. The block must have been
// checked.
func (b *block) eachRecord(ctx context.Context, f func(i int, r *record) error) error {
	r := recordPool.Get().(*record)
	defer recordPool.Put(r)
	r.ctx = ctx
	at := 0
	for i, size := range b.sizes {
		frame := b.data[at : at+size]
		if len(b.targets) == 0 || b.targets[i] != drop {
			r.begin(b, i, int64(at), frame[tfrecord.HeaderSize:size-tfrecord.FooterSize:size-tfrecord.FooterSize])
			if err := f(i, r); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// frame returns the frame of a record of the block, as passed by eachRecord.
func (b *block) frame(r *record) []byte {
	at := r.offset - b.offset
	return b.data[at : at+int64(len(r.data))+tfrecord.Overhead]
}

// label returns the label of the i-th record of the block, if it has one and labels are counted.
func (b *block) label(i int) (id int64, ok bool) {
	if len(b.labels) == 0 || b.labels[i] == noLabel {
		return 0, false
	}
	return b.labels[i], true
}

// target returns the target of the i-th record of the block.
func (b *block) target(i int) int {
	if len(b.targets) == 0 {
		return b.file.split
	}
	return b.targets[i]
}
