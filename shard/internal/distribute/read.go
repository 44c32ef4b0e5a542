package distribute

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/shard/internal/transfer"
	"github.com/tfrec/tfrec/tfrecord"
)

// Counts are the counts of a part or a shard.
type Counts struct {
	Records int64
	Bytes   int64 // of the frames or, for a shard, of the file
	// Kept is set if the shard was finished already.
	Kept bool
}

// Limits on the bytes that Read holds: for one shard, and in total.
const (
	mostDealt    = 1 << 20
	mostDealtAll = 32 << 20
)

// Read reads and checks a part of the inputs, and passes its records to deal by shard, in batches
// of some kilobytes to a megabyte, more if a record is larger. The contents of a batch are opaque,
// for Write; deal may keep it. Read holds at most 32 MiB plus one record.
//
// It is an error if an input has changed since it was planned, or is damaged: the error is then a
// [*shard.DamagedError] with file, record and offset. After an error, nothing that was dealt from
// the part may be used. If deal returns an error, Read fails with it.
func (p *Plan) Read(ctx context.Context, part int, deal func(shard int, batch []byte) error) (Counts, error) {
	var dealing error
	d := &partitioner{plan: p, held: make([]heldRows, p.Shards()), deal: func(shard int, batch []byte) error {
		dealing = deal(shard, batch)
		return dealing
	}}
	err := p.readPart(ctx, part, d)
	if err == nil {
		err = d.flush()
	}
	if err != nil && dealing == nil {
		p.fail(ctx, err)
	}
	return d.counts, err
}

func (p *Plan) readPart(ctx context.Context, part int, d *partitioner) error {
	if part < 0 || part >= p.Parts() {
		return fmt.Errorf("part %d: there are %d", part, p.Parts())
	}
	in := p.planned.Parts[part]
	f := p.files[in.File]
	file, err := recordscan.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := p.unchanged(in.File, file); err != nil {
		return err
	}
	t := p.transfer(nil)
	t.In.Known, t.Label = true, "" // features and labels are Write's concern
	if d.order, err = p.order(ctx, t); err != nil {
		return err
	}
	s := t.In.Stream()
	defer s.Close()
	behind := in.First + in.Records
	give := func(b *source.Block) error {
		defer s.Put(b)
		if b.First+int64(len(b.Sizes)) > behind {
			return nil // beyond the expected records; counted for the error below
		}
		if err := t.Work(ctx, b); err != nil {
			return err
		}
		return d.block(b, f.SplitIndex, in.Number-in.First+b.First)
	}
	var records int64
	if f.Compression == tfrecord.CompressionNone {
		records, err = s.Plain(ctx, source.Stretch{File: f, First: in.First, From: in.From, To: in.To}, file, give)
	} else {
		o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: t.In.MaxRecord, Compression: f.Compression}
		records, err = s.Compressed(ctx, f, tfrecord.NewReader(file, o), give)
	}
	switch {
	case err != nil:
		return shard.Damaged(err)
	case in.To == f.Size:
		return shard.Damaged(f.CheckRead(in.First + records))
	case records != in.Records:
		return changedInput(f.Path)
	}
	return nil
}

// unchanged compares an open input with its state when it was planned.
func (p *Plan) unchanged(number int, file storage.File) error {
	st, err := file.Stat()
	if err != nil {
		return err
	}
	was := p.planned.Request.Inputs[number]
	version := ""
	if object, ok := st.Sys().(storage.Object); ok {
		version = object.Version
	}
	if st.Size() != was.Size || st.ModTime().UnixNano() != was.ModTime || version != was.Version {
		return changedInput(p.files[number].Path)
	}
	return nil
}

// ErrChangedInput is the error for an input that has changed since it was planned.
var ErrChangedInput = errors.New("it has changed since the run was planned")

func changedInput(path string) error {
	return fmt.Errorf("%s: %w: start again", path, ErrChangedInput)
}

// order returns the order of the records in each split.
func (p *Plan) order(ctx context.Context, t *transfer.Transfer) (assign.Ordering, error) {
	if !p.planned.Shuffle {
		return assign.Unchanged{}, nil
	}
	s := &assign.Shuffled{Seed: p.planned.Seed}
	return s, s.Begin(ctx, t.Assignment(), 0)
}

// partitioner groups records by the shards that they belong to. A batch is the number of its
// records and their positions in the split, all as varints, followed by their frames.
type partitioner struct {
	plan   *Plan
	order  assign.Ordering
	deal   func(shard int, batch []byte) error
	held   []heldRows // by shard
	bytes  int64      // held for all shards
	counts Counts
}

// heldRows are the records held for a shard.
type heldRows struct {
	records int
	places  []byte
	frames  []byte
}

// block deals the records of a block. number is the number of its first record in the split.
func (d *partitioner) block(b *source.Block, split int, number int64) error {
	at := 0
	for i, size := range b.Sizes {
		frame := b.Data[at : at+size]
		at += size
		d.counts.Records++
		d.counts.Bytes += int64(size)
		place := d.order.Place(split, number+int64(i))
		shard := d.plan.before[split] + int(d.plan.layout[split].ShardOf(place))
		if d.plan.kept[shard] {
			continue
		}
		h := &d.held[shard]
		h.records++
		h.places = binary.AppendUvarint(h.places, uint64(place))
		h.frames = append(h.frames, frame...)
		d.bytes += int64(size)
		if len(h.frames) >= mostDealt {
			if err := d.give(shard); err != nil {
				return err
			}
		}
		if d.bytes >= mostDealtAll {
			if err := d.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// give deals the records held for a shard.
func (d *partitioner) give(shard int) error {
	h := &d.held[shard]
	batch := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64+len(h.places)+len(h.frames)), uint64(h.records))
	batch = append(append(batch, h.places...), h.frames...)
	d.bytes -= int64(len(h.frames))
	h.records, h.places, h.frames = 0, h.places[:0], h.frames[:0]
	if cap(h.frames) > mostDealtAll/len(d.held) {
		*h = heldRows{} // if records keep their order, shards are filled one after another
	}
	return d.deal(shard, batch)
}

// flush deals all records held.
func (d *partitioner) flush() error {
	for shard := range d.held {
		if d.held[shard].records == 0 {
			continue
		}
		if err := d.give(shard); err != nil {
			return err
		}
	}
	return nil
}
