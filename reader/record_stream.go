package reader

import (
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/reader/internal/stages"
)

// RecordStream is a running pipeline. Only Stats and Report are safe for concurrent use.
type RecordStream struct{ s *stages.Stream }

// Epoch returns the number of the epoch whose records Next returns. With a [Pipe.Repeat] it counts the
// passes over the set, as [Record].Epoch of the record that was returned last. Before the
// first one it is the pass with which the epoch begins.
func (s *RecordStream) Epoch() int64 { return s.s.Pass() }

// NextEpoch moves to the start of the next epoch, after io.EOF or earlier. Complete caches, memory
// and tuning are kept. An incomplete [Pipe.Cache] starts over. After any error other than io.EOF it
// returns that error.
func (s *RecordStream) NextEpoch() error { return s.s.NextEpoch() }

// Next returns the next record, valid until the next call; io.EOF at the end of the epoch. Any
// other error is final.
func (s *RecordStream) Next() (Record, error) { return s.s.Next() }

// NextBlock returns the next records: the rest of the current block of Next, or another block. The
// caller releases it. [RecordStream.State] counts all of its records as received, [Block.State] any
// number of them.
func (s *RecordStream) NextBlock() (*Block, error) {
	b, err := s.s.NextBlock()
	if err != nil {
		return nil, err
	}
	return &Block{b.Records, b}, nil
}

// State returns the state after the record or block returned last.
func (s *RecordStream) State() State { return s.s.State() }

// Close stops the pipeline, waits for its goroutines and closes its files. Blocks that were not
// released stay valid. It may be called more than once.
func (s *RecordStream) Close() error { return s.s.Close() }

// Stats returns the counters of the stages, source first. It is safe for concurrent use and takes a
// microsecond or two.
func (s *RecordStream) Stats() []StageStats { return s.s.Run.Stages() }

// Report returns Stats, the memory in flight and the bottleneck of the pipeline. It is safe for
// concurrent use.
func (s *RecordStream) Report() Report { return s.s.Run.Report() }

// Publish publishes the Report as a variable of package expvar, which http.DefaultServeMux serves
// at /debug/vars. A pipeline published later under the same name replaces it; the name of a foreign
// variable is an error. After Close the variable keeps the final report.
func (s *RecordStream) Publish(name string) error { return pipeline.Publish(name, s.s.Run.Report) }

// Block is a run of consecutive records. Stages hand over blocks, so that no record costs a lock, a
// channel operation or an allocation. A Block is used by one goroutine at a time, except for
// Retain, Release and State, which are safe for concurrent use.
type Block struct {
	// Records, at least one. The slice and the data belong to the Block.
	Records []Record

	block *pipeline.Block
}

// Retain adds a reference: the Block needs one more Release.
func (b *Block) Retain() { b.block.Retain() }

// Release returns the memory of the Block and its Records. A Block that is never released is left
// to the garbage collector.
func (b *Block) Release() { b.block.Release() }

// State returns the state of a consumer that has received the first n records of the Block, and all
// records before it.
func (b *Block) State(n int) State { return b.block.State(n) }
