package write

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Finish writes the set and unlocks the directory; the Set cannot be used afterwards. It waits for
// calls of Write that have begun. After an error the directory is as it was before Create. If it
// could not be restored, for example because the program was killed, readers report the set as
// unfinished, and the next Create removes its files.
//
// The error unwraps to ErrDuplicateKey, ErrBadSample (more bad samples than Options.MaxErrors),
// shard.ErrNoRecords, the cause of the end of the context, or an error of reading or writing files.
func (s *Set) Finish() (*Report, error) {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.closed = true
	report, err := s.finish()
	err = errors.Join(err, s.rows.Close(), s.dir.Close())
	if err != nil {
		return nil, err
	}
	report.Seconds = time.Since(s.began).Seconds()
	return report, nil
}

// finish is Finish without closing anything.
func (s *Set) finish() (*Report, error) {
	f, err := s.newFinishing()
	if err != nil {
		return nil, errors.Join(err, s.abandon(nil))
	}
	if err := f.run(); err != nil {
		return nil, errors.Join(err, s.abandon(f.files))
	}
	if s.old != nil {
		return &f.report, s.dir.Staged().Replace(s.old) // discards the stage if it did not begin
	}
	return &f.report, setdir.Forget(s.dir)
}

// abandon removes the named files and all state.
func (s *Set) abandon(files []string) error {
	if s.old != nil {
		return s.dir.Staged().Abandon()
	}
	return setdir.Discard(s.dir, files)
}

// finishing writes the shards and the description of a set.
type finishing struct {
	*Set
	target *setdir.Dir // the directory, or the stage of a set that replaces another
	splits []*split    // as the manifest lists them; empty ones are left out
	byID   []*split    // by number; nil if empty
	m      manifest.Manifest
	ledger []byte
	files  []string // all that may be written, relative to the directory
	report Report
}

// split is a split that is being written.
type split struct {
	name    string
	records int64
	shards  []manifest.Shard
	labels  []labels.Counter // by shard
}

// length returns the number of records of a shard.
func (s *split) length(shard int) int64 {
	n, at := int64(len(s.shards)), int64(shard)
	return shares.First(at+1, n, s.records) - shares.First(at, n, s.records)
}

// newFinishing sorts the records, describes the set and names its files.
func (s *Set) newFinishing() (*finishing, error) {
	f := &finishing{Set: s, target: s.dir}
	if s.old != nil {
		f.target = s.dir.Stage()
	}
	if s.err != nil {
		return nil, s.err
	}
	if err := s.tooManyBad(); err != nil {
		return nil, err
	}
	for _, l := range s.lanes {
		if err := s.sort(l); err != nil {
			return nil, err
		}
	}
	if err := f.cut(); err != nil {
		return nil, err
	}
	if err := f.describe(); err != nil {
		return nil, err
	}
	if err := f.nameFiles(); err != nil {
		return nil, err
	}
	return f, s.rows.Sort(s.ctx)
}

// cut decides how many shards each split has.
func (f *finishing) cut() error {
	sizes := make([]size, len(f.Set.splits.names))
	for _, l := range f.lanes {
		for i, n := range l.sizes {
			sizes[i].records += n.records
			sizes[i].bytes += n.bytes
		}
	}
	f.byID = make([]*split, len(sizes))
	for _, i := range f.Set.splits.order() {
		name := f.Set.splits.names[i]
		if sizes[i].records == 0 {
			if len(f.o.Splits) > 0 {
				f.note(&f.report, "split %s would be empty: it is left out", name)
			}
			continue
		}
		n := max(f.o.Shards, f.o.SplitShards[name])
		if n == 0 {
			n = shares.AutoShards(sizes[i].records, sizes[i].bytes)
		}
		split := &split{name: name, records: sizes[i].records, shards: make([]manifest.Shard, n), labels: make([]labels.Counter, n)}
		f.splits, f.byID[i] = append(f.splits, split), split
	}
	if len(f.splits) == 0 {
		return fmt.Errorf("%w were written to %s", shard.ErrNoRecords, f.dir.Path())
	}
	var names []string
	for _, s := range f.splits {
		names = append(names, s.name)
	}
	if err := shares.CheckShardsOf(names, f.o.SplitShards); err != nil {
		return optionError("SplitShards", "%w", err)
	}
	return nil
}

