package repair

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// compressionEndings maps the extensions of compressed files.
var compressionEndings = map[string]tfrecord.Compression{
	".gz": tfrecord.Gzip, ".gzip": tfrecord.Gzip, ".zlib": tfrecord.Zlib, ".zz": tfrecord.Zlib,
	".zst": tfrecord.Zstd, ".zstd": tfrecord.Zstd,
}

// compressionOf returns the compression of a possibly damaged file: none if the header of the first
// frame is valid, else from the options or the manifest, the first bytes, or the name.
func compressionOf(in heldFile, source shard.Source, o *Options) (tfrecord.Compression, error) {
	if o.Compression != tfrecord.Auto {
		return o.Compression, nil
	}
	var head [tfrecord.HeaderSize]byte
	n, err := in.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if _, v := (tfrecord.Framing{MaxRecord: o.MaxRecord}).Check(head[:n]); n == len(head) && v != tfrecord.FrameBroken || n == 0 && source.Set == nil {
		return tfrecord.None, nil
	}
	if source.Set != nil {
		if c, err := tfrecord.ParseCompression(source.Set.Compression); err == nil && c != tfrecord.Auto {
			return c, nil
		}
	}
	src := &countedFile{r: in.from(0)}
	r := tfrecord.NewReader(src, tfrecord.ReaderOptions{MaxRecord: o.MaxRecord})
	defer r.Close()
	r.Next() // an error in the first record is found again later
	if src.err != nil {
		return 0, src.err
	}
	if c := r.Compression(); c != tfrecord.None && c != tfrecord.Auto {
		return c, nil
	}
	for ending, c := range compressionEndings {
		if strings.HasSuffix(source.Path, ending) {
			return c, nil
		}
	}
	return tfrecord.None, nil
}

// isWhole reads a compressed file to its end and counts its records and their bytes including
// framing. fault is what is wrong with it; err says that it could not be read.
func isWhole(in heldFile, c tfrecord.Compression, o *Options) (records, bytes int64, fault, err error) {
	src := &countedFile{r: in.from(0)}
	r := tfrecord.NewReader(src, tfrecord.ReaderOptions{Compression: c, MaxRecord: o.MaxRecord})
	defer r.Close()
	for {
		record, err := r.Next()
		switch {
		case err == io.EOF:
			return records, bytes, nil, nil
		case src.err != nil:
			return 0, 0, nil, src.err
		case err != nil:
			return 0, 0, err, nil
		}
		records++
		bytes += int64(len(record)) + tfrecord.Overhead
	}
}

// compressed salvages a compressed file in which fault was found. It decompresses what it can to
// temp.
func (s *salvage) compressed(in heldFile, size int64, c tfrecord.Compression, fault error, temp *os.File) error {
	x := &inflater{in: in, size: size, c: c, limit: tfrecord.Framing{MaxRecord: s.o.MaxRecord}}
	defer x.close()
	lost, err := x.inflate(temp)
	if err != nil {
		return err
	}
	if err := s.frames(heldFile{in.ctx, temp, nil}); err != nil {
		return err
	}
	found := len(s.damage)
	for _, u := range lost {
		if u.checksum && found > 0 {
			continue // expected after other damage
		}
		err := s.add(Damage{
			Path: s.file.Path, Offset: u.offset, Bytes: u.bytes, Compressed: true, Exact: u.checksum,
			Reason: fmt.Sprintf("%s: %v: %v", tfrecord.PartCompression, c, u.err),
		}, in)
		if err != nil {
			return err
		}
	}
	if len(s.damage) == 0 {
		// A checksum of the whole stream, which decompression does not check.
		return s.add(Damage{Path: s.file.Path, Reason: reasonOf(fault), Exact: true, Compressed: true}, in)
	}
	return nil
}

// copyWhole copies an intact file.
func copyWhole(in heldFile, out io.Writer) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in.from(0)}, make([]byte, 256<<10))
	return err
}
