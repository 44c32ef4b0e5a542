package transfer

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
	"github.com/tfrec/tfrec/tfrecord"
)

// span is a stretch of which a shard consists.
type span struct {
	source.Stretch
	records int64 // if the stretch ends before the file does
	indexed bool  // the end comes from an index
}

// shardOfSpans is a shard whose records are consecutive in the inputs.
type shardOfSpans struct {
	target  int
	shard   int64
	records int64
	spans   []span
	err     error // the fault of the inputs after the spans
}

// contiguous reports whether every shard consists of consecutive records of files that support
// random access, so that shards can be written in parallel, and there are enough shards for that.
func (t *Transfer) contiguous() bool {
	if t.Order != nil || t.Log != nil {
		return false
	}
	for _, f := range t.In.Files {
		if f.Compression != tfrecord.CompressionNone {
			return false
		}
	}
	var shards int64
	for i := range t.Targets {
		shards += t.Targets[i].Shards
	}
	return shards >= int64(min(t.In.Workers, 2))
}

// copySpans writes the shards, one per worker in parallel: each is read, checked, hashed and
// written by one goroutine, in blocks that stay in its processor's cache. In shards of a set, the
// index has the offsets at which new shards begin. In other files, a walk over the frame headers, a
// few shards ahead, finds them, so that its reads are still cached when the data is read again.
func (t *Transfer) copySpans(ctx context.Context) error {
	s := t.In.Stream()
	s.Checks = true
	t.In.Plan()
	commits := newCommits()
	workers := t.In.Workers
	err := par.Map(ctx, workers, workers, t.cutSpans,
		func(ctx context.Context, j *shardOfSpans) error { return t.copyShard(ctx, s, commits, j) },
		func(*shardOfSpans) error { return nil })
	return commits.wait(err)
}

// copyShard writes one shard.
func (t *Transfer) copyShard(ctx context.Context, s *source.Stream, commits *commits, j *shardOfSpans) error {
	w, err := t.openShard(j.target, j.shard)
	if err != nil {
		return err
	}
	for _, sp := range j.spans {
		if err == nil {
			err = t.copySpan(ctx, s, w, sp)
		}
	}
	if err == nil {
		err = j.err
	}
	if err != nil {
		w.Abort()
		return err
	}
	return commits.add(ctx, w)
}

