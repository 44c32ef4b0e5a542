package origin

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// imageRows is the origin of images that are the values of a column, of Parquet or Arrow files: a
// sample is a row. Rows can only be read together with others, so the images of the shards being
// made are copied to a temporary file.
type imageRows struct {
	src    storage.Location // as given
	column table.Column     // with the images
	tables []rowFile
	hashes [][16]byte // of the images, by imageFile.item: all rows in order
	spill  imageSpill
}

// rowFile is a file of rows.
type rowFile struct {
	table.Source
	name   string // distinguishes it from the other files, the same on every machine
	chunks []table.Chunk
	first  int // item of its first row
}

// of returns the file of an image, and its row there, from 0.
func (r *imageRows) of(p *Image) (file int, row int64) {
	file = sort.Search(len(r.tables), func(i int) bool { return r.tables[i].first > int(p.item) }) - 1
	return file, int64(int(p.item) - r.tables[file].first)
}

func (r *imageRows) Place() string { return placeOf(r.src) }

func (r *imageRows) Source(p *Image) string {
	file, row := r.of(p)
	return fmt.Sprintf("%s#%d", r.tables[file].name, row)
}

// Enter implements origin: rows are in no directories.
func (r *imageRows) Enter(dir string) string { return "convert " + jsontext.Readable(dir) }

// Remote implements origin: images are on disk when they are read.
func (r *imageRows) Remote() bool { return false }

// Find implements origin: the listing has all rows.
func (r *imageRows) Find(context.Context, string) (*Image, string, error) { return nil, "", nil }

// Files implements origin: with a glob, another file in a directory is a change.
func (r *imageRows) Files([]Image) iter.Seq[string] {
	return func(yield func(string) bool) {
		directory := ""
		for i := range r.tables {
			name := r.tables[i].Name()
			if dir := storage.Dir(name); name != r.src.Path() && dir != directory {
				if directory = dir; !yield(dir) {
					return
				}
			}
			if !yield(name) {
				return
			}
		}
	}
}

// Load implements origin: it copies the images to a temporary file.
func (r *imageRows) Load(ctx context.Context, temp func() (*os.File, error), images iter.Seq[*Image]) error {
	r.spill.reset(len(r.hashes))
	any := false
	for p := range images {
		any = r.spill.want(p.item) || any
	}
	if !any {
		return nil
	}
	if err := r.spill.open(temp); err != nil {
		return err
	}
	var b table.Batch
	for i := range r.tables {
		for _, c := range r.tables[i].chunks {
			if err := r.copyChunk(ctx, &r.tables[i], c, &b); err != nil {
				return errors.Join(err, r.Unload())
			}
		}
	}
	return nil
}

// copyChunk appends the wanted images of a chunk to the temporary file.
func (r *imageRows) copyChunk(ctx context.Context, in *rowFile, c table.Chunk, b *table.Batch) error {
	first, wanted := in.first+int(c.FirstRow), false
	for row := range int(c.Rows) {
		wanted = wanted || r.spill.wants(int32(first+row))
	}
	if !wanted {
		return nil
	}
	if err := in.Read(ctx, c, []table.Column{r.column}, b); err != nil {
		return err
	}
	for row := range b.Rows {
		item := int32(first + row)
		if !r.spill.wants(item) {
			continue
		}
		image, _ := cellBytes(&b.Columns[0], row)
		if xxh3.Hash128(image).Bytes() != r.hashes[item] {
			return fmt.Errorf("%s: row %d is not what it was when it was listed: %w", in.Name(), c.FirstRow+int64(row), table.ErrChanged)
		}
		if err := r.spill.add(item, bytes.NewReader(image)); err != nil {
			return err
		}
	}
	return nil
}

// cellBytes returns the bytes of a row; false if it is null.
func cellBytes(v *table.Values, row int) ([]byte, bool) {
	if v.Kind != table.Bytes || !v.Has(row) {
		return nil, false
	}
	i, _ := v.Span(row)
	return v.Byte(i), true
}

func (r *imageRows) Unload() error { return r.spill.close() }

func (r *imageRows) Hash(p *Image) string { return hex.EncodeToString(r.hashes[p.item][:]) }

// Read implements origin. Its input has no key: the listing of each run reads all rows.
func (r *imageRows) Read(_ context.Context, p *Image, buf []byte) ([]byte, setdir.Input, error) {
	if int64(cap(buf)) < p.Size {
		buf = make([]byte, p.Size)
	}
	buf = buf[:p.Size]
	return buf, setdir.Input{}, r.spill.readAt(buf, p.item)
}

func (r *imageRows) Parts(_ *Image, data []byte) ([]byte, Beside) { return data, Beside{} }

// EndsRun implements origin. What cannot be used is known to the listing: later errors are those of
// the file.
func (r *imageRows) EndsRun(error) bool { return true }