// describe fills in the manifest, except for the shards.
func (f *finishing) describe() (err error) {
	m := &f.m
	m.Format, m.Version, m.Tool = manifest.Format, manifest.Version, build.Tool
	m.Name, m.Seed, m.Compression = f.o.Name, f.o.Seed, f.compression().String()
	if m.Options, err = f.options(); err != nil {
		return err
	}
	if err := f.describeRecords(); err != nil {
		return err
	}
	slices.SortFunc(f.bad, func(a, b setdir.BadSample) int {
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		if c := strings.Compare(a.Source, b.Source); c != 0 {
			return c
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	m.Errors = int64(len(f.bad))
	f.ledger, err = setdir.EncodeLedger(f.bad)
	return err
}

// compression returns how shards are compressed.
func (f *finishing) compression() tfrecord.Compression {
	return max(f.o.Compression, tfrecord.CompressionNone)
}

// options returns the options that decide the bytes of the set, by the names of the command's flags.
func (f *finishing) options() (map[string]json.RawMessage, error) {
	texts := map[string]any{setdir.OptionVerb: verb, "shards": "auto"}
	switch {
	case f.o.Shards > 0:
		texts["shards"] = fmt.Sprint(f.o.Shards)
	case len(f.o.SplitShards) > 0:
		texts["shards"] = shares.FormatShards(f.o.SplitShards)
	}
	if len(f.o.Splits) > 0 {
		texts["split"] = shares.FormatSplits(f.o.Splits)
	}
	if f.o.InOrder {
		texts["in-order"] = true
	}
	options := map[string]json.RawMessage{}
	for key, value := range texts {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		options[key] = text
	}
	return options, nil
}

// nameFiles names everything that may be written, so that the next run can remove it if this one is
// killed.
func (f *finishing) nameFiles() error {
	for _, s := range f.splits {
		for i := range s.shards {
			name := naming.Shard(f.o.Name, s.name, i, len(s.shards))
			if len(name) > maxFileName {
				return optionError("Name", "a shard would have the name %s... of %d bytes, more than %d: give a shorter one", name[:40], len(name), maxFileName)
			}
			s.shards[i].File = name
			f.files = append(f.files, name)
			if f.compression() == tfrecord.CompressionNone {
				f.files = append(f.files, filepath.ToSlash(manifest.IndexPath(name)))
			}
		}
	}
	f.files = append(f.files, f.m.MetadataFiles()...)
	if f.ledger != nil {
		f.files = append(f.files, manifest.LedgerFile)
	}
	f.files = append(f.files, manifest.File)
	if f.Set.old != nil {
		return nil
	}
	return f.dir.State().PutRun(&setdir.Run{Name: f.o.Name, Options: f.m.Options, Files: f.files})
}

// maxFileName is the longest name that file systems support, less the suffixes of temporary files and
// indexes.
const maxFileName = 255 - 20

// run writes the shards, then what describes them, the manifest last.
func (f *finishing) run() error {
	if err := f.writeShards(); err != nil {
		return err
	}
	for _, s := range f.splits {
		for i := range s.shards {
			info := &s.shards[i]
			info.Fingerprint = fingerprint.OfShard(*info)
			if len(f.m.Labels) > 0 {
				info.Labels = labels.CountsByName(s.labels[i].ByID, f.m.Labels)
			}
		}
		f.m.Splits = append(f.m.Splits, manifest.Split{Name: s.name, Records: s.records, Shards: s.shards})
	}
	f.m.Fingerprint = fingerprint.OfSet(&f.m)
	if f.ledger != nil {
		if err := f.target.Put(manifest.LedgerFile, f.ledger); err != nil {
			return err
		}
	}
	if err := f.target.PutSet(&f.m); err != nil {
		return err
	}
	f.report.Manifest = &f.m
	return nil
}

// Rows are written to shards in batches of about this size.
const batchBytes = 256 << 10

// mostCommits is the number of shards that are synced while the next one is written.
const mostCommits = 4

// writeShards writes the sorted records to shards.
func (f *finishing) writeShards() error {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	commits, ctx := errgroup.WithContext(ctx)
	commits.SetLimit(mostCommits)
	in := sorted{set: f.Set}
	err := func() error {
		for id, split := range f.byID {
			if split == nil {
				continue
			}
			for i := range split.shards {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				w, err := f.writeShard(&in, id, split, i)
				if err != nil {
					return err
				}
				commits.Go(func() error {
					info, err := w.Commit()
					split.shards[i] = info
					return err
				})
			}
		}
		return in.end()
	}()
	// The first error is the cause of others.
	if first := commits.Wait(); first != nil {
		return first
	}
	return err
}

// writeShard writes the records of a shard. The caller commits it.
func (f *finishing) writeShard(in *sorted, id int, split *split, shard int) (*setdir.Writer, error) {
	w, err := f.target.Create(split.shards[shard].File, setdir.WriterOptions{Compression: f.o.Compression})
	if err != nil {
		return nil, err
	}
	count := labels.NewCounter(manifest.LabelKeys(f.m.Features), len(f.m.Labels))
	var example tfrecord.Example
	var batch []byte
	var sizes []int
	flush := func() error {
		err := w.WriteFrames(batch, sizes)
		f.written.Add(int64(len(sizes)))
		batch, sizes = batch[:0], sizes[:0]
		return err
	}
	for range split.length(shard) {
		of, frame, err := in.next()
		if err == nil && of != id {
			err = fmt.Errorf("%s: sorting lost records of split %s", f.dir.Path(), split.name)
		}
		if err == nil && count.Key != "" {
			if err = example.Parse(recordscan.Payload(frame)); err == nil {
				count.Add(&example)
			}
		}
		if err == nil {
			batch, sizes = append(batch, frame...), append(sizes, len(frame))
			if len(batch) >= batchBytes {
				if err = f.ctx.Err(); err != nil {
					err = context.Cause(f.ctx)
				} else {
					err = flush()
				}
			}
		}
		if err != nil {
			w.Abort()
			return nil, err
		}
	}
	split.labels[shard] = count
	if err := flush(); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// sorted yields the rows of a set in order.
type sorted struct {
	set  *Set
	last []byte // sort key of the last row, without the split
}

// next returns the split and the frame of the next row, valid until the next call. An equal key of the
// last one is an error.
func (s *sorted) next() (split int, frame []byte, err error) {
	data, err := s.set.rows.Next()
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, fmt.Errorf("%s: sort records: %w", s.set.dir.Path(), err)
	}
	at, frame := cutRow(data)
	if bytes.Equal(at[1:], s.last) {
		return 0, nil, fmt.Errorf("%w: %q; give every record a key of its own, or %s", ErrDuplicateKey, at[keyAt:], optname.OptionsInOrder)
	}
	s.last = append(s.last[:0], at[1:]...)
	return int(at[0]), frame, nil
}

// end returns an error if there are more rows.
func (s *sorted) end() error {
	if _, err := s.set.rows.Next(); err != io.EOF {
		return errors.Join(err, fmt.Errorf("%s: sorting made more records than were written", s.set.dir.Path()))
	}
	return nil
}
