package doctor

import (
	"errors"
	"io"
	"iter"
	"time"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/columns"
	"github.com/tfrec/tfrec/internal/codec/rawpixels"
	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/reader"
	"github.com/tfrec/tfrec/tfrecord"
)

// sample is records in memory.
type sample struct {
	records  [][]byte
	frames   []byte         // all of them, framed
	schema   columns.Schema // of Examples
	examples bool
}

// Limits of a sample. The time limit applies only once the sample is large enough to represent the
// set: the first records of a store, or on a busy machine, can take longer than a measurement does.
const (
	mostRecords  = 100_000
	mostBytes    = 64 << 20
	leastRecords = looked
	leastBytes   = 1 << 20
)

// takeSample reads records from the files in turn, and looks at what they are.
func (r *run) takeSample() error {
	pipe := r.interleave()
	stream, err := pipe.Start(r.ctx, reader.From{})
	if err != nil {
		return err
	}
	defer stream.Close()
	s := &r.sample
	began := time.Now()
	for len(s.records) < mostRecords && len(s.frames) < mostBytes {
		if large := len(s.records) >= leastRecords || len(s.frames) >= leastBytes; large && time.Since(began) >= r.longest {
			break
		}
		record, err := stream.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		s.frames = tfrecord.AppendFrame(s.frames, record.Data)
		s.records = append(s.records, nil)
	}
	if len(s.records) == 0 {
		return firstError(r, func(p reader.Pipe) iter.Seq2[reader.Record, error] { return p.All(r.ctx) })
	}
	rest := s.frames
	for i := range s.records {
		n, _ := anyFrame.Check(rest)
		s.records[i] = rest[tfrecord.HeaderSize : n-tfrecord.FooterSize]
		r.report.SampleBytes += int64(len(s.records[i]))
		rest = rest[n:]
	}
	r.report.SampleRecords = int64(len(s.records))
	if s.schema, err = columns.InferSchema(s.records[:min(len(s.records), 1000)]); err == nil {
		s.examples = true
		r.report.ImagePixels, err = s.imagePixels()
		return err
	}
	return nil // records of another kind
}

var anyFrame = tfrecord.Framing{Checksum: tfrecord.ChecksumOff, MaxRecord: 1 << 40}

// needOne returns an error if all yields nothing for the first n records: repeated, that would
// never end.
func needOne[T any](r *run, n int, all func(reader.Pipe) iter.Seq2[T, error]) error {
	for _, err := range all(r.someRecords(n)) {
		return err
	}
	return firstError(r, all)
}

// firstError returns why there is nothing to measure: the error of reading without skipping damage.
func firstError[T any](r *run, all func(reader.Pipe) iter.Seq2[T, error]) error {
	set, err := reader.OpenAll(r.ctx, r.paths, reader.Options{Partial: r.o.Partial})
	if err != nil {
		return err
	}
	for _, err := range all(set.Records()) {
		if err != nil {
			return err
		}
		break
	}
	return errors.New("no records in the files that can be measured")
}

// interleave is the order of training without the shuffle.
func (r *run) interleave() reader.Pipe {
	return r.set.Interleave(min(mostFiles, len(r.set.Sources())), 1)
}

// looked is the number of records to search for images.
const looked = 256

// imagePixels returns the mean number of pixels of the images in the records; 0 if there are none.
func (s *sample) imagePixels() (float64, error) {
	codec, err := augment.NewCodec(augment.CodecOptions{})
	if err != nil {
		return 0, err
	}
	var pixels, images float64
	var example tfrecord.Example
	for _, record := range s.records[:min(len(s.records), looked)] {
		if example.Parse(record) != nil {
			continue
		}
		n, ok := pixelsOf(codec, &example)
		if ok {
			images++
			pixels += n
		}
	}
	return pixels / max(images, 1), nil
}

// pixelsOf returns the size of the image in an Example, 1 if it is unknown.
func pixelsOf(codec *augment.Codec, e *tfrecord.Example) (pixels float64, ok bool) {
	bytesOf := func(key string) []byte {
		f, _ := e.Get(key)
		b, _ := f.Bytes()
		return b
	}
	encoded, format := bytesOf(reader.DefaultImageKey), string(bytesOf(imagekey.Format))
	if len(encoded) == 0 || augment.Sniff(encoded) == "" && rawpixels.SampleBytes(format) == 0 {
		return 0, false
	}
	height, _ := e.Get(imagekey.Height)
	width, _ := e.Get(imagekey.Width)
	h, hasHeight := height.Int64()
	w, hasWidth := width.Int64()
	if hasHeight && hasWidth {
		return max(float64(h)*float64(w), 1), true
	}
	info, err := codec.Stat(encoded)
	if err != nil {
		return 1, true
	}
	return float64(info.Width) * float64(info.Height), true
}
