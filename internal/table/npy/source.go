package npy

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/internal/table/input"
)

// ExportComment is the comment of the zips that export writes: arrays of uint8 with two axes are
// bytes there.
const ExportComment = "tfrec.npz"

// suffix is the suffix of an array in a zip.
const suffix = ".npy"

// maxArrays is the maximum number of arrays in a zip.
const maxArrays = 1 << 16

// Is reports whether a file with these first bytes (6 or more) is a .npy, or may be a .npz: a zip.
// Open returns an error for other zips.
func Is(head []byte) bool {
	return strings.HasPrefix(string(head), magic) || isZip(head)
}

func isZip(head []byte) bool {
	return strings.HasPrefix(string(head), "PK\x03\x04") || strings.HasPrefix(string(head), "PK\x05\x06")
}

// Source is an open .npy or .npz. It keeps no file open between calls, but for compressed arrays.
type Source struct {
	*input.File
	zip        bool
	compressed bool
	features   []feature

	mu      sync.Mutex // guards the fields below
	streams *streams   // nil before they are needed
	reader  reader     // of streams
}

var _ table.Source = (*Source)(nil)

// Open opens a file and reads the headers of its arrays.
func Open(ctx context.Context, location storage.Location) (*Source, error) {
	f, err := input.Look(ctx, location)
	if err != nil {
		return nil, err
	}
	s := &Source{File: f}
	if err := s.open(ctx, location); err != nil {
		return nil, f.Located(err)
	}
	return s, nil
}

func (s *Source) open(ctx context.Context, location storage.Location) error {
	r, err := s.File.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	head, err := input.Head(r, len(magic))
	if err != nil {
		return err
	}
	var arrays []*array
	exported := false
	if s.zip = isZip(head); s.zip {
		arrays, exported, err = readZip(r, s.Size())
	} else {
		arrays, err = readOne(r, s.Size(), strings.TrimSuffix(location.Base(), suffix))
	}
	if err != nil {
		return err
	}
	for _, a := range arrays {
		s.compressed = s.compressed || a.compressed()
	}
	s.features, err = group(arrays, exported)
	return err
}

// readOne reads the header of a .npy.
func readOne(r io.ReaderAt, size int64, name string) ([]*array, error) {
	h, err := readHeader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	if h.bytes() != size-h.length {
		return nil, fmt.Errorf("%d bytes after the header, but an array of shape %v has %d", size-h.length, h.shape, h.bytes())
	}
	return []*array{{name: name, header: h, offset: h.length}}, nil
}

// readZip reads the headers of a .npz.
func readZip(r io.ReaderAt, size int64) (arrays []*array, exported bool, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, false, fmt.Errorf("%w: the file is truncated or damaged", err)
	}
	if len(z.File) > maxArrays {
		return nil, false, fmt.Errorf("%d arrays: at most %d are read", len(z.File), maxArrays)
	}
	for _, m := range z.File {
		a, err := readMember(m)
		if err != nil {
			return nil, false, fmt.Errorf("member %.200q: %w", m.Name, err)
		}
		arrays = append(arrays, a)
	}
	return arrays, z.Comment == ExportComment, nil
}

func readMember(m *zip.File) (*array, error) {
	name, ok := strings.CutSuffix(m.Name, suffix)
	if !ok {
		if m.Name == "[Content_Types].xml" {
			return nil, errors.New("this is a spreadsheet or another document of Office: save it as CSV")
		}
		return nil, fmt.Errorf("not an array: want names that end in %s", suffix)
	}
	offset, err := m.DataOffset()
	if err != nil {
		return nil, err
	}
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	if uint64(h.bytes()+h.length) != m.UncompressedSize64 {
		return nil, fmt.Errorf("%d bytes, but an array of shape %v has %d", m.UncompressedSize64, h.shape, h.bytes()+h.length)
	}
	a := &array{name: name, header: h, member: m, offset: offset + h.length}
	if m.Method != zip.Store {
		a.offset = -1
	}
	return a, nil
}

// InOrder reports whether some arrays are compressed.
func (s *Source) InOrder() bool { return s.compressed }

// Close closes the file of compressed arrays. The Source can be used on.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop()
}

func (s *Source) drop() error {
	if s.streams == nil {
		return nil
	}
	err := s.streams.close()
	s.streams = nil
	return err
}

// with calls do with a reader of elements. Only one call at a time reads compressed arrays.
func (s *Source) with(ctx context.Context, do func(*reader) error) (err error) {
	if !s.compressed {
		f, err := s.File.Open(ctx)
		if err != nil {
			return err
		}
		defer f.Close()
		return do(&reader{elements: plainElements{f}})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams == nil {
		if s.streams, err = s.newStreams(ctx); err != nil {
			s.streams = nil
			return err
		}
	}
	s.reader.elements = s.streams
	after := s.streams.until(ctx)
	err = do(&s.reader)
	if broken := after(); broken {
		s.drop()
		return context.Cause(ctx)
	}
	if err != nil {
		s.drop()
	}
	return err
}

// Read reads rows of the wanted columns.
func (s *Source) Read(ctx context.Context, c table.Chunk, columns []table.Column, b *table.Batch) error {
	return s.Located(s.with(ctx, func(r *reader) error { return s.read(ctx, r, c, columns, b) }))
}

func (s *Source) read(ctx context.Context, r *reader, c table.Chunk, columns []table.Column, b *table.Batch) error {
	if len(s.features) == 0 || c.FirstRow < 0 || c.Rows < 0 || c.Rows > table.MaxChunkRows || c.FirstRow > s.features[0].rows()-c.Rows {
		return table.ErrChanged
	}
	b.Rows, b.Bad, b.Lines = int(c.Rows), b.Bad[:0], b.Lines[:0]
	b.Columns = slices.Grow(b.Columns[:0], len(columns))[:len(columns)]
	for i, want := range columns {
		v := &b.Columns[i]
		j, ok := slices.BinarySearchFunc(s.features, want.Name, func(f feature, name string) int { return strings.Compare(f.name, name) })
		if !ok {
			missing(v, want, b.Rows)
			continue
		}
		f := s.features[j]
		f.blobs = f.blobs || want.Kind == table.Bytes && f.values.bytesOf()
		kind, err := f.kindAs(want.Kind)
		if err != nil {
			return err
		}
		if err := r.read(ctx, &f, kind, want.List, c.FirstRow, c.Rows, v); err != nil {
			return err
		}
		b.AddLost(v, f.name)
	}
	b.SortBad()
	return nil
}

// missing makes rows without a value, of a column that another file has.
func missing(v *table.Values, c table.Column, rows int) {
	v.Reset(c.Kind)
	v.Present = append(v.Present, make([]bool, rows)...)
	v.Splits = append(v.Splits, make([]int32, rows+1)...)
}
