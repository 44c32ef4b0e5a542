package reader

import (
	"context"
	"fmt"
	"slices"
)

// RecordBatch is a run of consecutive records as read. It and its data are valid until the next
// batch is requested: keep a Clone.
type RecordBatch struct {
	Records []Record
	// Epoch is the epoch of the first record (see [Record.Epoch]).
	Epoch int32

	place
}

// flowRecordBatches returns batches of n records.
func flowRecordBatches(p chain, n int, dropRemainder bool) flow[*RecordBatch] {
	return func(ctx context.Context, from origin) (source[*RecordBatch], error) {
		if err := checkBatch(n); err != nil {
			return nil, err
		}
		stream, err := p.start(ctx, from)
		if err != nil {
			return nil, err
		}
		stream.run.makes(batchName(n, dropRemainder))
		return &batches{stream: stream, cut: cutter{stream: stream, size: n, drop: dropRemainder},
			start: stream.State(), counts: stream.run.stats("batch")}, nil
	}
}

// batchName describes batches of n elements.
func batchName(n int, dropRemainder bool) string {
	if dropRemainder {
		return fmt.Sprintf("batch(%d,drop)", n)
	}
	return fmt.Sprintf("batch(%d)", n)
}

// maxBatch bounds the number of elements in a batch.
const maxBatch = 1 << 24

func checkBatch(n int) error {
	if n < 1 || n > maxBatch {
		return fmt.Errorf("reader: a batch of %d: want 1 to %d elements", n, maxBatch)
	}
	return nil
}

// batches cuts a stream into batches.
type batches struct {
	stream *recordStream
	cut    cutter
	start  State
	counts *stageStats
	idle   idle[*batchTask]
}

// batchTask is a batch with its memory.
type batchTask struct {
	element[*RecordBatch]
	portion
}

func (s *batches) next() (*element[*RecordBatch], error) {
	t, ok := s.idle.take()
	if !ok {
		t = &batchTask{}
		t.value = &RecordBatch{}
		t.element.free = func() {
			t.portion.drop()
			s.idle.put(t)
		}
	}
	watch := s.counts.watch()
	err := s.cut.cut(&t.portion)
	watch.waited()
	if err != nil {
		return nil, err
	}
	t.marks = append(t.marks, t.portion.mark())
	t.value.Records, t.value.Epoch, t.value.mark = t.records, t.records[0].Epoch, t.marks[0]
	s.counts.elements.Add(int64(len(t.records)))
	s.counts.bytes.Add(payload(t.records))
	return &t.element, nil
}

func (s *batches) interrupt() { s.stream.interrupt() }

func (s *batches) startEpoch(epoch int64) error {
	s.cut.close()
	err := s.stream.moveTo(epoch)
	s.start = s.stream.State()
	return err
}

func (s *batches) state() State  { return s.start }
func (s *batches) running() *run { return s.stream.run }

func (s *batches) recycle() func(*RecordBatch) { return (*RecordBatch).poison }

func (s *batches) close() {
	s.cut.close()
	s.stream.Close()
}

// Clone returns a copy of the batch that stays valid, with its State. The data of its records are
// consecutive in memory.
func (b *RecordBatch) Clone() *RecordBatch {
	data := make([]byte, 0, payload(b.Records))
	d := &RecordBatch{Records: slices.Clone(b.Records), Epoch: b.Epoch, place: copyPlace(&b.place)}
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
		fill(r.Data, poisonByte)
	}
}
