package flows

import (
	"context"
	"fmt"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// RecordBatches returns batches of n records.
func RecordBatches(p stages.Pipe, n int, o BatchOptions) Flow[[]pipeline.Record] {
	return func(ctx context.Context, from pipeline.Origin) (Source[[]pipeline.Record], error) {
		if err := CheckBatch(n); err != nil {
			return nil, err
		}
		stream, err := p.Start(ctx, from)
		if err != nil {
			return nil, err
		}
		stream.Run.Makes(o.name(n))
		return &batches{stream: stream, cut: Cutter{stream: stream, Size: n, Drop: o.DropRemainder},
			start: stream.State(), counts: stream.Run.Stats("batch")}, nil
	}
}

// BatchOptions are the options of Batch.
type BatchOptions struct {
	// DropRemainder drops a last batch that is smaller than the others.
	DropRemainder bool
}

// name describes batches of n elements.
func (o BatchOptions) name(n int) string {
	if o.DropRemainder {
		return fmt.Sprintf("batch(%d,drop)", n)
	}
	return fmt.Sprintf("batch(%d)", n)
}

// MaxBatch bounds the number of elements in a batch.
const MaxBatch = 1 << 24

func CheckBatch(n int) error {
	if n < 1 || n > MaxBatch {
		return fmt.Errorf("reader: a batch of %d: want 1 to %d elements", n, MaxBatch)
	}
	return nil
}

// batches cuts a stream into batches.
type batches struct {
	stream *stages.Stream
	cut    Cutter
	start  pipeline.State
	counts *pipeline.Counters
	idle   idle[*batchTask]
}

// batchTask is a batch with its memory.
type batchTask struct {
	Element[[]pipeline.Record]
	portion
}

func (s *batches) Next() (*Element[[]pipeline.Record], error) {
	t, ok := s.idle.take()
	if !ok {
		t = &batchTask{}
		t.Element.free = func() {
			t.portion.drop()
			s.idle.put(t)
		}
	}
	watch := s.counts.Watch()
	err := s.cut.cut(&t.portion)
	watch.Waited()
	if err != nil {
		return nil, err
	}
	t.marks = append(t.marks, t.portion.mark())
	t.Value = t.records
	s.counts.Elements.Add(int64(len(t.records)))
	s.counts.Bytes.Add(payload(t.records))
	return &t.Element, nil
}

func (s *batches) Interrupt() { s.stream.Interrupt() }

func (s *batches) StartEpoch(epoch int64) error {
	s.cut.close()
	err := s.stream.MoveTo(epoch)
	s.start = s.stream.State()
	return err
}

func (s *batches) State() pipeline.State  { return s.start }
func (s *batches) Running() *pipeline.Run { return s.stream.Run }

func (s *batches) recycle() func([]pipeline.Record) { return poisonRecords }

func (s *batches) Close() {
	s.cut.close()
	s.stream.Close()
}

// poisonRecords overwrites the data of records.
func poisonRecords(records []pipeline.Record) {
	for _, r := range records {
		pipeline.Fill(r.Data, pipeline.PoisonByte)
	}
}
