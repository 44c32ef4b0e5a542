package tfrecord

import (
	"errors"
	"fmt"
	"io"
)

// refetcher is a file whose bytes can be fetched again: see NewReader.
type refetcher interface {
	Refetch(p []byte, off int64, good func(p []byte) bool) (changed bool, err error)
}

// refetch fetches p again, a frame or its header, which is damaged and begins at an offset, if the
// source can do that.
func (r *Reader) refetch(p []byte, offset int64) error {
	in, ok := r.src.r.(refetcher)
	if !ok || r.compressed { // then offsets are not offsets in the source
		return nil
	}
	f := r.opts.Framing()
	_, err := in.Refetch(p, offset, func(p []byte) bool {
		_, v := f.Check(p)
		return v == FrameWhole || v == FrameShort
	})
	if err != nil && r.src.err == nil {
		r.src.err = err // nothing that the file contains
	}
	return err
}

// Refetch implements refetcher, if the file does.
func (t *tail) Refetch(p []byte, off int64, good func(p []byte) bool) (bool, error) {
	if r, ok := t.in.(refetcher); ok {
		return r.Refetch(p, off, good) // a Salvager counts from the beginning of the file
	}
	return false, nil
}

// rereader is a file that can be read again: see NewReader.
type rereader interface {
	Reread(failed error, read func() error) error
}

// reread reads a compressed file again, if the source can do that, up to the record with a number,
// for which the error failed came. It returns what Next would, and leaves the Reader as Next would.
func (r *Reader) reread(record int64, failed error) ([]byte, error) {
	in, ok := r.src.r.(rereader)
	if !ok || !r.compressed || r.rereading || r.opts.Checksum != ChecksumFull || // then earlier records may be wrong, too
		failed == io.EOF || r.src.err != nil || errors.Is(failed, ErrTooLarge) {
		return nil, failed
	}
	r.rereading = true
	defer func() { r.rereading = false }()
	var data []byte
	ended := false
	last := failed
	err := in.Reread(failed, func() (err error) {
		defer func() { last = err }()
		r.Reset(r.src.r, r.opts.Name)
		for {
			data, err = r.Next()
			if ended = err == io.EOF; ended {
				return nil
			}
			if r.record == record || r.err != nil {
				return err
			}
		}
	})
	switch {
	case err == nil && ended:
		return nil, io.EOF
	case err == nil:
		return data, nil
	case err != failed && err != last: // the file cannot be read
		r.err = r.at(record, r.offset, PartCompression, fmt.Errorf("reading: %w", err))
		r.pos, r.end = 0, 0
		return nil, r.err
	}
	return nil, last
}
