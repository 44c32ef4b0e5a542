package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// errIdle is what a stream returns before an epoch is started.
var errIdle = errors.New("reader: no epoch was started")

// errClosed is what a stream returns after Close.
var errClosed = errors.New("reader: the stream is closed")

// recordStream is a running pipeline. Only Stats and Report are safe for concurrent use.
type recordStream struct {
	run    *run
	pipe   stage  // the last of its stages
	top    stage  // pipe, or merge in the epoch of a merged State
	merge  *merge // nil: none, or its epoch is over
	cancel context.CancelCauseFunc

	block *recordBlock // whose records Next returns
	given int    // records of it that were returned

	epoch int64
	end   context.CancelCauseFunc // of the epoch
	left  atomic.Bool             // interrupt was called in it
	at    position                // of the last block returned, followed by the epoch
	past  int64                   // elements received after at
	err   error                   // final
}

// chain is a pipeline that is described: a set and stages.
type chain struct {
	set  *fileSet // nil: it has no beginning
	last *link
}

// start opens the stages at an origin.
func (p chain) start(ctx context.Context, from origin) (*recordStream, error) {
	if p.set == nil {
		return nil, fmt.Errorf("reader: a Pipe without a Set: begin with Open")
	}
	if ctx == nil {
		return nil, errNoContext
	}
	if err := checkEpoch(from.epoch); err != nil {
		return nil, err
	}
	if p.set.opts.BatchWithinEpoch && p.last.mixesPasses() {
		return nil, errors.New("reader: BatchWithinEpoch, and a Shuffle or Mix after a Repeat, which mixes passes: repeat last")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := newRun(ctx, p.set.opts, p.set)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	r.passes, r.rereads = p.last.passes, from.idle
	top, err := p.last.build(r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := &recordStream{run: r, pipe: top, top: top, cancel: cancel}
	if err := s.begin(p.last, from); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// begin starts the stages at the origin of the run.
func (s *recordStream) begin(last *link, from origin) error {
	if from.idle {
		s.end, s.err = func(error) {}, errIdle
		s.at = s.at.push(0)
		return nil
	}
	state := from.state
	if state == nil {
		return s.startEpoch(from.epoch, nil)
	}
	var at position
	var err error
	if len(state.Merged) > 0 {
		err = s.openMerge(last, state)
	} else {
		at, err = s.run.position(state)
	}
	if err != nil {
		return err
	}
	if err := s.startEpoch(state.Epoch, at); err != nil {
		return err
	}
	for s.past < state.Skip {
		b, err := s.nextBlock()
		if err == io.EOF {
			return fmt.Errorf("resume: %w: it is %d records past a position with only %d after it", ErrState, state.Skip, s.past)
		}
		if err != nil {
			return err
		}
		left := state.Skip - s.past
		if left < int64(len(b.Records)) {
			s.block, s.given = b, int(left)
			s.at, s.past = append(s.at[:0], b.at...), left
			return nil
		}
		s.past += int64(len(b.Records))
		b.Release()
	}
	return nil
}

// startEpoch starts the stages at a position in an epoch; nil is its beginning.
func (s *recordStream) startEpoch(epoch int64, at position) error {
	ctx, end := context.WithCancelCause(s.run.ctx)
	s.end = end
	s.left.Store(false)
	if s.merge != nil && epoch != s.merge.from.Epoch {
		s.endMerge()
	}
	s.epoch, s.past = epoch, 0
	s.run.epochs.Add(1)
	s.at = append(s.at[:0], at...).push(epoch)
	return s.top.start(ctx, epoch, at)
}

// openMerge makes the first epoch that of a merged State.
func (s *recordStream) openMerge(last *link, state *State) (err error) {
	if s.merge, err = openMerge(s.run, last, state); err != nil {
		return err
	}
	s.top = newChecked(s.merge, mergeName)
	s.run.mu.Lock()
	s.run.inputs = append(s.run.inputs, s.merge.run)
	s.run.mu.Unlock()
	return nil
}

// endMerge continues with the stages of the pipe.
func (s *recordStream) endMerge() {
	s.top.stop()
	s.run.mu.Lock()
	s.run.inputs = s.run.inputs[:len(s.run.inputs)-1]
	s.run.mu.Unlock()
	s.merge, s.top = nil, s.pipe
}

// errInterrupted ends an epoch that the consumer leaves early.
var errInterrupted = errors.New("reader: the epoch was left")

// interrupt makes a call of nextBlock in another goroutine return soon, with an
// error. Only NextEpoch or Close may follow.
func (s *recordStream) interrupt() {
	s.left.Store(true)
	s.end(errInterrupted)
}

// Epoch returns the number of the epoch whose records Next returns.
func (s *recordStream) Epoch() int64 { return s.epoch }

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. Complete caches, memory
// and tuning are kept. An incomplete [Pipe.Cache] starts over. After any error other than io.EOF it
// returns that error.
func (s *recordStream) NextEpoch() error { return s.moveTo(s.epoch + 1) }

// moveTo moves to the start of an epoch.
func (s *recordStream) moveTo(epoch int64) error {
	if s.err != nil && s.err != io.EOF && s.err != errIdle && !(s.left.Load() && s.run.ctx.Err() == nil) {
		return s.err
	}
	s.drop()
	s.end(errInterrupted)
	if s.err = s.run.ctx.Err(); s.err != nil {
		return s.err
	}
	if s.err = checkEpoch(epoch); s.err == nil {
		s.err = s.startEpoch(epoch, nil)
	}
	return s.err
}

// nextBlock returns the next block, with a position that includes the epoch.
func (s *recordStream) nextBlock() (*recordBlock, error) {
	b, err := s.top.next()
	if err == nil {
		b.at = b.at.push(s.epoch)
	}
	return b, err
}

// Next returns the next record, valid until the next call; io.EOF at the end of the epoch. Any
// other error is final.
func (s *recordStream) Next() (Record, error) {
	if s.block == nil || s.given == len(s.block.Records) {
		if err := s.load(); err != nil {
			return Record{}, err
		}
		s.past = 0
	}
	r := s.block.Records[s.given]
	s.given++
	s.past++
	return r, nil
}

// NextBlock returns the next records: the rest of the current block of Next, or another block. The
// caller releases it. [RecordStream.State] counts all of its records as received, [Block.State] any
// number of them.
func (s *recordStream) NextBlock() (*recordBlock, error) {
	if s.block == nil || s.given == len(s.block.Records) {
		if err := s.load(); err != nil {
			return nil, err
		}
		s.past = 0
	}
	b := s.block
	s.block = nil
	if s.given > 0 {
		b = b.behind(s.given)
		s.given = 0
	}
	s.past = b.before + int64(len(b.Records))
	return b, nil
}

// load gets the next block.
func (s *recordStream) load() error {
	s.drop()
	s.run.tuner.tick()
	if s.err == nil {
		if s.err = s.run.ctx.Err(); s.err != nil {
			return s.err
		}
		s.block, s.err = s.nextBlock()
	}
	if s.err != nil {
		s.block = nil
		return s.err
	}
	s.given = 0
	s.at = append(s.at[:0], s.block.at...)
	return nil
}

func (s *recordStream) drop() {
	if s.block != nil {
		s.block.Release()
		s.block = nil
	}
	s.given = 0
}

// State returns the state after the record or block returned last.
func (s *recordStream) State() State {
	if s.merge != nil {
		return s.merge.run.state(s.at, s.past)
	}
	return s.run.state(s.at, s.past)
}

// Close stops the pipeline, waits for its goroutines and closes its files. Blocks that were not
// released stay valid. It may be called more than once.
func (s *recordStream) Close() error {
	s.cancel(errClosed)
	s.top.stop()
	s.drop()
	s.run.finish()
	s.err = errClosed
	return nil
}
