package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/recordscan"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// inputs are the files that a run reads, in the order in which it does.
type inputs struct {
	files  []*input
	splits []string // of the files
	// described is what the manifests say of the records, merged. Features is nil
	// when some files have no manifest, or one that does not say.
	described Manifest
	known     bool    // described has the features of all files
	bareLabel string  // key of the label feature of files without a manifest; empty when not known
	remaps    bool    // some files need other label ids
	bySplit   []int64 // records of each split, once they are counted

	o *ReshapeOptions
}

// input is one file of records to reshape.
type input struct {
	Source
	split       int // of inputs.splits
	size        int64
	compression tfrecord.Compression
	records     int64       // in the file, once counted
	first       int64       // number of its first record among all
	frames      int64       // bytes of them, uncompressed, if the file was read to count them
	marks       []frameMark // places in it, when its frames were counted
	remap       *remap      // of its label ids; nil when they stay
}

// records returns how many records all files hold.
func (in *inputs) records() int64 {
	var n int64
	for _, r := range in.bySplit {
		n += r
	}
	return n
}

// unpacked returns about how many bytes the frames of all files have.
func (in *inputs) unpacked() int64 {
	var n int64
	for _, f := range in.files {
		switch {
		case f.compression == tfrecord.None:
			n += f.size
		case f.frames > 0:
			n += f.frames
		default:
			n += f.size * guessedRatio
		}
	}
	return n
}

// guessedRatio is how much a compressed file is thought to unpack to.
const guessedRatio = 3

// openInputs finds the files that paths stand for: in the order of the paths,
// and those of one path in the order of their names.
func openInputs(ctx context.Context, paths []string, o *ReshapeOptions) (*inputs, error) {
	if len(paths) == 0 {
		_, err := Expand(ctx, paths, o.expand())
		return nil, err
	}
	in := &inputs{o: o}
	sets := map[string]*Set{} // one for each directory
	for _, path := range paths {
		sources, err := Expand(ctx, []string{path}, o.expand())
		if err != nil {
			return nil, err
		}
		for _, s := range sources {
			if s.Set != nil {
				if known := sets[s.Set.Dir]; known != nil {
					s.Set = known
				}
				sets[s.Set.Dir] = s.Set
				in.addSplits(s.Set)
			}
			if err := in.add(ctx, s); err != nil {
				return nil, err
			}
		}
	}
	in.dropUnusedSplits()
	in.bySplit = make([]int64, len(in.splits))
	return in, nil
}

// checkUnchanged is CheckUnchanged of all files.
func (in *inputs) checkUnchanged(ctx context.Context) error {
	sources := make([]Source, len(in.files))
	for i, f := range in.files {
		sources[i] = f.Source
	}
	return CheckUnchanged(ctx, sources)
}

// addSplits has the splits of a set in the order of its manifest.
func (in *inputs) addSplits(s *Set) {
	for _, split := range s.Splits {
		in.splitNamed(split.Name)
	}
}

func (in *inputs) splitNamed(name string) int {
	i := slices.Index(in.splits, name)
	if i < 0 {
		i = len(in.splits)
		in.splits = append(in.splits, name)
	}
	return i
}

// dropUnusedSplits drops splits of sets of which no file was asked for.
func (in *inputs) dropUnusedSplits() {
	used := make([]bool, len(in.splits))
	for _, f := range in.files {
		used[f.split] = true
	}
	names := in.splits
	in.splits = nil
	for i, name := range names {
		if used[i] {
			in.splits = append(in.splits, name)
		}
	}
	for _, f := range in.files {
		f.split = slices.Index(in.splits, names[f.split])
	}
}

func (in *inputs) add(ctx context.Context, s Source) error {
	split := s.Split
	if split == "" {
		split = "train"
		if name, ok := ParseName(storage.Base(s.Path)); ok {
			split = name.Split
		}
	}
	if err := CheckSplit(split); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	st, err := storage.Stat(ctx, s.Path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, and inputs are read more than once: copy it to a file first", s.Path)
	}
	in.files = append(in.files, &input{Source: s, split: in.splitNamed(split), size: st.Size()})
	return nil
}

