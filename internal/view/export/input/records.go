package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/internal/view/export/spec"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Row is one record.
type Row struct {
	tfrecord.Example
	Number int64    // from 0, among all
	Split  string   // that its file belongs to
	Labels []string // names by id, of the manifest; nil when there is none
	tally  message.Tally
}

// Records are the files to read, in the order of their names.
type Records struct {
	Sources []shard.Source
	Splits  []string // all of them, sorted
	Size    int64    // of the files
	note    func(format string, args ...any)
	noted   bool // that some parts of the records are not exported
}

func Open(ctx context.Context, paths []string, o *spec.Options) (*Records, error) {
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Warn})
	if err != nil {
		return nil, err
	}
	shares.NameSplits(sources)
	in := &Records{Sources: sources, note: o.Notef}
	for i := range in.Sources {
		s := &in.Sources[i]
		if err := shard.CheckSplit(s.Split); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Path, err)
		}
		in.Splits = append(in.Splits, s.Split)
		st, err := storage.Stat(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		in.Size += st.Size()
	}
	slices.Sort(in.Splits)
	in.Splits = slices.Compact(in.Splits)
	return in, nil
}

// Each calls do with every record, and returns how many there were: none is an
// error. The row is valid during the call.
func (in *Records) Each(ctx context.Context, progress *shard.ReadProgress, do func(*Row) error) (int64, error) {
	var r Row
	for _, s := range in.Sources {
		if err := readSource(ctx, s, progress, &r, do); err != nil {
			return r.Number, err
		}
	}
	if err := shard.CheckUnchanged(ctx, in.Sources); err != nil {
		return r.Number, err
	}
	if r.Number == 0 {
		return 0, fmt.Errorf("%w with a record: %d empty, such as %s", shard.ErrNoRecords, len(in.Sources), in.Sources[0].Path)
	}
	if !in.noted {
		in.noted = true
		if unknown := r.tally.Unknown(); unknown != nil {
			in.note("unknown fields, which are not exported: %v", unknown)
		}
		if n := r.tally.Kindless(); n > 0 {
			in.note("features without a list of values are exported as missing: in %s", plural.Of(n, "record"))
		}
	}
	return r.Number, nil
}

func readSource(ctx context.Context, s shard.Source, progress *shard.ReadProgress, r *Row, do func(*Row) error) (err error) {
	f, err := shard.Open(ctx, s.Path, tfrecord.ReaderOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r.Split, r.Labels = s.Split, nil
	if s.Set != nil {
		r.Labels = s.Set.Labels
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := f.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.parse(record); err != nil {
			return f.Locate(err)
		}
		if err := do(r); err != nil {
			return fmt.Errorf("%s: record %d: %w", s.Path, f.Record(), err)
		}
		r.Number++
		if progress != nil {
			progress.Done.Add(int64(len(record)) + tfrecord.Overhead)
		}
	}
}

// parse reads an Example. The parser skips unknown fields, so parse also rejects other messages.
func (r *Row) parse(record []byte) error {
	if err := r.Parse(record); err != nil {
		return err
	}
	kind := r.tally.Of(record)
	if kind == message.Example {
		return nil
	}
	if kind == message.Unknown {
		kind = "something unknown"
	}
	return &tfrecord.Error{Record: -1, Part: tfrecord.PartParse, Err: fmt.Errorf("it holds %s, and only tf.train.Examples can be exported; tfrec cat shows it", kind)}
}

// ErrChanged means that the second pass read different data than the first.
var ErrChanged = errors.New("the input changed while it was read: run it again when nothing writes to it")

// Text returns the one text of a feature, "" if the record does not have it.
func Text(r *Row, key string) (string, error) {
	f, ok := r.Get(key)
	if !ok || f.Len() == 0 {
		return "", nil
	}
	if f.Kind() != tfrecord.KindBytes || f.Len() != 1 {
		return "", WrongFeature(key, f, "one text")
	}
	b, _ := f.Bytes()
	return string(b), nil
}

// WrongFeature returns the error for a feature with unexpected values.
func WrongFeature(key string, f tfrecord.Feature, want string) error {
	return fmt.Errorf("its feature %s holds %d of kind %s: want %s", key, f.Len(), f.Kind(), want)
}
