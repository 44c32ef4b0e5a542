package coco

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/table/jsonscan"
)

// Limits of a file.
const (
	maxDepth   = 64       // lists and objects within each other
	maxElement = 16 << 20 // bytes of an image, a category or an annotation
)

// limits are how many elements the lists have at most, so that memory is bounded where elements are
// short, too.
var limits = map[string]int{"images": 1 << 24, "categories": 1 << 20, "annotations": 1 << 26}

// batchSize is the size of the elements that are parsed together, and step the minimum size of a
// read, in bytes.
const (
	batchSize = 256 << 10
	step      = 64 << 10
)

// batch is a part of a list. Its elements are data[from:to] of each span.
type batch struct {
	list   string // its name
	index  int    // among all batches
	first  int    // the position of its first element in the list
	offset int64  // of data, in the file
	data   []byte
	spans  []span
}

type span struct{ from, to int }

// positionError is an error of a file at an offset.
type positionError struct {
	offset int64
	err    error
}

func (e *positionError) Error() string { return fmt.Sprintf("byte %d: %v", e.offset, e.err) }
func (e *positionError) Unwrap() error { return e.err }

// errCut is the end of a file where more of it is wanted.
var errCut = errors.New("the file ends before its JSON does; is it cut short?")

// splitter finds the elements of the lists of a file. It knows strings and brackets, and leaves
// everything else to the parsers of the elements.
type splitter struct {
	r io.Reader
	// next gives an empty batch.
	next func() (*batch, error)
	// emit takes a full one.
	emit func(*batch) error

	batch *batch // whose data is the current window of the file
	at    int    // in the window
	start int    // of the current value, in the window
	skip  bool   // the current value is not kept
	count int    // of batches
}

// run splits a file.
func (s *splitter) run() (err error) {
	if s.batch, err = s.next(); err != nil {
		return err
	}
	for len(s.batch.data) < len(byteOrderMark) && err == nil {
		err = s.fill()
	}
	if err != nil && !errors.Is(err, errCut) {
		return err
	}
	if bytes.HasPrefix(s.batch.data, byteOrderMark) {
		s.at = len(byteOrderMark)
	}
	c, err := s.peek()
	switch {
	case errors.Is(err, errCut):
		return s.fault("the file is empty")
	case err != nil:
		return err
	case c != '{':
		return s.fault("not a JSON object")
	}
	s.at++
	seen := map[string]bool{}
	for n := 0; ; n++ {
		more, err := s.more(n, '}')
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := s.member(seen); err != nil {
			return err
		}
	}
	switch _, err := s.peek(); {
	case err == nil:
		return s.fault("text after the object")
	case !errors.Is(err, errCut):
		return err
	}
	for _, name := range []string{"annotations", "images", "categories"} {
		if !seen[name] {
			return fmt.Errorf("no %q: not a COCO instances file", name)
		}
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// member splits a member of the file.
func (s *splitter) member(seen map[string]bool) error {
	if s.at > len(s.batch.data)/2 { // what moves is never more than what was read
		s.drop()
	}
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != '"' {
		return s.fault("want a name in quotes")
	}
	if err := s.value(); err != nil {
		return err
	}
	cursor := jsonscan.Cursor{Data: s.batch.data[s.start:s.at], Replace: true}
	text, fault := cursor.Text()
	if fault != "" {
		return s.fault(fault)
	}
	name := string(text)
	if c, err = s.peek(); err != nil {
		return err
	} else if c != ':' {
		return s.fault("want a colon")
	}
	s.at++
	if c, err = s.peek(); err != nil {
		return err
	}
	if limits[name] == 0 {
		s.skip = true
		defer func() { s.skip = false }()
		return s.value()
	}
	if seen[name] {
		return s.fault(fmt.Sprintf("%q occurs twice", name))
	}
	seen[name] = true
	if c != '[' {
		return s.fault(fmt.Sprintf("%q is not a list", name))
	}
	s.at++
	return s.list(name)
}

// list splits a list after its bracket.
func (s *splitter) list(name string) error {
	first := 0
	for n := 0; ; n++ {
		more, err := s.more(n, ']')
		if err != nil {
			return err
		}
		if n == limits[name] && more {
			return s.fault(fmt.Sprintf("more than %d %s", n, name))
		}
		if more {
			if _, err = s.peek(); err == nil {
				err = s.value()
			}
			if err == nil {
				err = s.checkLength(s.at)
			}
			if err != nil {
				return err
			}
			s.batch.spans = append(s.batch.spans, span{s.start, s.at})
		}
		if len(s.batch.spans) > 0 && (!more || s.at >= batchSize) {
			if err := s.flush(name, first); err != nil {
				return err
			}
			first = n + 1
		}
		if !more {
			return nil
		}
	}
}

// flush emits the batch, and continues with what it does not hold.
func (s *splitter) flush(name string, first int) error {
	full := s.batch
	rest, err := s.next()
	if err != nil {
		return err
	}
	rest.data = append(rest.data[:0], full.data[s.at:]...)
	rest.spans = rest.spans[:0]
	rest.offset = full.offset + int64(s.at)
	full.list, full.index, full.first, full.data = name, s.count, first, full.data[:s.at]
	s.batch, s.at = rest, 0
	s.count++
	return s.emit(full)
}
