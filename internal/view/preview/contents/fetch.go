package contents

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// wanted is a record to be read, and where it goes among those shown.
type wanted struct {
	Location
	to int
}

// Fetch reads the records at places and calls take for each, from up to workers goroutines at the
// same time, with its number in the list and its bytes, which take may keep, or with an error if it
// cannot be read.
func (c *Set) Fetch(ctx context.Context, places []Location, workers int, take func(i int, record []byte, err error)) error {
	byFile := make([][]wanted, len(c.Files))
	for i, p := range places {
		byFile[p.File] = append(byFile[p.File], wanted{p, i})
	}
	var work errgroup.Group // processing of records
	work.SetLimit(workers)
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(workers)
	for i, list := range byFile {
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b wanted) int { return cmp.Compare(a.Record, b.Record) })
		reading.Go(func() error {
			return fetchFrom(ctx, c.Files[i], list, func(i int, record []byte, err error) {
				work.Go(func() error { take(i, record, err); return nil })
			})
		})
	}
	err := reading.Wait()
	work.Wait() // it has no error
	return err
}

// fetchFrom reads records of one file in their order: by its index if it has one that matches,
// otherwise by reading everything up to the last of them.
func fetchFrom(ctx context.Context, f File, list []wanted, take func(i int, record []byte, err error)) error {
	if list[0].offset < 0 {
		setOffsets(ctx, f, list)
	}
	in, err := storage.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer in.Close() // of a file that was only read
	missed := list[:0:0]
	for _, w := range list {
		record, ok := []byte(nil), false
		if w.offset >= 0 {
			record, ok = readAt(in, f.Path, w)
		}
		if ok {
			take(w.to, record, nil)
		} else {
			missed = append(missed, w)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	r, err := shard.Open(ctx, f.Path, tfrecord.ReaderOptions{})
	if err != nil {
		return err
	}
	defer r.Close() // likewise
	return passOver(ctx, r, missed, take)
}

// passOver reads a file from its beginning to the last wanted record.
func passOver(ctx context.Context, r *shard.Reader, list []wanted, take func(i int, record []byte, err error)) error {
	for len(list) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := r.Next()
		final := err != nil && !recoverable(err)
		if final && err != io.EOF && !isDamage(err) {
			return err
		}
		for len(list) > 0 && (final || list[0].Record == r.Record()) {
			if err != nil {
				take(list[0].to, nil, err)
			} else {
				take(list[0].to, slices.Clone(record), nil)
			}
			list = list[1:]
		}
	}
	return nil
}

// isDamage reports whether an error of reading is of the data, and not of the
// disk.
func isDamage(err error) bool {
	var damage *tfrecord.Error
	return errors.As(err, &damage)
}

// recoverable reports whether a reader can continue after an error: only after a damaged but
// complete payload.
func recoverable(err error) bool {
	var damage *tfrecord.Error
	return errors.As(err, &damage) && damage.Part == tfrecord.PartDataCRC && !errors.Is(err, io.ErrUnexpectedEOF)
}

// setOffsets gives records their offsets from the index next to their file. Without an index, or
// with one for another number of records, it sets none.
func setOffsets(ctx context.Context, f File, list []wanted) {
	index, err := storage.Open(ctx, manifest.IndexPath(f.Path))
	if err != nil {
		return
	}
	defer index.Close() // likewise
	offsets := make([]int64, 0, len(list))
	var lines int64
	for e, err := range tfrecord.IndexEntries(index, f.Path) {
		if err != nil {
			return
		}
		for len(offsets) < len(list) && list[len(offsets)].Record == lines {
			offsets = append(offsets, e.Offset)
		}
		lines++
	}
	if lines != f.Records {
		return
	}
	for i, offset := range offsets {
		list[i].offset = offset
	}
}

// readAt reads the record whose frame begins at w.offset according to the index. It is not ok if
// the checksums show that none begins there.
func readAt(in io.ReaderAt, name string, w wanted) (record []byte, ok bool) {
	const past = 1 << 62 // the frame states its length
	r := tfrecord.NewReader(io.NewSectionReader(in, w.offset, past-w.offset), tfrecord.ReaderOptions{
		Name: name, Compression: tfrecord.CompressionNone, BufferSize: 64 << 10,
	})
	defer r.Close() // of a plain file
	record, err := r.Next()
	return slices.Clone(record), err == nil
}
