package flows

import (
	"context"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// Records returns the records of a pipe as elements, for stages that work on any.
func Records(p stages.Pipe) Flow[pipeline.Record] {
	return func(ctx context.Context, from pipeline.Origin) (Source[pipeline.Record], error) {
		stream, err := p.Start(ctx, from)
		if err != nil {
			return nil, err
		}
		return &recordElements{stream: stream, start: stream.State()}, nil
	}
}

// recordElements returns the records of a stream one by one.
type recordElements struct {
	stream *stages.Stream
	start  pipeline.State
	block  *pipeline.Block
	given  int // records of it that were returned
	idle   idle[*Element[pipeline.Record]]
}

func (s *recordElements) Next() (*Element[pipeline.Record], error) {
	if s.block == nil {
		b, err := s.stream.NextBlock()
		if err != nil {
			return nil, err
		}
		s.block, s.given = b, 0
	}
	e, ok := s.idle.take()
	if !ok {
		e = &Element[pipeline.Record]{}
		e.free = func() { s.idle.put(e) }
	}
	e.Value = s.block.Records[s.given]
	s.given++
	e.marks = append(e.marks, Mark{block: s.block, n: s.given}.retain())
	if s.given == len(s.block.Records) {
		s.drop()
	}
	return e, nil
}

// drop releases the current block.
func (s *recordElements) drop() {
	if s.block != nil {
		s.block.Release()
		s.block = nil
	}
}

func (s *recordElements) Interrupt() { s.stream.Interrupt() }

func (s *recordElements) StartEpoch(epoch int64) error {
	s.drop()
	err := s.stream.MoveTo(epoch)
	s.start = s.stream.State()
	return err
}

func (s *recordElements) State() pipeline.State  { return s.start }
func (s *recordElements) Running() *pipeline.Run { return s.stream.Run }

func (s *recordElements) recycle() func(pipeline.Record) { return nil }

func (s *recordElements) Close() {
	s.drop()
	s.stream.Close()
}
