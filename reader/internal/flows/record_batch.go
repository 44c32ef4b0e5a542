package flows

import (
	"context"
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// RecordBatch is a run of consecutive records as read. It and its data are valid until the next
// batch is requested: keep a Clone.
type RecordBatch struct {
	Records []pipeline.Record
	// Epoch is the epoch of the first record (see Record.Epoch).
	Epoch int32

	place
}

// RecordBatches returns batches of n records.
func RecordBatches(p stages.Pipe, n int, dropRemainder bool) Flow[*RecordBatch] {
	return func(ctx context.Context, from pipeline.Origin) (Source[*RecordBatch], error) {
		if err := CheckBatch(n); err != nil {
			return nil, err
		}
		stream, err := p.Start(ctx, from)
		if err != nil {
			return nil, err
		}
		stream.Run.Makes(batchName(n, dropRemainder))
		return &batches{stream: stream, cut: Cutter{stream: stream, Size: n, Drop: dropRemainder},
			start: stream.State(), counts: stream.Run.Stats("batch")}, nil
	}
}

// batchName describes batches of n elements.
func batchName(n int, dropRemainder bool) string {
	if dropRemainder {
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
	Element[*RecordBatch]
	portion
}

func (s *batches) Next() (*Element[*RecordBatch], error) {
	t, ok := s.idle.take()
	if !ok {
		t = &batchTask{}
		t.Value = &RecordBatch{}
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
	t.Value.Records, t.Value.Epoch, t.Value.mark = t.records, t.records[0].Epoch, t.marks[0]
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

func (s *batches) recycle() func(*RecordBatch) { return (*RecordBatch).poison }

func (s *batches) Close() {
	s.cut.close()
	s.stream.Close()
}

// Clone returns a copy of the batch that stays valid, with its State. The data of its records are
// consecutive in memory.
func (b *RecordBatch) Clone() *RecordBatch {
	data := make([]byte, 0, payload(b.Records))
	d := &RecordBatch{Records: slices.Clone(b.Records), Epoch: b.Epoch, place: CopyPlace(&b.place)}
	for i := range d.Records {
		r := &d.Records[i]
		from := len(data)
		data = append(data, r.Data...)
		r.Data = data[from:len(data):len(data)]
	}
	return d
}

// poison overwrites the data of the records.
func (b *RecordBatch) poison() {
	for _, r := range b.Records {
		pipeline.Fill(r.Data, pipeline.PoisonByte)
	}
}
