package arrow

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// session reads record batches, with the dictionaries of those read so far. It is for one goroutine.
type session struct {
	feed
	reader *ipc.Reader
	dicts  int // dictionaries that reader has
}

// feed hands messages to the library.
type feed struct {
	file  storage.File
	next  []message
	views int // columns of views in the schema
}

// Message implements ipc.MessageReader.
func (f *feed) Message() (*ipc.Message, error) {
	if len(f.next) == 0 {
		return nil, io.EOF
	}
	m := f.next[0]
	f.next = f.next[1:]
	b := make([]byte, m.meta+m.body)
	if n, err := f.file.ReadAt(b, m.at); n < len(b) {
		if err == nil || err == io.EOF {
			err = errShort
		}
		return nil, err
	}
	// The walk found these sizes. They differ if the file was changed since.
	if e, err := parseEnvelope(b[:m.meta]); err != nil || e.body != m.body || e.rows != m.rows {
		return nil, errors.Join(errMetadata, err)
	}
	if err := checkBuffers(b[:m.meta], b[m.meta:], f.views); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(b[:m.meta:m.meta]), memory.NewBufferBytes(b[m.meta:])), nil
}

func (f *feed) Retain()  {}
func (f *feed) Release() {}

// newSession reads the schema.
func newSession(file storage.File, d *directory) (s *session, err error) {
	defer recovered(&err)
	s = &session{feed: feed{file: file, next: []message{d.schema}}}
	s.reader, err = ipc.NewReaderFromMessageReader(&s.feed, ipc.WithAllocator(&limited{left: maxMemory}))
	if err != nil {
		return nil, err
	}
	for _, f := range s.reader.Schema().Fields() {
		s.views += views(f.Type)
	}
	return s, nil
}

// views returns the number of arrays of views of a column, without the arrays of dictionaries.
func views(t arrow.DataType) (n int) {
	switch t := t.(type) {
	case arrow.BinaryViewDataType:
		return 1
	case arrow.ExtensionType:
		return views(t.StorageType())
	case arrow.NestedType:
		for _, f := range t.Fields() {
			n += views(f.Type)
		}
	}
	return n
}

// read returns a record batch, which is valid until the next call.
func (s *session) read(d *directory, i int) (batch arrow.RecordBatch, err error) {
	defer recovered(&err)
	m := d.batches[i]
	s.next = append(append([]message(nil), d.dictionaries[s.dicts:m.dicts]...), m)
	s.dicts = m.dicts
	batch, err = s.reader.Read()
	if err != nil {
		return nil, err
	}
	if batch.NumRows() != m.rows {
		return nil, fmt.Errorf("%d rows where %d were expected", batch.NumRows(), m.rows)
	}
	for j, c := range batch.Columns() {
		if int64(c.Len()) != m.rows {
			return nil, fmt.Errorf("column %q has %d rows of %d", batch.ColumnName(j), c.Len(), m.rows)
		}
	}
	return batch, nil
}

// recovered makes an error of a panic of the library, which takes the sizes and offsets of a file on
// trust.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged: %v", r)
	}
}

// limited allocates memory up to a limit, beyond which it panics, which recovered turns into an
// error. Sessions read one batch after another, so the limit is for each request.
type limited struct {
	memory.GoAllocator
	left int
}

func (l *limited) Allocate(size int) []byte {
	l.check(size)
	return l.GoAllocator.Allocate(size)
}

func (l *limited) Reallocate(size int, b []byte) []byte {
	l.check(size)
	return l.GoAllocator.Reallocate(size, b)
}

func (l *limited) check(size int) {
	if size < 0 || size > l.left {
		panic(fmt.Sprintf("a buffer of %d bytes: at most %d are read", size, l.left))
	}
}
