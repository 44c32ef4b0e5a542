package repair

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// compressionEndings maps the extensions of compressed files.
var compressionEndings = map[string]tfrecord.Compression{
	".gz": tfrecord.CompressionGzip, ".gzip": tfrecord.CompressionGzip, ".zlib": tfrecord.CompressionZlib, ".zz": tfrecord.CompressionZlib,
	".zst": tfrecord.CompressionZstd, ".zstd": tfrecord.CompressionZstd,
}

// compressionOf returns the compression of a possibly damaged file: none if the header of the first
// frame is valid, else from the options or the manifest, the first bytes, or the name.
func compressionOf(in heldFile, source shard.Source, o *Options) (tfrecord.Compression, error) {
	if o.Compression != tfrecord.CompressionAuto {
		return o.Compression, nil
	}
	var head [tfrecord.HeaderSize]byte
	n, err := in.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if _, v := (tfrecord.Framing{MaxRecord: o.MaxRecord}).Check(head[:n]); n == len(head) && v != tfrecord.FrameBroken || n == 0 && source.Set == nil {
		return tfrecord.CompressionNone, nil
	}
	if source.Set != nil {
		if c, err := tfrecord.ParseCompression(source.Set.Compression); err == nil && c != tfrecord.CompressionAuto {
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
	if c := r.Compression(); c != tfrecord.CompressionNone && c != tfrecord.CompressionAuto {
		return c, nil
	}
	for ending, c := range compressionEndings {
		if strings.HasSuffix(source.Path, ending) {
			return c, nil
		}
	}
	return tfrecord.CompressionNone, nil
}

// A scan is the result of reading a compressed file to its end.
type scan struct {
	records, bytes int64     // of the records including framing
	fault          error     // the first; then the records and bytes are those before it
	sum            hash.Hash // of an intact file, compressed
}

// scanOf scans a compressed file. An object is scanned again if it is damaged: its bytes may have
// changed in transit. The error is from reading.
func scanOf(in heldFile, c tfrecord.Compression, o *Options) (s scan, err error) {
	read := func() error {
		s, err = scanOnce(in, c, o)
		return cmp.Or(err, s.fault)
	}
	failed := read()
	if failed == nil {
		return s, nil
	}
	if again := storage.RereadFile(in.f, failed, read); again != nil && err == nil && again.Error() != s.fault.Error() {
		return s, again // other bytes came each time
	}
	return s, err
}

func scanOnce(in heldFile, c tfrecord.Compression, o *Options) (scan, error) {
	s := scan{sum: sha256.New()}
	src := &countedFile{r: io.TeeReader(in.from(0), s.sum)}
	r := tfrecord.NewReader(src, tfrecord.ReaderOptions{Compression: c, MaxRecord: o.MaxRecord})
	defer r.Close()
	for {
		record, err := r.Next()
		if src.err == nil && err == io.EOF {
			_, _ = io.Copy(io.Discard, src) // bytes that a decompressor need not read
		}
		switch {
		case src.err != nil:
			return s, src.err
		case err == io.EOF:
			return s, nil
		case err != nil:
			s.fault = err
			return s, nil
		}
		s.records++
		s.bytes += int64(len(record)) + tfrecord.Overhead
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

// copyWhole copies an intact file, and compares the copy with the hash of the scan.
func copyWhole(in heldFile, out *osfile.HashWriter, sum []byte) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in.from(0)}, make([]byte, 256<<10))
	if err == nil && !bytes.Equal(out.Sum.Sum(nil), sum) {
		err = errors.New("reading it again gave other bytes: they changed in transit, or the file changed; run the same command again")
	}
	return err
}
