package storage

import (
	"fmt"
	"hash"
	"io"
)

// Whole returns f for a single goroutine that reads it with Read. If that is an object of which all
// is read, from its beginning to its end without a Seek, it is held to the CRC that its store
// states of all of it: the last Read returns an error instead of the last bytes if they do not have
// it. That takes one more request for an object of more than 256 KiB. Checksums of other kinds, and
// guesses, are not looked at: what was read cannot be taken back. Other files are returned as they
// are.
func Whole(f File) File {
	o, ok := f.(*object)
	if !ok || o.is.Size <= firstPart { // what comes with one request is checked already
		return f
	}
	return &whole{object: o}
}

// whole is an object that is read as a whole.
type whole struct {
	*object
	read int64     // bytes that sum has seen
	sum  hash.Hash // nil before the first part has been read, or without a checksum
	want Sum
	held []byte // the beginning, before it is known how to check it
	lost bool   // the object is not read as a whole, or has no checksum
}

// wholeError means that an object was read in full and does not match the store's checksum.
type wholeError struct{ got, want Sum }

func (e *wholeError) Error() string {
	return fmt.Sprintf("the bytes that arrived have the %s %x, and the store states %x: they changed on the way, in the network, a proxy, a cache or a faulty machine, and the object itself did not; run again, without a cache of objects or with an empty one",
		e.want.Kind, e.got.Value, e.want.Value)
}

func (w *whole) Read(p []byte) (int, error) {
	w.lost = w.lost || w.offset != w.read
	n, err := w.object.Read(p)
	if w.lost || n == 0 {
		return n, err
	}
	w.read += int64(n)
	if w.sum == nil {
		w.held = append(w.held, p[:n]...)
		if w.read <= firstPart { // a look at the beginning costs no request
			return n, err
		}
		if err := w.begin(); err != nil {
			return 0, err
		}
	} else {
		w.sum.Write(p[:n])
	}
	if w.read == w.is.Size && !w.lost {
		if got := (Sum{Kind: w.want.Kind, Value: string(w.sum.Sum(nil))}); got.Value != w.want.Value {
			return 0, w.failed(&wholeError{got, w.want})
		}
	}
	return n, err
}

// begin looks up the checksum, and has it see what was held.
func (w *whole) begin() error {
	is, err := Look(w.ctx, w.store, w.at.name)
	if err != nil {
		return w.failed(err)
	}
	switch is.Sum.Kind {
	case CRC32C, CRC32, CRC64NVME:
		w.lost = is.Sum.Guessed || is.Version != w.is.Version // which the next request finds out, too
	default:
		w.lost = true
	}
	if !w.lost {
		w.want = is.Sum
		w.sum = sums[is.Sum.Kind]()
		w.sum.Write(w.held)
	}
	w.held = nil
	return nil
}

// Seek implements File.
func (w *whole) Seek(offset int64, whence int) (int64, error) {
	at, err := w.object.Seek(offset, whence)
	w.lost = w.lost || err == nil && at != w.read
	return at, err
}

// Reread also has the checksum begin again.
func (w *whole) Reread(failed error, read func() error) error {
	return w.object.Reread(failed, func() error {
		w.read, w.sum, w.held, w.lost = 0, nil, nil, false
		return read()
	})
}

var _ io.ReadSeeker = (*whole)(nil)
