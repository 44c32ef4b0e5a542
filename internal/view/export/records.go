package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// row is one record.
type row struct {
	tfrecord.Example
	number int64    // from 0, among all
	split  string   // that its file belongs to
	labels []string // names by id, of the manifest; nil when there is none
	tally  message.Tally
}

// inputs are the files to read, in the order of their names.
type inputs struct {
	sources []shard.Source
	splits  []string // all of them, sorted
	size    int64    // of the files
	note    func(format string, args ...any)
	noted   bool // that some parts of the records are not exported
}

func openInputs(ctx context.Context, paths []string, o *Options) (*inputs, error) {
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Warn})
	if err != nil {
		return nil, err
	}
	shares.NameSplits(sources)
	in := &inputs{sources: sources, note: o.note}
	for i := range in.sources {
		s := &in.sources[i]
		if err := shard.CheckSplit(s.Split); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Path, err)
		}
		in.splits = append(in.splits, s.Split)
		st, err := storage.Stat(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		in.size += st.Size()
	}
	slices.Sort(in.splits)
	in.splits = slices.Compact(in.splits)
	return in, nil
}

// each calls do with every record, and returns how many there were: none is an
// error. The row is valid during the call.
func (in *inputs) each(ctx context.Context, progress *shard.ReadProgress, do func(*row) error) (int64, error) {
	var r row
	for _, s := range in.sources {
		if err := readSource(ctx, s, progress, &r, do); err != nil {
			return r.number, err
		}
	}
	if err := shard.CheckUnchanged(ctx, in.sources); err != nil {
		return r.number, err
	}
	if r.number == 0 {
		return 0, fmt.Errorf("%w with a record: %d empty, such as %s", shard.ErrNoRecords, len(in.sources), in.sources[0].Path)
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
	return r.number, nil
}

func readSource(ctx context.Context, s shard.Source, progress *shard.ReadProgress, r *row, do func(*row) error) (err error) {
	f, err := shard.Open(ctx, s.Path, tfrecord.ReaderOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r.split, r.labels = s.Split, nil
	if s.Set != nil {
		r.labels = s.Set.Labels
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
		r.number++
		if progress != nil {
			progress.Done.Add(int64(len(record)) + tfrecord.Overhead)
		}
	}
}

// parse reads an Example. The parser skips unknown fields, so parse also rejects other messages.
func (r *row) parse(record []byte) error {
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
