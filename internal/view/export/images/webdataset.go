package images

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/view/export/filetree"
	"github.com/tfrec/tfrec/internal/view/export/input"
	"github.com/tfrec/tfrec/internal/view/export/jsonvalue"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/tfrecord"
)

// maxTar bounds the size of a tar in bytes; a sample larger than it has one of its own.
const maxTar = 1 << 30

// tarWriter writes samples of WebDataset to tars: SPLIT-000000.tar and so on.
type tarWriter struct {
	filetree.Files
	o       *spec.Options
	images  input.ImageReader
	json    jsonvalue.Value
	buffer  []byte // of a .json
	unknown int64  // images of no known format
	limit   int64  // of a tar: maxTar

	split string
	index int
	size  int64 // of the tar in progress
	file  *filetree.CountedFile
	tar   *tar.Writer // nil before the first
}

// WriteWebDataset writes tars of the samples.
func WriteWebDataset(ctx context.Context, in *input.Records, files filetree.Files, o *spec.Options) (err error) {
	w := &tarWriter{Files: files, o: o, images: input.ImageReader{Key: o.ImageKey}, limit: maxTar}
	defer w.discard()
	if w.Report.Records, err = in.Each(ctx, o.Progress, w.add); err != nil {
		return err
	}
	if err := w.close(); err != nil {
		return err
	}
	if w.unknown > 0 {
		o.Notef("%s of unknown format, named *%s", plural.Of(w.unknown, "image"), unknownExtension)
	}
	return w.Finish()
}

// tarMember is a member of a sample.
type tarMember struct {
	ext  string
	data []byte
}

// add writes a record as the members KEY.EXT, KEY.cls if it has one label, and KEY.json.
func (w *tarWriter) add(r *input.Row) error {
	pic, err := w.images.Take(r)
	if err != nil {
		return err
	}
	members := []tarMember{{strings.TrimPrefix(extensions[pic.Format][0], "."), pic.Data}}
	if f, ok := r.Get(cmp.Or(w.o.Label, imagekey.Label)); ok {
		if id, ok := f.Int64(); ok && f.Len() == 1 {
			members = append(members, tarMember{"cls", strconv.AppendInt(nil, id, 10)})
		}
	}
	if w.buffer, err = w.appendJSON(w.buffer[:0], r); err != nil {
		return err
	}
	members = append(members, tarMember{"json", w.buffer})
	size := int64(0)
	for _, m := range members {
		size += 512 + (int64(len(m.data))+511)/512*512
	}
	if w.tar == nil || w.split != r.Split || w.size > 0 && w.size+size > w.limit {
		if err := w.next(r.Split); err != nil {
			return err
		}
	}
	w.size += size
	for _, m := range members {
		h := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: fmt.Sprintf("%09d.%s", r.Number, m.ext), Mode: 0o644, Size: int64(len(m.data))}
		if err := w.tar.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.tar.Write(m.data); err != nil {
			return err
		}
	}
	if pic.Encoded {
		w.Report.Encoded++
	}
	if pic.Format == "" {
		w.unknown++
	}
	return nil
}

// appendJSON appends an object of all features but the image, under their own keys: one value as
// it is, several as a list. Bytes that are not UTF-8 are base64, under KEY.base64.
func (w *tarWriter) appendJSON(b []byte, r *input.Row) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for i := range r.Len() {
		key, f := r.At(i)
		if string(key) == w.o.ImageKey || f.Kind() == tfrecord.KindNone {
			continue
		}
		name, text := key, true
		if f.Kind() == tfrecord.KindBytes {
			for v := range f.BytesList() {
				text = text && utf8.Valid(v)
			}
			if !text {
				name = append(name[:len(name):len(name)], jsonvalue.Base64Suffix...)
			}
		}
		if !first {
			b = append(b, ", "...)
		}
		first = false
		if b, err = w.json.AppendString(b, name); err != nil {
			return nil, err
		}
		if b, err = w.json.Append(append(b, ": "...), f, text, f.Len() != 1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// next ends the tar in progress and begins one of a split.
func (w *tarWriter) next(split string) error {
	if err := w.close(); err != nil {
		return err
	}
	if split != w.split {
		w.split, w.index = split, 0
	}
	file, err := w.Create(TarName(split, w.index))
	w.index++
	if err != nil {
		return err
	}
	w.file, w.tar = file, tar.NewWriter(file)
	w.size = 0
	return nil
}

// TarName returns the name of a tar of a split.
func TarName(split string, index int) string { return fmt.Sprintf("%s-%06d.tar", split, index) }

// close ends the tar in progress, if any.
func (w *tarWriter) close() error {
	if w.tar == nil {
		return nil
	}
	err := w.tar.Close()
	w.tar = nil
	if err == nil {
		return w.file.End()
	}
	return errors.Join(err, w.file.Close())
}

// discard frees the tar in progress, if any, which is of no use.
func (w *tarWriter) discard() {
	if w.tar != nil {
		w.file.Close()
	}
}
