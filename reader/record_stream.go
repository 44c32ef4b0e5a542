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

// RecordStream is a running pipeline. Only Stats and Report are safe for concurrent use.
type RecordStream struct {
	run    *run
	pipe   stage  // the last of its stages
	top    stage  // pipe, or merge in the epoch of a merged State
	merge  *merge // nil: none, or its epoch is over
	cancel context.CancelCauseFunc

	block *Block // whose records Next returns
	given int    // records of it that were returned

	epoch int64
	end   context.CancelCauseFunc // of the epoch
	left  atomic.Bool             // interrupt was called in it
	at    position                // of the last block returned, followed by the epoch
	past  int64                   // elements received after at
	err   error                   // final
}

// begin starts the stages at the origin of the run.
func (s *RecordStream) begin(last *link, from origin) error {
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
func (s *RecordStream) startEpoch(epoch int64, at position) error {
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
func (s *RecordStream) openMerge(last *link, state *State) (err error) {
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
func (s *RecordStream) endMerge() {
	s.top.stop()
	s.run.mu.Lock()
	s.run.inputs = s.run.inputs[:len(s.run.inputs)-1]
	s.run.mu.Unlock()
	s.merge, s.top = nil, s.pipe
}

// errInterrupted ends an epoch that the consumer leaves early.
var errInterrupted = errors.New("reader: the epoch was left")

// interrupt makes a call of NextBlock in another goroutine return soon, with an
// error. Only NextEpoch or Close may follow.
func (s *RecordStream) interrupt() {
	s.left.Store(true)
	s.end(errInterrupted)
}

// Epoch returns the number of the epoch whose records Next returns.
func (s *RecordStream) Epoch() int64 { return s.epoch }

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. Complete caches, memory
// and tuning are kept. An incomplete [Pipe.Cache] starts over. After any error other than io.EOF it
// returns that error.
func (s *RecordStream) NextEpoch() error { return s.moveTo(s.epoch + 1) }

// moveTo moves to the start of an epoch.
func (s *RecordStream) moveTo(epoch int64) error {
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

// maxEpoch bounds epochs, which Record stores in 32 bits.
const maxEpoch = 1<<31 - 1

func checkEpoch(epoch int64) error {
	if epoch < 0 || epoch > maxEpoch {
		return fmt.Errorf("reader: epoch %d: want 0 to %d", epoch, maxEpoch)
	}
	return nil
}

// nextBlock returns the next block, with a position that includes the epoch.
func (s *RecordStream) nextBlock() (*Block, error) {
	b, err := s.top.next()
	if err == nil {
		b.at = b.at.push(s.epoch)
	}
	return b, err
}

// Next returns the next record, valid until the next call; io.EOF at the end of the epoch. Any
// other error is final.
func (s *RecordStream) Next() (Record, error) {
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
func (s *RecordStream) NextBlock() (*Block, error) {
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
func (s *RecordStream) load() error {
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

func (s *RecordStream) drop() {
	if s.block != nil {
		s.block.Release()
		s.block = nil
	}
	s.given = 0
}

// State returns the state after the record or block returned last.
func (s *RecordStream) State() State {
	if s.merge != nil {
		return s.merge.run.state(s.at, s.past)
	}
	return s.run.state(s.at, s.past)
}

// Close stops the pipeline, waits for its goroutines and closes its files. Blocks that were not
// released stay valid. It may be called more than once.
func (s *RecordStream) Close() error {
	s.cancel(errClosed)
	s.top.stop()
	s.drop()
	s.run.finish()
	s.err = errClosed
	return nil
}