// copySpan writes the records of a span.
func (t *Transfer) copySpan(ctx context.Context, s *source.Stream, w *openShard, sp span) error {
	file, err := recordscan.Open(ctx, sp.File.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	records, err := s.Plain(ctx, sp.Stretch, file, func(b *source.Block) error {
		if b.First+int64(len(b.Sizes)) > sp.File.Records {
			s.Put(b)
			return nil // beyond the expected records; counted for the error below
		}
		return t.workInto(ctx, s, b, w)
	})
	cut := sp.To < sp.File.Size
	switch {
	case cut && (errors.Is(err, source.ErrChanged) || err == nil && records != sp.records):
		return sp.misplaced()
	case err != nil:
		return shard.Damaged(err)
	case cut:
		return nil
	}
	return shard.Damaged(sp.File.CheckRead(sp.First + records))
}

// misplaced returns the error for a span that does not end before the record that it should.
func (sp *span) misplaced() error {
	where := fmt.Sprintf("record %d does not begin at byte %d", sp.First+sp.records, sp.To)
	if !sp.indexed {
		return fmt.Errorf("%s %w: %s", sp.File.Path, source.ErrChanged, where)
	}
	return fmt.Errorf("%s %w, or its index is wrong: %s; if it is the index, remove %s and run again", sp.File.Path, source.ErrChanged, where, manifest.IndexPath(sp.File.Path))
}

// workInto prepares a block, writes it to a shard and returns it to the stream.
func (t *Transfer) workInto(ctx context.Context, s *source.Stream, b *source.Block, w *openShard) error {
	if err := t.Work(ctx, b); err != nil {
		s.Put(b)
		return err
	}
	t.In.Done(b)
	if b.Large() { // a large record: nothing must be left of it when the next one is read
		defer s.Put(b)
		return w.add(b, 0, len(b.Sizes), b.Data)
	}
	return w.addLent(b, s.Lend(b))
}

// cutSpans gives the shards of all targets in order.
func (t *Transfer) cutSpans(ctx context.Context, give func(*shardOfSpans) error) error {
	for target := range t.Targets {
		var files []*source.Input
		for _, f := range t.In.Files {
			if f.SplitIndex == target && f.Records > 0 {
				files = append(files, f)
			}
		}
		layout := t.Targets[target].Layout
		c := spanCutter{maxRecord: t.In.MaxRecord, layout: layout, files: files}
		for shard := range layout.Shards {
			j := &shardOfSpans{target: target, shard: shard, records: layout.Start(shard+1) - layout.Start(shard)}
			j.err = c.cut(ctx, j)
			if err := give(j); err != nil {
				c.close()
				return err
			}
			if j.err != nil {
				break // reported after the shards before it
			}
		}
		c.close()
	}
	return nil
}

// spanCutter divides the records of some files, in order.
type spanCutter struct {
	maxRecord int64
	layout    assign.Layout
	files     []*source.Input // not yet used up; the first may be in part
	// Of the first file:
	at      recordcount.FrameMark   // position of its next record
	marks   []recordcount.FrameMark // once at is after its first record
	indexed bool                    // marks come from its index
	walk    recordcount.FrameWalk   // its File is nil when it is not open
}

// cut adds the next records to a shard. If the inputs have a fault, the records before it are
// added.
func (c *spanCutter) cut(ctx context.Context, j *shardOfSpans) error {
	for left := j.records; left > 0 && len(c.files) > 0; {
		f := c.files[0]
		sp := span{Stretch: source.Stretch{File: f, First: c.at.Record, From: c.at.Offset, To: f.Size}}
		if n := f.Records - c.at.Record; n <= left {
			j.spans = append(j.spans, sp)
			left -= n
			c.close()
			c.files, c.at = c.files[1:], recordcount.FrameMark{}
			continue
		}
		err := c.seek(ctx, f, c.at.Record+left)
		sp.To, sp.records, sp.indexed = c.at.Offset, c.at.Record-sp.First, c.indexed
		j.spans = append(j.spans, sp)
		if err == nil && c.at.Record < sp.First+left {
			err = f.CheckRead(c.at.Record)
		}
		return shard.Damaged(err)
	}
	return nil
}

// seek finds the offset of a record of the first file.
func (c *spanCutter) seek(ctx context.Context, f *source.Input, record int64) error {
	if c.at.Record == 0 {
		c.marks = marksOf(ctx, f, c.layout)
		if c.indexed = c.marks != nil; !c.indexed {
			c.marks = f.Marks
		}
	}
	before := c.at
	if behind := sort.Search(len(c.marks), func(i int) bool { return c.marks[i].Record > record }); behind > 0 {
		before = c.marks[behind-1]
	}
	if before.Record == record {
		c.at = before
		return nil
	}
	if c.walk.File == nil {
		file, err := storage.Open(ctx, f.Path)
		if err != nil {
			return err
		}
		c.walk = recordcount.FrameWalk{
			File: storage.Forward(file), Size: f.Size, Window: c.walk.Window, At: c.at,
			O: tfrecord.ReaderOptions{Name: f.Path, MaxRecord: c.maxRecord, Checksum: tfrecord.ChecksumLength},
		}
	}
	if before.Record > c.walk.At.Record {
		c.walk.At = before
	}
	err := c.walk.To(ctx, record)
	c.at = c.walk.At
	return err
}

// close closes the open file.
func (c *spanCutter) close() {
	if c.walk.File != nil {
		c.walk.File.Close()
		c.walk.File = nil
	}
}
