package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/tfrec/tfrec/reader/internal/fileset"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
)

// errIdle is returned by a stream before an epoch is started.
var errIdle = errors.New("reader: no epoch was started")

// ErrClosed is returned by a stream after Close.
var ErrClosed = errors.New("reader: the stream is closed")

// Stream is a running pipeline. Only Running is safe for concurrent use.
type Stream struct {
	Run   *pipeline.Run
	Pipe  pipeline.Stage // the last of its stages
	Top   pipeline.Stage // pipe, or merge in the epoch of a merged State
	merge *merge         // nil: none, or its epoch is over

	block *pipeline.Block // whose records Next returns
	given int             // records of it that were returned

	epoch int64
	pass  int64                   // of the last record returned; before the first one, that with which the epoch begins
	end   context.CancelCauseFunc // of the epoch
	left  atomic.Bool             // interrupt was called in it
	at    pipeline.Position       // of the last block returned, followed by the epoch
	past  int64                   // elements received after at
	err   error                   // final
}

// Pipe is a pipeline that is described: a set and stages.
type Pipe struct {
	Set  *fileset.Set // nil: it has no beginning
	Last *pipeline.Link
}

// Start opens the stages at an origin.
func (p Pipe) Start(ctx context.Context, from pipeline.Origin) (*Stream, error) {
	if p.Set == nil {
		return nil, fmt.Errorf("reader: a Pipe without a Set: begin with Open")
	}
	if ctx == nil {
		return nil, pipeline.ErrNoContext
	}
	if err := pipeline.CheckEpoch(from.Epoch); err != nil {
		return nil, err
	}
	if p.Set.Opts.BatchWithinEpoch && p.Last.MixesPasses() {
		return nil, errors.New("reader: BatchWithinEpoch, and a Shuffle or Mix after a Repeat, which mixes passes: repeat last")
	}
	r, err := pipeline.NewRun(ctx, p.Set.Opts, p.Set)
	if err != nil {
		return nil, err
	}
	r.Passes, r.Rereads = p.Last.Passes, from.Idle
	top, err := p.Last.Build(r)
	if err != nil {
		r.Cancel(nil)
		return nil, err
	}
	s := &Stream{Run: r, Pipe: top, Top: top}
	if err := s.begin(p.Last, from); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// begin starts the stages at the origin of the run.
func (s *Stream) begin(last *pipeline.Link, from pipeline.Origin) error {
	if from.Idle {
		s.end, s.err = func(error) {}, errIdle
		s.at = s.at.Push(0)
		return nil
	}
	state := from.State
	if state == nil {
		return s.startEpoch(from.Epoch, nil)
	}
	var at pipeline.Position
	var err error
	if len(state.Merged) > 0 {
		err = s.openMerge(last, state)
	} else {
		at, err = s.Run.Position(state)
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
			return fmt.Errorf("resume: %w: it is %d records past a position with only %d after it", pipeline.ErrState, state.Skip, s.past)
		}
		if err != nil {
			return err
		}
		left := state.Skip - s.past
		if left < int64(len(b.Records)) {
			s.block, s.given = b, int(left)
			s.at, s.past = append(s.at[:0], b.At...), left
			return nil
		}
		s.past += int64(len(b.Records))
		b.Release()
	}
	return nil
}

// StartEpoch starts the stages at a position in an epoch; nil is its beginning.
func (s *Stream) startEpoch(epoch int64, at pipeline.Position) error {
	ctx, end := context.WithCancelCause(s.Run.Ctx)
	s.end = end
	s.left.Store(false)
	if s.merge != nil && epoch != s.merge.from.Epoch {
		s.endMerge()
	}
	s.epoch, s.past = epoch, 0
	s.pass = s.Run.FirstPass(epoch)
	s.Run.Epochs.Add(1)
	s.at = append(s.at[:0], at...).Push(epoch)
	return s.Top.Start(ctx, epoch, at)
}

// openMerge makes the stream continue the epoch of a merged State.
func (s *Stream) openMerge(last *pipeline.Link, state *pipeline.State) (err error) {
	if s.merge, err = openMerge(s.Run, last, state); err != nil {
		return err
	}
	s.Top = pipeline.NewChecked(s.merge, MergeName)
	s.Run.Mu.Lock()
	s.Run.Inputs = append(s.Run.Inputs, s.merge.run)
	s.Run.Mu.Unlock()
	return nil
}

