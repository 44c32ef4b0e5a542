package records

import (
	"context"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// Interleave returns a source of the records of cycle files in turn, block records from each.
func Interleave(s *fileset.Set, cycle, block int) *pipeline.Link {
	return (*pipeline.Link)(nil).Then("interleave", func(r *pipeline.Run, _ pipeline.Stage) (pipeline.Stage, error) {
		set := s.As(r.Opts)
		if len(set.Joined) > 0 {
			return nil, fileset.ErrJoined
		}
		if cycle < 1 || cycle > maxCycle || block < 1 {
			return nil, fmt.Errorf("reader: Interleave(%d, %d): want 1 or more of each, and a cycle of %d at most", cycle, block, maxCycle)
		}
		name := fmt.Sprintf("interleave(cycle=%d,block=%d%s)", cycle, block, settings(&set.Opts))
		r.Rename(name)
		// One file per goroutine is read ahead of the cycle.
		ahead := r.Opts.Parallelism
		x := &interleave{run: r, set: set, name: name, block: block, slots: make([]slot, cycle), ahead: ahead}
		x.feeder = feeder{run: r, set: set, stats: r.Stats("read")}
		x.feeder.chunk, x.feeder.most = chunksFor(r.Opts.Memory/2, cycle+ahead)
		x.feeder.readers = r.Readers(x.feeder.stats, cycle+ahead, set.Stored())
		x.feeder.stats.QueueSpace.Store(int32((cycle + ahead) * feedDepth))
		x.stats = r.Stats(name)
		if r.Opts.Unordered {
			x.feeder.ready = make(chan struct{}, 1)
		}
		r.Tally(&x.bad)
		return x, nil
	})
}

// maxCycle bounds the number of open files.
const maxCycle = 1 << 16

// settings returns, for the name of a source, the options that the order of records depends on.
func settings(o *pipeline.Options) string {
	text := ""
	if o.Workers > 1 {
		text = fmt.Sprintf(",shard=%d,ends=%d", o.ShardBy, o.Uneven)
	}
	if o.ShuffleFiles {
		text += fmt.Sprintf(",files=%d", o.Seed)
	}
	if pipeline.MaySkip(o.SkipBad) {
		text += ",skip_bad"
	}
	return text
}

// chunksFor returns the read sizes for ordinary and for large records, such that for each file
// feedDepth queued blocks, one being read, one in use and one held by the consumer fit into memory.
func chunksFor(memory int64, files int) (chunk, most int) {
	share := memory / int64(files*(feedDepth+3))
	chunk = int(min(max(share, minChunk), maxChunk))
	return chunk, int(min(max(share, int64(chunk)), largeChunk))
}

// interleave returns the records of several feeds in turn.
type interleave struct {
	run   *pipeline.Run
	set   *fileset.Set // with the options of the run
	stats *pipeline.Counters
	name  string
	block int
	ahead int

	feeder feeder
	epoch  int32
	order  []fileset.Piece // in the epoch's order
	began  int             // pieces whose feed was started
	ready  []*feed         // for the pieces after the ones in slots, in order
	bad    pipeline.SkipCount

	slots    []slot
	turn     int   // slot on turn
	taken    int   // elements returned in this turn
	coming   int   // next piece for a free slot
	open     int   // slots in use
	call     int64 // number of the call of next, from 1
	gathered int   // bytes of records in its block, approximately
	err      error
}

// slot is one position in the cycle.
type slot struct {
	feed   *feed // nil if free
	place  int   // index of the piece in the epoch's order
	at     pipeline.Cursor
	blk    *pipeline.Block // nil if the next one has to be fetched
	i      int             // records of blk that were returned
	faults int             // faults of blk that were reported
	held   int64           // last call of next whose block adopted blk
}

func (x *interleave) Start(ctx context.Context, epoch int64, at pipeline.Position) error {
	x.Stop()
	pieces, err := x.set.Pieces(ctx)
	if err != nil {
		return err
	}
	x.epoch = int32(epoch)
	x.order = append(x.order[:0], pieces...)
	if o := x.run.Opts; o.ShuffleFiles {
		pipeline.Permute(x.order, pipeline.Draws(pipeline.Key(o.Seed, pipeline.ForFiles, uint64(epoch))))
	}
	if err := x.allow(ctx, pieces); err != nil {
		return err
	}
	x.run.BeginTally(&x.bad, x.epoch, 0)
	x.feeder.begin(ctx)
	x.turn, x.taken, x.coming, x.began, x.open, x.err = 0, 0, 0, 0, 0, nil
	clear(x.slots)
	if at != nil {
		err = x.resume(at)
	}
	x.startAhead()
	return err
}

// allow sets how many records of an epoch of pieces may be skipped.
func (x *interleave) allow(ctx context.Context, pieces []fileset.Piece) error {
	records := int64(-1)
	if x.run.Opts.SkipBad.Share > 0 {
		all, err := x.set.AllIndexes(ctx)
		if err != nil {
			return err
		}
		records = 0
		for _, p := range pieces {
			records += min(p.End.Number, all[p.File].Records) - p.From.Number
		}
	}
	x.run.Allow(records)
	return nil
}

// slotWords is the length of a slot in the position.
const slotWords = 3

// appendAt appends the stage's section of the position.
func (x *interleave) appendAt(dst pipeline.Position) pipeline.Position {
	begin := len(dst)
	dst = append(dst, int64(x.coming), int64(x.turn), int64(x.taken), x.bad.Of(x.epoch))
	for i := range x.slots {
		s := &x.slots[i]
		if s.feed == nil {
			dst = append(dst, -1, 0, 0)
			continue
		}
		at := s.where()
		dst = append(dst, int64(s.place), at.Number, at.Offset)
	}
	return append(dst, int64(len(dst)-begin))
}

// where returns the cursor of the slot's next record or damage to report.
func (s *slot) where() pipeline.Cursor {
	switch {
	case s.blk == nil:
		return s.at
	case s.faults < len(s.blk.Faults) && s.blk.Faults[s.faults].Before <= s.i:
		f := &s.blk.Faults[s.faults]
		return pipeline.Cursor{Number: f.Number, Offset: f.Offset}
	case s.i < len(s.blk.Records):
		r := &s.blk.Records[s.i]
		return pipeline.Cursor{Number: r.Number, Offset: r.Offset}
	}
	return s.blk.End
}

func (x *interleave) resume(at pipeline.Position) error {
	own, _ := at.Pop()
	if len(own) != 4+slotWords*len(x.slots) {
		return pipeline.ErrPosition(x.name)
	}
	x.coming, x.turn, x.taken = int(own[0]), int(own[1]), int(own[2])
	if x.coming < 0 || x.coming > len(x.order) || x.turn < 0 || x.turn >= len(x.slots) || x.taken < 0 || x.taken >= x.block || own[3] < 0 || own[3] > pipeline.MaxSkip {
		return pipeline.ErrPosition(x.name)
	}
	x.run.BeginTally(&x.bad, x.epoch, own[3])
	x.began = x.coming
	for i := range x.slots {
		w := own[4+slotWords*i:]
		place, from := int(w[0]), pipeline.Cursor{Number: w[1], Offset: w[2]}
		if place < 0 {
			continue
		}
		if place >= x.coming || from.Number < 0 || from.Offset < 0 {
			return pipeline.ErrPosition(x.name)
		}
		d := x.feeder.start(x.order[place], from, x.epoch)
		d.onTurn.Store(true)
		x.slots[i] = slot{feed: d, place: place, at: from}
		x.open++
	}
	return nil
}

// startAhead starts feeds for the next files.
func (x *interleave) startAhead() {
	for x.began < len(x.order) && x.open+len(x.ready) < len(x.slots)+x.ahead {
		p := x.order[x.began]
		x.ready = append(x.ready, x.feeder.start(p, p.From, x.epoch))
		x.began++
	}
}

func (x *interleave) Stop() {
	for i := range x.slots {
		if b := x.slots[i].blk; b != nil {
			b.Release()
		}
		x.slots[i] = slot{}
	}
	x.feeder.stop()
	x.ready = x.ready[:0]
}

func (x *interleave) Next() (*pipeline.Block, error) {
	if x.err != nil {
		return nil, x.err
	}
	x.call++
	watch := x.stats.Watch()
	out := x.run.NewBlock()
	out.At = x.appendAt(out.At)
	x.gathered = 0
	for len(out.Records) < pipeline.BlockRecords && x.gathered < pipeline.BlockBytes {
		s := &x.slots[x.turn]
		if s.feed == nil {
			if x.coming < len(x.order) {
				x.fill(s)
				continue
			}
			if x.open == 0 {
				x.err = io.EOF
				break
			}
			x.advance()
			continue
		}
		if s.blk == nil {
			if x.fetch(s, len(out.Records) == 0, &watch) {
				continue
			}
			break // at an error, or if nothing more is available for now
		}
		if err := x.report(s); err != nil {
			x.err = err
			break
		}
		if whole := x.pass(s, out); whole != nil {
			out.Release()
			out = whole
			break
		}
		x.take(s, out)
	}
	if len(out.Records) == 0 {
		out.Release()
		watch.Busy()
		return nil, x.err
	}
	x.stats.Gave(out)
	watch.Busy()
	return out, nil
}

// fill assigns the next file to a free slot.
func (x *interleave) fill(s *slot) {
	d := x.ready[0]
	x.ready = append(x.ready[:0], x.ready[1:]...)
	d.onTurn.Store(true)
	*s = slot{feed: d, place: x.coming, at: d.piece.From}
	x.coming++
	x.open++
	x.startAhead()
}

func (x *interleave) advance() {
	x.taken = 0
	if x.turn++; x.turn == len(x.slots) {
		x.turn = 0
	}
}

// report reports the damage before the next record of a slot.
func (x *interleave) report(s *slot) error {
	for s.faults < len(s.blk.Faults) && s.blk.Faults[s.faults].Before <= s.i {
		f := &s.blk.Faults[s.faults]
		s.faults++
		if err := x.run.Skip(&x.bad, f.Skipped(x.set.Sources()[f.File].Path, x.epoch)); err != nil {
			return err
		}
	}
	return nil
}

// pass returns the block of a feed itself if all of it comes next.
func (x *interleave) pass(s *slot, out *pipeline.Block) *pipeline.Block {
	b := s.blk
	if len(x.slots) > 1 || len(out.Records) > 0 || s.i > 0 || len(b.Faults) > 0 || len(b.Records) == 0 {
		return nil
	}
	b.At = append(b.At[:0], out.At...)
	s.at, s.blk = b.End, nil
	return b
}

// take moves the records of a slot's turn to out.
func (x *interleave) take(s *slot, out *pipeline.Block) {
	b := s.blk
	n := min(len(b.Records)-s.i, pipeline.BlockRecords-len(out.Records))
	if len(x.slots) > 1 {
		n = min(n, x.block-x.taken)
	}
	if s.faults < len(b.Faults) {
		n = min(n, b.Faults[s.faults].Before-s.i)
	}
	if n > 0 {
		if s.held != x.call {
			out.Adopt(b)
			s.held = x.call
		}
		out.Records = append(out.Records, b.Records[s.i:s.i+n]...)
		x.gathered += n * (b.Filled() / len(b.Records))
		s.i += n
		if len(x.slots) > 1 {
			if x.taken += n; x.taken == x.block {
				x.advance()
			}
		}
	}
	if s.i == len(b.Records) && s.faults == len(b.Faults) {
		s.at, s.blk = b.End, nil
		b.Release()
	}
}
