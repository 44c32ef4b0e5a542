package source

import (
	"context"
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Record is a record of the input, valid until the call that it is passed to returns.
type Record struct {
	// Data is the payload. It must not be changed.
	Data []byte
	// Number is its number among all records of the input, from 0.
	Number int64
	// Split is its split in the input.
	Split int

	// Context is the run's context, for a look that may take long.
	Context context.Context

	File    *Input
	inFile  int64 // number in the file
	offset  int64 // of its frame, uncompressed
	parsed  bool  // message and err are the result of parsing data
	err     error
	message tfrecord.Example
}

// Example parses the record, once. Its features alias the record's data. The error includes file,
// record and offset, and is a [*shard.DamagedError].
func (r *Record) Example() (*tfrecord.Example, error) {
	e, err := r.Parse()
	if err != nil {
		return nil, &shard.DamagedError{Err: r.Locate(err)}
	}
	return e, nil
}

// Parse is like Example, but returns the error of the parser.
func (r *Record) Parse() (*tfrecord.Example, error) {
	if !r.parsed {
		r.err = r.message.Parse(r.Data)
		r.parsed = true
	}
	return &r.message, r.err
}

// Replace changes the payload of the record.
func (r *Record) Replace(data []byte) { r.Data, r.parsed = data, false }

// InSplit returns the number of the record in its split of the input.
func (r *Record) InSplit() int64 { return r.File.FirstInSplit + r.inFile }

// Label returns the id of the record's label, or NoLabel.
func (r *Record) Label(key string) int64 {
	if e, err := r.Parse(); err == nil {
		if f, ok := e.Get(key); ok && f.Len() == 1 {
			if id, ok := f.Int64(); ok {
				return id
			}
		}
	}
	return NoLabel
}

// begin makes r the i-th record of a block.
func (r *Record) begin(b *Block, i int, at int64, data []byte) {
	r.Data, r.parsed = data, false
	r.File, r.Split = b.File, b.File.SplitIndex
	r.inFile, r.offset = b.First+int64(i), b.Offset+at
	r.Number = b.File.First + r.inFile
}

// Locate adds file, record and offset to an error about a record.
func (r *Record) Locate(err error) error {
	part, at := tfrecord.PartParse, err
	if fault, ok := err.(*tfrecord.Error); ok {
		if fault.Record >= 0 {
			return err
		}
		part, at = fault.Part, fmt.Errorf("byte %d of the record: %w", fault.Offset, fault.Err)
	}
	return &tfrecord.Error{Name: r.File.Path, Record: r.inFile, Offset: r.offset, Part: part, Err: at}
}

var recordPool = sync.Pool{New: func() any { return new(Record) }}
