package source

import (
	"context"

	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// Block is a sequence of whole frames of one file, as read from the input.
type Block struct {
	File   *Input
	First  int64 // number in the file of its first record
	Offset int64 // of its first frame, uncompressed
	Data   []byte
	Sizes  []int // of the frames in Data

	Checked bool    // the payload checksums have been verified
	Targets []int   // of each record; empty: that of the file, its split
	Places  []int64 // number of each record in its target; only for an order

	Marks  []digest.Hash // of each record, if it was looked at
	Labels []int64       // of each record, if labels are counted
	buffer []byte        // backing array of Data
	charge int64         // bytes acquired from the budget
}

// NoLabel is the entry in Block.Labels of a record without a label.
const NoLabel = -1 << 63

// Drop is the target of a record that is left out.
const Drop = -1

// Large reports whether the block has a buffer of its own for a large record.
func (b *Block) Large() bool { return b.charge > blockSize }

// Buffer returns n bytes of the block's buffer, which a caller of [Stream.Get] may fill.
func (b *Block) Buffer(n int) []byte { return b.buffer[:n] }

// Check verifies the payload checksums of a block, which its other methods and users rely on.
func (b *Block) Check(ctx context.Context, maxRecord int64) error {
	if b.Checked {
		return nil
	}
	framing := tfrecord.Framing{MaxRecord: maxRecord}
	at := 0
	for i, size := range b.Sizes {
		frame := b.Data[at : at+size]
		if _, v := framing.Check(frame); v != tfrecord.FrameWhole {
			if err := b.recheck(ctx, framing, i, frame, b.Offset+int64(at)); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// recheck returns the error for frame i, which is damaged, unless it is not when it is fetched again.
func (b *Block) recheck(ctx context.Context, framing tfrecord.Framing, i int, frame []byte, offset int64) error {
	file, err := storage.Open(ctx, b.File.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, v, err := recheck.Frame(framing, file, frame, offset)
	if err != nil || v == tfrecord.FrameWhole {
		return err
	}
	return b.File.fault(file, b.First+int64(i), offset, framing.MaxRecord)
}

// EachRecord calls f with every record of the block that is not dropped. The block must have been
// checked.
func (b *Block) EachRecord(ctx context.Context, f func(i int, r *Record) error) error {
	r := recordPool.Get().(*Record)
	defer recordPool.Put(r)
	r.Context = ctx
	at := 0
	for i, size := range b.Sizes {
		frame := b.Data[at : at+size]
		if len(b.Targets) == 0 || b.Targets[i] != Drop {
			r.begin(b, i, int64(at), frame[tfrecord.HeaderSize:size-tfrecord.FooterSize:size-tfrecord.FooterSize])
			if err := f(i, r); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// Frame returns the frame of a record of the block, as passed by EachRecord.
func (b *Block) Frame(r *Record) []byte {
	at := r.offset - b.Offset
	return b.Data[at : at+int64(len(r.Data))+tfrecord.Overhead]
}

// Label returns the label of the i-th record of the block, if it has one and labels are counted.
func (b *Block) Label(i int) (id int64, ok bool) {
	if len(b.Labels) == 0 || b.Labels[i] == NoLabel {
		return 0, false
	}
	return b.Labels[i], true
}

// Target returns the target of the i-th record of the block.
func (b *Block) Target(i int) int {
	if len(b.Targets) == 0 {
		return b.File.SplitIndex
	}
	return b.Targets[i]
}
