package doctor

import (
	"bytes"
	"hash/crc32"
	"io"
	"iter"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// compressedBytes bounds the bytes of a compressed file to decompress.
const compressedBytes = 16 << 20

// measureSource measures what turns files into records: decompression, framing and checksums.
func (r *run) measureSource() error {
	if err := r.measureDecompress(); err != nil {
		return err
	}
	frames := r.sample.frames
	r.both(Frame, func(int) func() work {
		in := tfrecord.NewReader(nil, tfrecord.ReaderOptions{Compression: tfrecord.CompressionNone, Checksum: tfrecord.ChecksumOff, MaxRecord: anyFrame.MaxRecord})
		return func() work {
			in.Reset(bytes.NewReader(frames), "")
			return readAll(in)
		}
	})
	r.both(CRC, r.records(func([][]byte) func([]byte) {
		return func(record []byte) { crc32.Checksum(record, castagnoli) }
	}))
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// both measures a step with one goroutine and with one per core.
func (r *run) both(name string, worker func(i int) func() work) {
	one := repeat(r.ctx, 1, r.longest/2, worker)
	all := one
	if r.report.Cores > 1 {
		all = repeat(r.ctx, r.report.Cores, r.longest/2, worker)
	}
	r.add(name, one, all, r.report.Cores)
}

// records returns workers that call a function for a stretch of the sample at a time; each begins
// elsewhere.
func (r *run) records(worker func(records [][]byte) func([]byte)) func(int) func() work {
	all := r.sample.records
	return func(i int) func() work {
		next := i * len(all) / max(r.report.Cores, 1)
		each := worker(all)
		return func() (done work) {
			for done.records < 64 && done.bytes < 4<<20 {
				record := all[next%len(all)]
				each(record)
				next++
				done.records++
				done.bytes += int64(len(record))
			}
			return done
		}
	}
}

// readAll reads to the end, or to where a file was cut off.
func readAll(in *tfrecord.Reader) (done work) {
	for {
		record, err := in.Next()
		if err != nil {
			return done
		}
		done.records++
		done.bytes += int64(len(record))
	}
}

// measureDecompress decompresses the beginning of the first file with records, if it is compressed,
// and completes the step of storage.
func (r *run) measureDecompress() error {
	r.report.Compression = tfrecord.CompressionNone.String()
	for _, source := range r.set.Sources() {
		file, err := storage.Open(r.ctx, source.Path)
		if err != nil {
			return err
		}
		head, err := io.ReadAll(io.LimitReader(file, compressedBytes))
		file.Close()
		if err != nil {
			return err
		}
		counted := &countingReader{in: bytes.NewReader(head)}
		in := tfrecord.NewReader(counted, tfrecord.ReaderOptions{Checksum: tfrecord.ChecksumOff, MaxRecord: anyFrame.MaxRecord})
		found := readAll(in)
		compression := in.Compression()
		in.Close()
		if found.records == 0 {
			continue
		}
		if compression == tfrecord.CompressionNone {
			break
		}
		r.report.Compression = compression.String()
		r.setStored(float64(counted.n) / float64(found.records))
		r.both(Decompress, func(int) func() work {
			in := tfrecord.NewReader(nil, tfrecord.ReaderOptions{Compression: compression, Checksum: tfrecord.ChecksumOff, MaxRecord: anyFrame.MaxRecord})
			return func() work {
				in.Reset(bytes.NewReader(head), "")
				return readAll(in)
			}
		})
		return nil
	}
	r.setStored(float64(len(r.sample.frames)) / float64(len(r.sample.records)))
	return nil
}

// countingReader counts the bytes that are read.
type countingReader struct {
	in io.Reader
	n  int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// measureParse parses Examples into columns.
func (r *run) measureParse() error {
	s := &r.sample
	if !s.examples {
		return nil
	}
	parser, err := columns.NewParser(s.schema)
	if err != nil {
		return err
	}
	r.both(Parse, r.records(func([][]byte) func([]byte) {
		parser, _ := columns.NewParser(parser.Schema()) // cannot fail: it did not above
		var batch columns.Columns
		parser.Reset(&batch)
		n := 0
		return func(record []byte) {
			if n++; n%r.o.Batch == 0 {
				parser.Reset(&batch)
			}
			parser.Append(&batch, record) // time passes for a record that does not fit, too
		}
	}))
	return nil
}

// someRecords returns up to n records in training order.
func (r *run) someRecords(n int) reader.Pipe {
	return r.interleave().Take(int64(min(n, len(r.sample.records))))
}

// cachedRecords returns up to n records in training order, again and again: from memory, but for
// the first pass.
func (r *run) cachedRecords(n int) reader.Pipe {
	return r.someRecords(n).Cache(reader.CacheOptions{}).Repeat(-1)
}

// mostDecoded bounds the images to decode repeatedly.
const mostDecoded = 256

// measureDecode decodes and resizes images into batches.
func (r *run) measureDecode() error {
	if r.report.ImagePixels == 0 {
		return nil
	}
	spec := reader.ImageSpec{
		Resize: augment.ResizeSpec{Square: r.o.Size}, DType: reader.Float32, NoLabels: true,
		Batch: min(r.o.Batch, mostDecoded/4),
	}
	err := needOne(r, mostDecoded, func(p reader.Pipe) iter.Seq2[*reader.ImageBatch, error] {
		return reader.Images(p, spec).All(r.ctx)
	})
	if err != nil {
		return err
	}
	decode := func(workers int) (speed, error) {
		spec.Workers = workers
		return flowSpeed(r.ctx, reader.Images(r.cachedRecords(mostDecoded), spec), r.longest,
			func(b *reader.ImageBatch) (int, int32) { return b.Shape[0], b.Epoch })
	}
	one, err := decode(1)
	if err != nil {
		return err
	}
	all := one
	if r.report.Cores > 1 {
		if all, err = decode(r.report.Cores); err != nil {
			return err
		}
	}
	one.bytes, all.bytes = one.records*r.report.recordBytes(), all.records*r.report.recordBytes()
	r.add(Decode, one, all, r.report.Cores)
	return nil
}

// measureShuffle shuffles records in memory with the buffer that training would have: of fewer
// records where these are too large for it.
func (r *run) measureShuffle() error {
	room := float64(memory.Limit()) / 8
	r.report.Shuffle = max(min(r.o.Shuffle, int(room/max(r.report.recordBytes(), 1))), 1)
	flow := reader.Batch(r.cachedRecords(mostRecords).Shuffle(r.report.Shuffle), r.o.Batch, reader.BatchOptions{})
	one, err := flowSpeed(r.ctx, flow, r.longest, func(b []reader.Record) (int, int32) { return len(b), b[0].Epoch })
	one.bytes = one.records * r.report.recordBytes()
	r.add(Shuffle, one, one, 1)
	return err
}
