package verify

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// indexCheck compares an index, line by line, with the actual frames.
type indexCheck struct {
	ctx   context.Context
	path  string
	file  io.Closer
	in    *bufio.Reader
	line  []byte // the expected line
	broke bool   // stop comparing
	err   error  // the index could not be read
}

// maxIndexLine limits a line of an index, which has two numbers of at most 19 digits.
const maxIndexLine = 4096

// openIndexCheck opens the index of the file at path. It returns nil if there is none.
func openIndexCheck(ctx context.Context, path string) (*indexCheck, error) {
	index := manifest.IndexPath(path)
	f, err := storage.Open(ctx, index)
	if err != nil {
		if storage.Missing(err) {
			err = nil
		}
		return nil, err
	}
	return &indexCheck{ctx: ctx, path: index, file: f, in: bufio.NewReaderSize(f, maxIndexLine)}, nil
}

func (x *indexCheck) close() { x.file.Close() }

// next checks the line of the record whose frame begins at offset; size is the size of the frame in
// bytes, -1 if unknown.
func (x *indexCheck) next(record, offset, size int64) []shard.Fault {
	if x.broke {
		return nil
	}
	fault := func(format string, args ...any) []shard.Fault {
		return []shard.Fault{{Path: x.path, Record: record, Offset: offset, Part: tfrecord.PartIndex, Message: fmt.Sprintf(format, args...)}}
	}
	line, err := x.in.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		x.broke = true
		return fault("the index ends after %s", plural.Of(record, "line"))
	case err != nil && err != io.EOF && err != bufio.ErrBufferFull:
		x.broke, x.err = true, err
		return nil
	case err == bufio.ErrBufferFull:
		x.broke = true
		return fault("line %d: %v; the rest of the index was not checked", record+1, err)
	}
	x.line = tfrecord.AppendIndex(x.line[:0], tfrecord.IndexEntry{Offset: offset, Size: size})
	if size < 0 {
		x.line = strconv.AppendInt(x.line[:0], offset, 10)
		if bytes.HasPrefix(line, append(x.line, ' ')) {
			return nil
		}
		return fault("line %d is %q, the frame is at %d", record+1, line, offset)
	}
	if !bytes.Equal(line, x.line) {
		return fault("line %d is %q, the frame is at %d with %s", record+1, line, offset, plural.Of(size, "byte"))
	}
	return nil
}

// end checks that the index has no further lines after the last record.
func (x *indexCheck) end(records int64) []shard.Fault {
	if x.broke {
		return nil
	}
	var extra int64
	for n := 0; n%1024 > 0 || x.ctx.Err() == nil; n++ { // the index may be of any size
		line, err := x.in.ReadSlice('\n')
		if len(bytes.TrimSpace(line)) > 0 && err != bufio.ErrBufferFull {
			extra++
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			x.err = err
		}
		if err != nil {
			break
		}
	}
	if extra == 0 {
		return nil
	}
	return []shard.Fault{shard.FileFault(x.path, tfrecord.PartIndex, "%s past those of the %s", plural.Of(extra, "line"), plural.Of(records, "record"))}
}
