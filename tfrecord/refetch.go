package tfrecord

// Refetcher is a file whose bytes can be fetched again, since they come over a network, which may
// change them on the way. A [Reader] of one, or of what wraps one, does so before it reports a
// record as damaged.
type Refetcher interface {
	// Refetch fetches p again, which came from offset off, around every cache, and replaces the
	// bytes that differ. It reports whether there were any. While other bytes come each time and
	// good returns false for p, it tries again a few times, and then returns an error.
	Refetch(p []byte, off int64, good func(p []byte) bool) (changed bool, err error)
}

// CheckFrom is [Framing.Check] for bytes that begin at an offset of in. If that is a [Refetcher],
// what is damaged is fetched again first, into p; the error is that of doing so.
func (f Framing) CheckFrom(in any, p []byte, offset int64) (size int, v Verdict, err error) {
	for {
		size, v = f.Check(p)
		if v == FrameWhole || v == FrameShort {
			return size, v, nil
		}
		r, ok := in.(Refetcher)
		if !ok {
			return size, v, nil
		}
		suspect := p[:headerSize]
		if v == FrameDamaged {
			suspect = p[:size]
		}
		changed, err := r.Refetch(suspect, offset, f.intact)
		if err != nil || !changed {
			return size, v, err
		}
	}
}

// intact reports whether nothing of a frame, or of its header, is damaged.
func (f Framing) intact(p []byte) bool {
	_, v := f.Check(p)
	return v == FrameWhole || v == FrameShort
}

// recheck is CheckFrom for p, which begins at pos.
func (r *Reader) recheck(p []byte, pos int) (Verdict, error) {
	var in any = r.src.r
	if r.compressed {
		in = nil // offsets are not those of the file
	}
	_, v, err := r.opts.Framing().CheckFrom(in, p, r.base+int64(pos))
	return v, err
}

// Refetch implements [Refetcher], if the file does.
func (t *tail) Refetch(p []byte, off int64, good func(p []byte) bool) (bool, error) {
	if r, ok := t.in.(Refetcher); ok {
		return r.Refetch(p, off, good) // a Salvager counts from the beginning of the file
	}
	return false, nil
}
