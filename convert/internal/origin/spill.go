package origin

import (
	"errors"
	"io"
	"os"
)

// imageSpill is a temporary file with the images of the shards being made, for an origin that reads
// well only in order: compressed files, and tables.
type imageSpill struct {
	file    *os.File // nil if nothing is spilled
	end     int64
	offsets []int64 // by item; notSpilled for those that are not in it
}

const notSpilled = -1

// reset plans to spill nothing of a number of items.
func (s *imageSpill) reset(items int) {
	s.end, s.offsets = 0, make([]int64, items)
	for i := range s.offsets {
		s.offsets[i] = notSpilled
	}
}

// want plans to spill an item. It reports whether that is new.
func (s *imageSpill) want(item int32) bool {
	if s.wants(item) {
		return false
	}
	s.offsets[item] = 0
	return true
}

// wants reports whether an item must be spilled.
func (s *imageSpill) wants(item int32) bool { return s.offsets[item] != notSpilled }

// open creates the file.
func (s *imageSpill) open(temp func() (*os.File, error)) (err error) {
	s.file, err = temp()
	return err
}

// add appends an item.
func (s *imageSpill) add(item int32, content io.Reader) error {
	n, err := io.Copy(s.file, content)
	s.offsets[item] = s.end
	s.end += n
	return err
}

// readAt fills dst with an item.
func (s *imageSpill) readAt(dst []byte, item int32) error {
	_, err := s.file.ReadAt(dst, s.offsets[item])
	return err
}

// close removes the file.
func (s *imageSpill) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	s.file = nil
	return err
}
