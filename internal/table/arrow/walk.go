package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

const (
	magic        = "ARROW1"
	continuation = 0xffffffff
)

// Is reports whether a file with these first bytes is Arrow IPC, cut off or not: a file, which Feather
// is since version 2, or a stream. Streams of versions before 0.15 begin with the length of their
// schema, which ends at a multiple of 8 and begins with a small offset.
func Is(head []byte) bool {
	if bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte("FEA1")) {
		return true
	}
	if len(head) < 8 {
		return bytes.HasPrefix(head, []byte("\xff\xff\xff\xff"))
	}
	first, second := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
	return first == continuation && second <= maxMetadata ||
		first%8 == 4 && first <= maxMetadata && second >= 4 && second <= 64 && second%4 == 0
}

// message is where a message is.
type message struct {
	at    int64 // of the metadata
	meta  int64 // bytes of it
	body  int64 // bytes after it
	rows  int64
	first int64 // rows before it
	dicts int   // dictionaries before it
}

// directory is where the messages of a file are.
type directory struct {
	schema       message
	dictionaries []message
	batches      []message
	rows         int64
	classes      map[string][]string // as in table.Table
}

// maxMessages is the maximum number of dictionaries and record batches of a file.
const maxMessages = 1 << 22

// walk finds the messages of a file, without reading their bodies.
func walk(ctx context.Context, r storage.File, size int64) (*directory, error) {
	head := make([]byte, 8)
	if n, err := r.ReadAt(head, 0); n < 8 {
		if err == nil || err == io.EOF {
			err = errors.New("too few bytes for Arrow IPC")
		}
		return nil, err
	}
	if string(head[:4]) == "FEA1" {
		return nil, errors.New("a file of Feather version 1: write it again with version 2")
	}
	start, end, listed := int64(0), size, -1
	if string(head[:len(magic)]) == magic {
		footer, n, err := readFooter(r, size)
		if err != nil {
			return nil, err
		}
		start, end, listed = 8, footer, n
	}
	d := new(directory)
	for offset, n := start, 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, kind, err := readEnvelope(r, offset, end)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("message %d at offset %d: %w", n, offset, err)
		}
		if err := d.add(m, kind, n); err != nil {
			return nil, fmt.Errorf("message %d at offset %d: %w", n, offset, err)
		}
		offset = m.at + m.meta + m.body
	}
	if d.schema.meta == 0 {
		return nil, errors.New("the file ends before its schema")
	}
	if listed >= 0 && listed != len(d.batches) {
		return nil, fmt.Errorf("%d record batches, but the footer lists %d", len(d.batches), listed)
	}
	return d, nil
}

// add adds message n.
func (d *directory) add(m message, kind int64, n int) error {
	if n > maxMessages {
		return fmt.Errorf("more than %d messages", maxMessages)
	}
	if (kind == messageSchema) != (n == 0) {
		return errors.New("want one schema, as the first message")
	}
	switch kind {
	case messageSchema:
		d.schema = m
	case messageDictionary:
		d.dictionaries = append(d.dictionaries, m)
	case messageBatch:
		if m.rows > maxBatch || m.rows+d.rows > table.MaxChunks*table.MaxChunkRows {
			return fmt.Errorf("%d rows after %d: at most %d a batch are read, and %d in all", m.rows, d.rows, maxBatch, int64(table.MaxChunks*table.MaxChunkRows))
		}
		m.first, m.dicts = d.rows, len(d.dictionaries)
		d.rows += m.rows
		d.batches = append(d.batches, m)
	}
	return nil
}

// readFooter returns the offset of the footer of a file, and how many record batches it lists.
func readFooter(r io.ReaderAt, size int64) (offset int64, batches int, err error) {
	tail := make([]byte, 4+len(magic))
	if size < 8+int64(len(tail)) {
		return 0, 0, errors.New("the file ends before its footer: it is truncated")
	}
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return 0, 0, err
	}
	if string(tail[4:]) != magic {
		return 0, 0, errors.New("the file does not end as Arrow IPC does: it is truncated or damaged")
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if offset = size - int64(len(tail)) - n; offset < 8 || n > maxMetadata {
		return 0, 0, fmt.Errorf("a footer of %d bytes, in a file of %d (at most %d are read)", n, size, maxMetadata)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, offset); err != nil && err != io.EOF {
		return 0, 0, err
	}
	if batches, err = footerBatches(b); err != nil {
		return 0, 0, fmt.Errorf("footer at offset %d: %w", offset, err)
	}
	return offset, batches, nil
}

// readEnvelope reads the metadata of the message at an offset. Its error is io.EOF where messages
// end.
func readEnvelope(r io.ReaderAt, offset, end int64) (message, int64, error) {
	if offset == end {
		return message{}, 0, io.EOF
	}
	head := make([]byte, 8)
	n, err := r.ReadAt(head[:min(8, end-offset)], offset)
	if n < 4 {
		if err == nil || err == io.EOF {
			err = errShort
		}
		return message{}, 0, err
	}
	size, at := int64(binary.LittleEndian.Uint32(head)), offset+4
	if size == continuation {
		if n < 8 {
			return message{}, 0, errShort
		}
		size, at = int64(binary.LittleEndian.Uint32(head[4:])), offset+8
	}
	if size == 0 {
		return message{}, 0, io.EOF
	}
	if size > maxMetadata {
		return message{}, 0, fmt.Errorf("metadata of %d bytes: at most %d are read", size, maxMetadata)
	}
	if size > end-at {
		return message{}, 0, errShort
	}
	meta := make([]byte, size)
	if n, err := r.ReadAt(meta, at); int64(n) < size {
		return message{}, 0, err
	}
	e, err := parseEnvelope(meta)
	if err != nil {
		return message{}, 0, err
	}
	if e.body > end-at-size {
		return message{}, 0, fmt.Errorf("%w: a body of %d bytes, of which the file has %d", errShort, e.body, end-at-size)
	}
	if e.body > maxBody {
		return message{}, 0, fmt.Errorf("a body of %d bytes: at most %d are read; write smaller record batches", e.body, int64(maxBody))
	}
	return message{at: at, meta: size, body: e.body, rows: e.rows}, e.kind, nil
}

var errShort = errors.New("the file ends within the message: it is truncated")
