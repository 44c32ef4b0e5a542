package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/random"
	"github.com/tfrec/tfrec/internal/set/recheck"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Sampling limits the number of records that Files checks. The zero value means all.
type Sampling struct {
	// Records is the total number, distributed over the files in proportion to their records.
	// Default: 0, use Share.
	Records int64
	// Share of the records of each file, above 0 and at most 1. Default: 0, all.
	Share float64
	// Seed of the random choice, which is deterministic for the same files. Default: 0.
	Seed uint64
}

func (s Sampling) some() bool { return s.Records > 0 || s.Share > 0 }

// SampleReport describes the records that Files checked, and the checks that it left out.
type SampleReport struct {
	// Records is the number of records checked, Of the number of all records.
	Records int64  `json:"records"`
	Of      int64  `json:"of"`
	Seed    uint64 `json:"seed"`
	// NotChecked has human-readable messages about the checks left out.
	NotChecked []string `json:"not_checked"`
}

// recordSample chooses records of all files.
type recordSample struct {
	o     *Options
	files []sampledFile
	of    int64
}

// sampledFile describes a file before its sample is read.
type sampledFile struct {
	recordcount.Counted
	want int64 // number of records to check
	err  error // of counting
}

// newRecordSample counts the records of all files: from manifests if there are any, else from the
// frame headers, or by reading compressed files.
func newRecordSample(ctx context.Context, sources []shard.Source, o *Options, rate *recordscan.RateLimit) (*recordSample, error) {
	if o.Sample.Records < 0 || o.Sample.Share < 0 || o.Sample.Share > 1 {
		return nil, fmt.Errorf("sample: %d records or a share of %v: want a number above 0, or a share to 1", o.Sample.Records, o.Sample.Share)
	}
	s := &recordSample{o: o, files: make([]sampledFile, len(sources))}
	par.ForEach(ctx, len(sources), o.Workers, func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			f := &s.files[i]
			f.Source = sources[i]
			st, err := storage.Stat(ctx, f.Path)
			switch {
			case err != nil:
				f.err = err
			case !st.Mode().IsRegular():
				f.err = fmt.Errorf("%s is not a regular file: it cannot be sampled", f.Path)
			default:
				f.Size = st.Size()
				f.err = f.Count(ctx, o.MaxRecord, rate)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range s.files {
		s.of += s.files[i].Records
	}
	records := min(o.Sample.Records, s.of)
	if o.Sample.Share > 0 {
		records = int64(math.Ceil(o.Sample.Share * float64(s.of)))
	}
	// Carry the rounding error over to the next file, so that the counts add up.
	var seen, given int64
	for i := range s.files {
		f := &s.files[i]
		seen += f.Records
		f.want = int64(math.Round(float64(records)*(float64(seen)/float64(max(s.of, 1))))) - given
		f.want = min(max(f.want, 0), f.Records)
		given += f.want
	}
	return s, nil
}

// choose returns the record numbers of a file to check, in order.
func (s *recordSample) choose(number int) []int64 {
	f := &s.files[number]
	chosen := make([]int64, f.want)
	if f.want == 0 {
		return chosen
	}
	name := xxh3.HashString(filepath.Base(f.Path))
	order := random.NewPermutation(f.Records, random.Key(s.o.Sample.Seed, name, uint64(number)))
	for i := range chosen {
		chosen[i] = order.At(int64(i))
	}
	slices.Sort(chosen)
	return chosen
}

func (s *recordSample) report(r *Report) *SampleReport {
	return &SampleReport{Records: r.Records, Of: s.of, Seed: s.o.Sample.Seed, NotChecked: []string{
		fmt.Sprintf("%d of %s", s.of-r.Records, plural.Of(s.of, "record")),
		"SHA-256, indexes, and the record and label counts of shards",
		"features that all records have, and duplicates, beyond the sample",
	}}
}

// checkSample checks the sample of a file.
func (c *fileCheck) checkSample(ctx context.Context, v *verification, number int, f storage.File, r *tfrecord.Reader) {
	s := &v.sample.files[number]
	c.report.Bytes, c.report.Compression = s.Size, s.Compression.String()
	if s.Compression == tfrecord.CompressionAuto {
		c.report.Compression = tfrecord.CompressionNone.String()
	}
	if s.Info != nil && s.Info.Bytes != s.Size {
		c.add(shard.FileFault(s.Path, tfrecord.PartHash, "%s, the manifest says %d", plural.Of(s.Size, "byte"), s.Info.Bytes))
	}
	if s.err != nil {
		c.addError(s.err, "; no record of this file was checked")
		return
	}
	look := sampleLook{c: c, examples: v.o.Examples || s.Info != nil && s.Set.Records == manifest.RecordExample}
	chosen := v.sample.choose(number)
	var err error
	if s.Compression == tfrecord.CompressionNone {
		err = look.seek(ctx, f, chosen, v)
	} else {
		err = look.through(&recordscan.Meter{Context: ctx, File: f, Rate: v.rate}, r, chosen)
	}
	if err != nil {
		c.addError(err, "")
	}
}

// sampleLook checks the records of a sample.
type sampleLook struct {
	c        *fileCheck
	examples bool
	example  tfrecord.Example
	frame    []byte
}

// record checks one record. It reports false if reading must end.
func (l *sampleLook) record(record []byte, number, offset int64) bool {
	l.c.report.Records++
	if l.examples {
		if err := l.example.Parse(record); err != nil {
			var fault *tfrecord.Error
			if errors.As(err, &fault) {
				err = fault.Err
			}
			l.c.add(shard.Fault{Path: l.c.source.Path, Record: number, Offset: offset, Part: tfrecord.PartParse, Message: err.Error()})
		}
	}
	return l.c.give == nil || l.c.give(record, number, offset) == nil
}

// through reads a compressed file, in which nothing can be skipped.
func (l *sampleLook) through(in *recordscan.Meter, r *tfrecord.Reader, chosen []int64) error {
	r.Reset(in, l.c.source.Path)
	for len(chosen) > 0 {
		record, err := r.Next()
		switch {
		case in.Err != nil:
			return in.Err
		case err == io.EOF:
			return nil
		case err != nil:
			l.c.addError(err, "")
			var fault *tfrecord.Error
			if !errors.As(err, &fault) || fault.Part != tfrecord.PartDataCRC || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
		}
		if r.Record() != chosen[0] {
			continue
		}
		chosen = chosen[1:]
		if err != nil {
			l.c.report.Records++ // it was checked, too
		} else if !l.record(record, r.Record(), r.Offset()) {
			return nil
		}
	}
	return nil
}

// seek reads only the chosen records of a plain file: through its index or, if that does not lead
// to them, from header to header.
func (l *sampleLook) seek(ctx context.Context, f storage.File, chosen []int64, v *verification) error {
	o := tfrecord.ReaderOptions{Name: l.c.source.Path, MaxRecord: v.o.MaxRecord}
	framing := o.Framing()
	offsets := l.index(ctx, chosen)
	var offset, number int64
	for i, want := range chosen {
		if offsets != nil {
			offset, number = offsets[i], want
		}
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			size, verdict, err := l.read(ctx, f, offset, framing, number == want, v.rate)
			if err != nil {
				return err
			}
			if verdict == tfrecord.FrameWhole && number == want {
				if !l.record(l.frame[tfrecord.HeaderSize:size-tfrecord.FooterSize], number, offset) {
					return nil
				}
			}
			if verdict == tfrecord.FrameBroken || number == want && verdict != tfrecord.FrameWhole {
				if offsets != nil {
					l.c.add(shard.Fault{Path: manifest.IndexPath(l.c.source.Path), Record: number, Offset: offset, Part: tfrecord.PartIndex, Message: "it does not lead to an intact record"})
				}
				fault := tfrecord.NewSalvager(f, o).Fault(number, offset)
				if fault == nil || verdict != tfrecord.FrameDamaged {
					return fault
				}
				l.c.addError(fault, "")
				l.c.report.Records++ // it was checked, too
			}
			offset += int64(size)
			if number++; number > want {
				break
			}
		}
	}
	return nil
}

// index returns the offsets of the chosen records according to the file's index; nil if it is
// unusable.
func (l *sampleLook) index(ctx context.Context, chosen []int64) []int64 {
	f, err := storage.Open(ctx, manifest.IndexPath(l.c.source.Path))
	if err != nil {
		return nil
	}
	defer f.Close()
	offsets := make([]int64, 0, len(chosen))
	var lines int64
	for e, err := range tfrecord.IndexEntries(f, f.Name()) {
		if err != nil || lines%1024 == 0 && ctx.Err() != nil {
			return nil
		}
		if n := len(offsets); n < len(chosen) && chosen[n] == lines {
			offsets = append(offsets, e.Offset)
		}
		lines++
	}
	if len(offsets) < len(chosen) || l.c.source.Info != nil && lines != l.c.source.Info.Records {
		return nil
	}
	return offsets
}

// read reads the frame at an offset, or only its header unless all is set.
func (l *sampleLook) read(ctx context.Context, f storage.File, offset int64, framing tfrecord.Framing, all bool, rate *recordscan.RateLimit) (int, tfrecord.Verdict, error) {
	l.frame = append(l.frame[:0], make([]byte, tfrecord.HeaderSize)...)
	n, err := f.ReadAt(l.frame, offset)
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	size, verdict, err := recheck.Frame(framing, f, l.frame[:n], offset)
	if err != nil {
		return 0, 0, err
	}
	if n < tfrecord.HeaderSize {
		return 0, tfrecord.FrameBroken, nil
	}
	if all && verdict == tfrecord.FrameShort {
		if st, err := f.Stat(); err != nil || offset+int64(size) > st.Size() {
			return size, tfrecord.FrameShort, err
		}
		l.frame = slices.Grow(l.frame[:0], size)[:size]
		if n, err = f.ReadAt(l.frame, offset); err != nil && err != io.EOF {
			return 0, 0, err
		}
		if size, verdict, err = recheck.Frame(framing, f, l.frame[:n], offset); err != nil {
			return 0, 0, err
		}
		if verdict == tfrecord.FrameDamaged {
			size = n
		}
	}
	return size, verdict, rate.Wait(ctx, n)
}
