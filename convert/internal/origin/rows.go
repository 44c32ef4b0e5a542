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
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/table"
)

// Rows is the origin of images that are the values of a column, of Parquet or Arrow files: a
// sample is a row. Rows can only be read together with others, so the images of the shards being
// made are copied to a temporary file.
type Rows struct {
	Src    storage.Location // as given
	Column table.Column     // with the images
	Tables []RowFile
	Hashes [][16]byte // of the images, by Image.Item: all rows in order
	spill  imageSpill
}

// RowFile is a file of rows.
type RowFile struct {
	table.Source
	As     string // distinguishes it from the other files, the same on every machine
	Chunks []table.Chunk
	First  int // item of its first row
}

// Of returns the file of an image, and its row there, from 0.
func (r *Rows) Of(p *Image) (file int, row int64) {
	file = sort.Search(len(r.Tables), func(i int) bool { return r.Tables[i].First > int(p.Item) }) - 1
	return file, int64(int(p.Item) - r.Tables[file].First)
}

func (r *Rows) Place() string { return Absolute(r.Src) }

func (r *Rows) Source(p *Image) string {
	file, row := r.Of(p)
	return fmt.Sprintf("%s#%d", r.Tables[file].As, row)
}

// Enter implements origin: rows are in no directories.
func (r *Rows) Enter(dir string) string { return "convert " + jsontext.Readable(dir) }

// Remote implements origin: images are on disk when they are read.
func (r *Rows) Remote() bool { return false }

// Find implements origin: the listing has all rows.
func (r *Rows) Find(context.Context, string) (*Image, string, error) { return nil, "", nil }

// Files implements origin: with a glob, another file in a directory is a change.
func (r *Rows) Files([]Image) iter.Seq[string] {
	return func(yield func(string) bool) {
		directory := ""
		for i := range r.Tables {
			name := r.Tables[i].Name()
			if dir := storage.Dir(name); name != r.Src.Path() && dir != directory {
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
func (r *Rows) Load(ctx context.Context, temp func() (*os.File, error), images iter.Seq[*Image]) error {
	r.spill.reset(len(r.Hashes))
	any := false
	for p := range images {
		any = r.spill.want(p.Item) || any
	}
	if !any {
		return nil
	}
	if err := r.spill.open(temp); err != nil {
		return err
	}
	var b table.Batch
	for i := range r.Tables {
		for _, c := range r.Tables[i].Chunks {
			if err := r.copyChunk(ctx, &r.Tables[i], c, &b); err != nil {
				return errors.Join(err, r.Unload())
			}
		}
	}
	return nil
}

// copyChunk appends the wanted images of a chunk to the temporary file.
func (r *Rows) copyChunk(ctx context.Context, in *RowFile, c table.Chunk, b *table.Batch) error {
	first, wanted := in.First+int(c.FirstRow), false
	for row := range int(c.Rows) {
		wanted = wanted || r.spill.wants(int32(first+row))
	}
	if !wanted {
		return nil
	}
	if err := in.Read(ctx, c, []table.Column{r.Column}, b); err != nil {
		return err
	}
	for row := range b.Rows {
		item := int32(first + row)
		if !r.spill.wants(item) {
			continue
		}
		image, _ := CellBytes(&b.Columns[0], row)
		if xxh3.Hash128(image).Bytes() != r.Hashes[item] {
			return fmt.Errorf("%s: row %d is not what it was when it was listed: %w", in.Name(), c.FirstRow+int64(row), table.ErrChanged)
		}
		if err := r.spill.add(item, bytes.NewReader(image)); err != nil {
			return err
		}
	}
	return nil
}

// CellBytes returns the bytes of a row; false if it is null.
func CellBytes(v *table.Values, row int) ([]byte, bool) {
	if v.Kind != table.Bytes || !v.Has(row) {
		return nil, false
	}
	i, _ := v.Span(row)
	return v.Byte(i), true
}

func (r *Rows) Unload() error { return r.spill.close() }

func (r *Rows) Hash(p *Image) string { return hex.EncodeToString(r.Hashes[p.Item][:]) }

// Read implements origin. Its input has no key: the listing of each run reads all rows.
func (r *Rows) Read(_ context.Context, p *Image, buf []byte) ([]byte, setdir.Input, error) {
	if int64(cap(buf)) < p.Size {
		buf = make([]byte, p.Size)
	}
	buf = buf[:p.Size]
	return buf, setdir.Input{}, r.spill.readAt(buf, p.Item)
}

func (r *Rows) Parts(_ *Image, data []byte) ([]byte, Beside) { return data, Beside{} }

// EndsRun implements Origin. The listing knows the unusable rows, so later errors are errors of the
// file.
func (r *Rows) EndsRun(error) bool { return true }
