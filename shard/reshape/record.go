package reshape

import (
	"context"
	"fmt"
	"sync"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// record is a record of the input, valid until the call that it is passed to returns.
type record struct {
	// data is the payload. It must not be changed.
	data []byte
	// number is its number among all records of the input, from 0.
	number int64
	// split is its split in the input.
	split int

	// ctx is the run's context, for a look that may take long.
	ctx context.Context

	file    *input
	inFile  int64 // number in the file
	offset  int64 // of its frame, uncompressed
	parsed  bool  // message and err are the result of parsing data
	err     error
	message tfrecord.Example
}

// example parses the record, once. Its features alias the record's data. The error includes file,
// record and offset, and is a [*shard.DamagedError].
func (r *record) example() (*tfrecord.Example, error) {
	e, err := r.parse()
	if err != nil {
		return nil, &shard.DamagedError{Err: r.locate(err)}
	}
	return e, nil
}

// parse is like example, but returns the error of the parser.
func (r *record) parse() (*tfrecord.Example, error) {
	if !r.parsed {
		r.err = r.message.Parse(r.data)
		r.parsed = true
	}
	return &r.message, r.err
}

// replace changes the payload of the record.
func (r *record) replace(data []byte) { r.data, r.parsed = data, false }

// inSplit returns the number of the record in its split of the input.
func (r *record) inSplit() int64 { return r.file.place + r.inFile }

// label returns the id of the record's label, or noLabel.
func (r *record) label(key string) int64 {
	if e, err := r.parse(); err == nil {
		if f, ok := e.Get(key); ok && f.Len() == 1 {
			if id, ok := f.Int64(); ok {
				return id
			}
		}
	}
	return noLabel
}

// begin makes r the i-th record of a block.
func (r *record) begin(b *block, i int, at int64, data []byte) {
	r.data, r.parsed = data, false
	r.file, r.split = b.file, b.file.split
	r.inFile, r.offset = b.first+int64(i), b.offset+at
	r.number = b.file.first + r.inFile
}

// locate adds file, record and offset to an error about a record.
func (r *record) locate(err error) error {
	part, at := tfrecord.PartParse, err
	if fault, ok := err.(*tfrecord.Error); ok {
		if fault.Record >= 0 {
			return err
		}
		part, at = fault.Part, fmt.Errorf("byte %d of the record: %w", fault.Offset, fault.Err)
	}
	return &tfrecord.Error{Name: r.file.Path, Record: r.inFile, Offset: r.offset, Part: part, Err: at}
}

var recordPool = sync.Pool{New: func() any { return new(record) }}