// endMerge continues with the stages of the pipe.
func (s *Stream) endMerge() {
	s.Top.Stop()
	s.Run.Mu.Lock()
	s.Run.Inputs = s.Run.Inputs[:len(s.Run.Inputs)-1]
	s.Run.Mu.Unlock()
	s.merge, s.Top = nil, s.Pipe
}

// errInterrupted ends an epoch that the consumer leaves early.
var errInterrupted = errors.New("reader: the epoch was left")

// Interrupt makes a call of nextBlock in another goroutine return soon, with an
// error. Only NextEpoch or Close may follow.
func (s *Stream) Interrupt() {
	s.left.Store(true)
	s.end(errInterrupted)
}

// Epoch returns the number of the epoch whose records Next returns.
func (s *Stream) Epoch() int64 { return s.epoch }

// Pass returns how often the set had been read before the record returned last.
func (s *Stream) Pass() int64 { return s.pass }

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. Complete caches, memory
// and tuning are kept. An incomplete cache starts over. After any error other than io.EOF it
// returns that error.
func (s *Stream) NextEpoch() error { return s.MoveTo(s.epoch + 1) }

// MoveTo moves to the start of an epoch.
func (s *Stream) MoveTo(epoch int64) error {
	if s.err != nil && s.err != io.EOF && s.err != errIdle && !(s.left.Load() && s.Run.Ctx.Err() == nil) {
		return s.err
	}
	s.drop()
	s.end(errInterrupted)
	if s.err = s.Run.Ctx.Err(); s.err != nil {
		return s.err
	}
	if s.err = pipeline.CheckEpoch(epoch); s.err == nil {
		s.err = s.startEpoch(epoch, nil)
	}
	return s.err
}

// nextBlock returns the next block, with a position that includes the epoch.
func (s *Stream) nextBlock() (*pipeline.Block, error) {
	b, err := s.Top.Next()
	if err == nil {
		b.At = b.At.Push(s.epoch)
	}
	return b, err
}

// Next returns the next record, valid until the next call; io.EOF at the end of the epoch. Any
// other error is final.
func (s *Stream) Next() (pipeline.Record, error) {
	if s.block == nil || s.given == len(s.block.Records) {
		if err := s.load(); err != nil {
			return pipeline.Record{}, err
		}
		s.past = 0
	}
	r := s.block.Records[s.given]
	s.given++
	s.past++
	s.pass = int64(r.Epoch)
	return r, nil
}

// NextBlock returns the next records: the rest of the current block of Next, or another block. The
// caller releases it. RecordStream.State counts all of its records as received, Block.State any
// number of them.
func (s *Stream) NextBlock() (*pipeline.Block, error) {
	if s.block == nil || s.given == len(s.block.Records) {
		if err := s.load(); err != nil {
			return nil, err
		}
		s.past = 0
	}
	b := s.block
	s.block = nil
	if s.given > 0 {
		b = b.Behind(s.given)
		s.given = 0
	}
	s.past = b.Before + int64(len(b.Records))
	s.pass = int64(b.Records[len(b.Records)-1].Epoch)
	return b, nil
}

// load gets the next block.
func (s *Stream) load() error {
	s.drop()
	s.Run.Tuner.Tick()
	if s.err == nil {
		if s.err = s.Run.Ctx.Err(); s.err != nil {
			return s.err
		}
		s.block, s.err = s.nextBlock()
	}
	if s.err != nil {
		s.block = nil
		return s.err
	}
	s.given = 0
	s.at = append(s.at[:0], s.block.At...)
	return nil
}

func (s *Stream) drop() {
	if s.block != nil {
		s.block.Release()
		s.block = nil
	}
	s.given = 0
}

// State returns the state after the record or block returned last.
func (s *Stream) State() pipeline.State {
	if s.merge != nil {
		return s.merge.run.State(s.at, s.past)
	}
	return s.Run.State(s.at, s.past)
}

// Running returns the Run that the stages share.
func (s *Stream) Running() *pipeline.Run { return s.Run }

// Close stops the pipeline, waits for its goroutines and closes its files. Blocks that were not
// released stay valid. It may be called more than once.
func (s *Stream) Close() error {
	s.Run.Cancel(ErrClosed)
	s.Top.Stop()
	s.drop()
	s.Run.Finish()
	s.err = ErrClosed
	return nil
}
