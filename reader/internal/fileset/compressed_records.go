package fileset

import (
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/tfrecord"
)

// CompressedRecords returns the records of a sequential file and the damage between them. Until
// there is damage it uses a tfrecord.Reader; after lost framing it decompresses the file again and
// searches it with a Salvager, with the same result as for an uncompressed file.
type CompressedRecords struct {
	in       *tfrecord.Reader
	rest     *tfrecord.Salvager // after lost framing; nil before
	unpacked *unpacked          // what it reads
	tolerant bool
	again    func() (*unpacked, error) // nil: the file can be read only once
	options  tfrecord.ReaderOptions

	Number int64 // of the next item: a record or a stretch of damage
	ahead  bool  // in has already read the next record:
	record []byte
	err    error
}

// Next returns the next record, valid until the next call, and its position. For damage that may be
// skipped the error is a *tfrecord.Damage, with -1 Bytes if unknown. All other errors are final.
func (p *CompressedRecords) Next() (record []byte, at pipeline.Cursor, err error) {
	if p.rest != nil {
		return p.found()
	}
	record, err = p.read()
	if err == nil {
		at = pipeline.Cursor{Number: p.in.Record(), Offset: p.in.Offset()}
		p.Number = at.Number + 1
		return record, at, nil
	}
	located := new(tfrecord.Error)
	if !p.tolerant || !errors.As(err, &located) {
		return nil, pipeline.Cursor{}, err
	}
	if !isDataCRC(err) {
		return p.salvage(located)
	}
	// The length of a record with corrupt data is right if something follows.
	p.record, p.err = p.in.Next()
	p.ahead = true
	d := &tfrecord.Damage{Record: located.Record, Offset: located.Offset, Bytes: -1, Err: located}
	var behind *tfrecord.Error
	switch {
	case p.err == nil:
		d.Bytes = p.in.Offset() - d.Offset
	case errors.As(p.err, &behind):
		if p.again != nil && isFraming(p.err) {
			p.ahead = false
			return p.salvage(located)
		}
		d.Bytes = behind.Offset - d.Offset
	}
	p.Number = d.Record + 1
	return nil, pipeline.Cursor{}, d
}

func (p *CompressedRecords) read() ([]byte, error) {
	if p.ahead {
		p.ahead = false
		return p.record, p.err
	}
	return p.in.Next()
}

// isFraming reports whether err is a framing error in a stream that continues.
func isFraming(err error) bool {
	located := new(tfrecord.Error)
	return errors.As(err, &located) && located.Part != tfrecord.PartCompression && InData(err)
}

// salvage searches for what follows the damage.
func (p *CompressedRecords) salvage(found *tfrecord.Error) ([]byte, pipeline.Cursor, error) {
	if p.again == nil || !isFraming(found) {
		p.Number = found.Record + 1
		return nil, pipeline.Cursor{}, found
	}
	var err error
	if p.unpacked, err = p.again(); err != nil {
		return nil, pipeline.Cursor{}, err
	}
	p.rest = tfrecord.NewSalvager(p.unpacked, p.options)
	p.rest.MoveTo(found.Record, found.Offset)
	return p.found()
}

// found returns the next record that the Salvager finds.
func (p *CompressedRecords) found() ([]byte, pipeline.Cursor, error) {
	record, err := p.rest.Next()
	if err == nil {
		at := pipeline.Cursor{Number: p.rest.Record(), Offset: p.rest.Offset()}
		p.Number = at.Number + 1
		return record, at, nil
	}
	var damage *tfrecord.Damage
	if errors.As(err, &damage) {
		p.Number = damage.Record + 1
		return nil, pipeline.Cursor{}, err
	}
	if bad := p.unpacked.bad(); bad != nil {
		err = &tfrecord.Error{
			Name: p.options.Name, Record: p.Number, Offset: p.unpacked.end(), Part: tfrecord.PartCompression,
			Err: fmt.Errorf("%v: %w", p.in.Compression(), bad),
		}
		p.Number++
	}
	return nil, pipeline.Cursor{}, err
}

func (p *CompressedRecords) Close() error {
	if p.unpacked != nil {
		p.unpacked.close()
	}
	return p.in.Close()
}

// Records returns the records of an open sequential source, as read from from.
func (s *Set) Records(i int, f io.Seeker, from io.Reader, o tfrecord.ReaderOptions) *CompressedRecords {
	p := &CompressedRecords{in: tfrecord.NewReader(from, o), tolerant: pipeline.MaySkip(s.Opts.SkipBad), options: o}
	if s.Regular(i) {
		p.again = func() (*unpacked, error) { return newUnpacked(f, from, p.in.Compression()) }
	}
	return p
}