// count finds out how many records each file holds: from its manifest, which is
// held to it when the file is read, or else from the headers of its frames.
func (in *inputs) count(ctx context.Context) error {
	g, counting := errgroup.WithContext(ctx)
	g.SetLimit(in.o.workers())
	for _, f := range in.files {
		g.Go(func() error {
			if err := counting.Err(); err != nil {
				return err
			}
			return f.count(counting, in.o.MaxRecord, nil)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var first int64
	for _, f := range in.files {
		f.first = first
		first += f.records
		in.bySplit[f.split] += f.records
	}
	return nil
}

// count fills in the file's compression and the number of its records, reading no
// faster than the rate; nil is no limit.
func (f *input) count(ctx context.Context, maxRecord int64, rate *recordscan.RateLimit) error {
	file, err := storage.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	o := tfrecord.ReaderOptions{Name: f.Path, MaxRecord: maxRecord, Checksum: tfrecord.ChecksumLength}
	var in io.Reader = file
	if rate != nil {
		in = &recordscan.Meter{Context: ctx, File: file, Rate: rate}
	}
	r := tfrecord.NewReader(in, o)
	defer r.Close()
	_, err = r.Next() // tells the compression
	f.compression = r.Compression()
	switch {
	case err == io.EOF:
		f.records = 0
		return f.checkCount(0)
	case err != nil:
		return damaged(err)
	case f.Info != nil && f.Info.Bytes == f.size && f.mayHold(f.Info.Records):
		f.records = f.Info.Records
		return nil
	case f.compression == tfrecord.None:
		w := frameWalk{file: file, size: f.size, o: o, rate: rate, every: max(f.size/mostMarks, leastMarked)}
		err = w.to(ctx, math.MaxInt64)
		f.records, f.marks = w.at.record, w.marks
	default:
		f.records = 1
		for {
			var record []byte
			if record, err = r.Next(); err != nil {
				break
			}
			f.frames = r.Offset() + int64(len(record)) + tfrecord.Overhead
			if f.records++; f.records&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return damaged(err)
	}
	return f.checkCount(f.records)
}

// mostCompressed is more than how often a file can be larger uncompressed.
const mostCompressed = 1 << 16

// mayHold reports whether a file that has a record may have so many. What a manifest
// says is only known to be wrong when the file was read, and a number that no
// file can have must not make a run go on for ever before that.
func (f *input) mayHold(records int64) bool {
	most := f.size / tfrecord.Overhead
	if f.compression != tfrecord.None {
		most = f.size * (mostCompressed / tfrecord.Overhead)
	}
	return 0 < records && records <= most
}

// checkCount holds the number of records in the file to the manifest's.
func (f *input) checkCount(records int64) error {
	if f.Info == nil || f.Info.Records == records {
		return nil
	}
	return &DamagedError{&tfrecord.Error{
		Name: f.Path, Record: -1, Offset: f.size, Part: tfrecord.PartCount,
		Err: fmt.Errorf("%s, the manifest says %d", plural.Of(records, "record"), f.Info.Records),
	}}
}

// checkRead holds the number of records that were read to the one that was
// counted, or that the manifest says.
func (f *input) checkRead(records int64) error {
	if records == f.records {
		return nil
	}
	if f.Info != nil && f.Info.Records == f.records {
		return f.checkCount(records)
	}
	return fmt.Errorf("%s changed while it was read: it has %s, and had %d", f.Path, plural.Of(records, "record"), f.records)
}

// damaged makes a DamagedError of an error about the data, and leaves others.
func damaged(err error) error {
	var fault *tfrecord.Error
	var known *DamagedError
	if errors.As(err, &fault) && !errors.As(err, &known) && isDamage(err) {
		return &DamagedError{err}
	}
	return err
}

// isDamage tells damage from a file that could not be read, which a Reader
// reports with the same words in front.
func isDamage(err error) bool {
	var path *os.PathError
	return !errors.As(err, &path)
}
