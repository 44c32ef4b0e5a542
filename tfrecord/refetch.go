package tfrecord

// refetcher is a file whose bytes can be fetched again: see NewReader.
type refetcher interface {
	Refetch(p []byte, off int64, good func(p []byte) bool) (changed bool, err error)
}

// refetch fetches p again, a frame or its header, which is damaged and begins at an offset, if the
// source can do that.
func (r *Reader) refetch(p []byte, offset int64) error {
	in, ok := r.src.r.(refetcher)
	if !ok || r.compressed { // then offsets are not those of the source
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
