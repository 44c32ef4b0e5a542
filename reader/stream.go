package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// errClosed is what a Stream returns after Close.
var errClosed = errors.New("reader: Stream is closed")

// Stream is a running pipeline. It is not safe for concurrent use, Stats
// aside.
type Stream struct {
	run    *run
	top    stage
	cancel context.CancelCauseFunc

	block *Block // that Next gives records of
	given int    // records of it that were given

	at   position // of the block that was given last
	past int64    // elements behind at that were received
	err  error    // final
}

// begin starts the stages where the state says.
func (s *Stream) begin(state *State) error {
	if state == nil {
		return s.top.start(s.run.ctx, 0, nil)
	}
	at, err := s.run.position(state)
	if err != nil {
		return err
	}
	if err := s.top.start(s.run.ctx, 0, at); err != nil {
		return err
	}
	s.at, s.past = at, 0
	for s.past < state.Skip {
		b, err := s.top.next()
		if err == io.EOF {
			return fmt.Errorf("resume: %w: it is %d records past a place with only %d behind it", ErrState, state.Skip, s.past)
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

// Next returns the next record, which is valid until the next call; io.EOF at
// the end. Every other error is final, too.
func (s *Stream) Next() (Record, error) {
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

// NextBlock returns the next records: what is left of the block that Next
// gives of, or another block. The caller releases it. [Stream.State] counts all
// of its records as received, [Block.State] any of them.
func (s *Stream) NextBlock() (*Block, error) {
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
func (s *Stream) load() error {
	s.drop()
	s.run.tuner.tick()
	if s.err == nil {
		if s.err = s.run.ctx.Err(); s.err != nil {
			return s.err
		}
		s.block, s.err = s.top.next()
	}
	if s.err != nil {
		s.block = nil
		return s.err
	}
	s.given = 0
	s.at = append(s.at[:0], s.block.at...)
	return nil
}

func (s *Stream) drop() {
	if s.block != nil {
		s.block.Release()
		s.block = nil
	}
	s.given = 0
}

// State returns the state behind the record, or the block, that was given last.
func (s *Stream) State() State { return s.run.state(s.at, s.past) }

// Close stops the pipeline, waits for its goroutines and closes its files.
// Blocks that were not released stay valid. It may be called again.
func (s *Stream) Close() error {
	s.cancel(errClosed)
	s.top.stop()
	s.drop()
	s.run.finish()
	s.err = errClosed
	return nil
}
