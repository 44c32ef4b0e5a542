package tables

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"sort"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/tablefile"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/table"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// tableSource is a planned conversion of tables.
type tableSource struct {
	o       *TableOptions
	kind    string // the option "source"
	tables  *tablefile.Tables
	files   []inputFile // of tables
	columns *tableColumns
	splits  []string // names, sorted if the files state them
	byName  bool     // they do
	chunks  []rowChunk
	pick    picker
	planned []plan.Shard
	ranges  []rowRange  // of each shard
	shuffle *shuffle    // nil if rows keep the order of the input
	dir     *setdir.Dir // the directory of the set
	reading *inputFile  // the file of the last requested chunk

	encoders sync.Pool // of *rowEncoder
	// preceding[s][c] is the number of rows of split s before chunk c; the last element is the
	// total.
	preceding [][]int64
}

// inputFile is one of the files, with the hashers of its rows.
type inputFile struct {
	*tablefile.File
	hashers rowHashers
	split   int // of all rows, if names of files state splits
}

// rowChunk is a chunk of one of the files.
type rowChunk struct {
	table.Chunk
	file int
}

// rowRange is the rows of a shard: rows [from, to) of a split, counted in the order of the input.
type rowRange struct {
	split    int
	from, to int64
}

// planTable assigns the rows to splits and shards: to the splits of their files or, if splits is
// nil, to the splits of the options. The plan holds chunks, not rows.
func planTable(ctx context.Context, o *TableOptions, t *tablefile.Tables, columns *tableColumns, splits []string, before *plan.Previous) (*tableSource, error) {
	s := &tableSource{o: o, tables: t, columns: columns, splits: o.splitNames(splits), byName: splits != nil}
	o.NoteNewIDs(before, columns.labels)
	for i, f := range t.Files {
		in := inputFile{File: f, hashers: newRowHashers(o.Seed, f.As)}
		if s.byName {
			in.split = slices.Index(s.splits, splits[i])
		}
		s.files = append(s.files, in)
		for _, c := range f.Chunks() {
			s.chunks = append(s.chunks, rowChunk{c, i})
		}
	}
	s.encoders.New = func() any { return newRowEncoder(o, columns, newRows(t)) }
	if err := s.makePicker(ctx); err != nil {
		return nil, err
	}
	if err := s.countRows(ctx); err != nil {
		return nil, err
	}
	for i, split := range s.splits {
		rows := s.preceding[i][len(s.chunks)]
		if rows == 0 {
			o.Notef("split %s gets no rows and is left out", split)
			continue
		}
		s.planSplit(i, split, rows, o.ExistingShards(before, split))
	}
	if o.Shuffle {
		var err error
		if s.shuffle, err = newShuffle(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// planSplit cuts the rows of a split into shards of equal length.
func (s *tableSource) planSplit(split int, name string, rows int64, existing int) {
	count := int64(s.o.CountShards(name, rows, "row", func() int64 { return rows * s.estimate() }, existing))
	for i := range count {
		r := rowRange{split, rowCut(i, count, rows), rowCut(i+1, count, rows)}
		s.ranges = append(s.ranges, r)
		s.planned = append(s.planned, plan.Shard{
			Name:    shard.Name{Dataset: s.o.Name, Split: name, Index: int(i), Count: int(count)},
			Samples: r.to - r.from,
		})
	}
}

// rowCut returns where part i of count begins when rows are cut evenly.
func rowCut(i, count, rows int64) int64 {
	return rows/count*i + min(i, rows%count)
}

// estimate returns the approximate size of a record in bytes.
func (s *tableSource) estimate() int64 {
	size := int64(20)
	for _, f := range s.columns.features {
		const wrapping = 12 // the fields around a value
		size += int64(len(f.Key)) + wrapping
		for range f.Columns {
			if f.Type == TypeBytes || f.List {
				size += s.tables.Bytes / s.tables.Rows / int64(len(s.columns.types))
			} else {
				size += 4
			}
		}
	}
	return size
}

// countRows fills in preceding.
func (s *tableSource) countRows(ctx context.Context) error {
	counts := make([][]int64, len(s.splits))
	for i := range counts {
		counts[i] = make([]int64, len(s.chunks)+1)
	}
	var g errgroup.Group
	g.SetLimit(s.o.Goroutines())
	for c := range s.chunks {
		chunk := &s.chunks[c]
		if s.pick.all {
			counts[s.files[chunk.file].split][c+1] = chunk.Rows
			continue
		}
		g.Go(func() error {
			f := &s.files[chunk.file]
			for i := range chunk.Rows {
				if split := s.pick.split(f, chunk.FirstRow+i); split >= 0 {
					counts[split][c+1]++
				}
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, n := range counts {
		for c := range s.chunks {
			n[c+1] += n[c]
		}
	}
	s.preceding = counts
	return nil
}

// eachRow calls yield for every row with its file and its number in that file, until the context
// ends.
func (s *tableSource) eachRow(ctx context.Context, yield func(f *inputFile, row int64)) error {
	for i := range s.chunks {
		c := &s.chunks[i]
		f := &s.files[c.file]
		for row := c.FirstRow; row < c.FirstRow+c.Rows; row++ {
			yield(f, row)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// part is the rows of a shard in one chunk: rows [from, to) of its split, counted within the chunk.
type part struct {
	chunk    int
	split    int
	from, to int64
}

// parts returns the parts of a range.
func (s *tableSource) parts(r rowRange) iter.Seq[part] {
	return func(yield func(part) bool) {
		preceding := s.preceding[r.split]
		first := sort.Search(len(s.chunks), func(c int) bool { return preceding[c+1] > r.from })
		for c := first; c < len(s.chunks) && preceding[c] < r.to; c++ {
			p := part{c, r.split, max(r.from-preceding[c], 0), min(r.to, preceding[c+1]) - preceding[c]}
			if p.from < p.to && !yield(p) {
				return
			}
		}
	}
}

// identityOf appends the identity of a part, the same on every machine: the content of its chunk,
// the selected rows, how they are converted, and their names in the ledger.
func (s *tableSource) identityOf(dst []byte, p part) []byte {
	c := &s.chunks[p.chunk]
	name := s.files[c.file].As
	dst = append(dst, s.columns.digest[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(name)))
	dst = append(dst, name...)
	for _, n := range []int64{c.FirstLine, c.FirstRow, p.from, p.to} {
		dst = binary.AppendVarint(dst, n)
	}
	if limit := s.pick.limit; limit != nil { // it decides which rows of the chunk there are
		dst = binary.AppendUvarint(dst, limit.hash)
		dst = binary.AppendVarint(dst, limit.row)
	}
	return append(dst, c.Hash[:]...)
}

// Layout implements plan.Source.
func (s *tableSource) Layout() plan.Layout {
	return plan.Layout{Shards: s.planned, Options: s.effective(), Table: s.table(), LeftOut: plan.LeftOutOf(&s.tables.Account)}
}

// Describe implements plan.Source.
func (s *tableSource) Describe(m *manifest.Manifest) { s.columns.describe(m, s.o.Label) }

// LabelCounts implements plan.Source.
func (s *tableSource) LabelCounts(byID map[int32]int64) map[string]int64 {
	if s.columns.labels == nil {
		return nil
	}
	return plan.CountsByName(byID, s.columns.labels)
}

// picker decides which split a row is in, if any.
type picker struct {
	all    bool              // every row is in the split of its file
	shares []plan.SplitShare // nil if all rows of a file are in its split
	limit  *bound            // rows at or after it are dropped
}

// rowHashers hash the rows of one file by their numbers, so that adding a file does not move any.
type rowHashers struct{ limit, split, shard, order shares.Hasher }

func newRowHashers(seed uint64, name string) rowHashers {
	of := func(p shares.Purpose) shares.Hasher { return shares.Hasher(shares.NewHasher(seed, p).Key(name)) }
	return rowHashers{of(shares.ForLimit), of(shares.ForSplit), of(shares.ForShard), of(shares.ForOrder)}
}

// makePicker determines which rows the limit drops.
func (s *tableSource) makePicker(ctx context.Context) error {
	if len(s.splits) > 1 && !s.byName {
		s.pick.shares = s.o.SplitShares()
	}
	limited := s.o.Limit > 0 && s.o.Limit < s.tables.Rows
	s.pick.all = !limited && s.pick.shares == nil
	if !limited {
		return nil
	}
	found, err := bounds(func(yield func(uint64, int64)) error {
		return s.eachRow(ctx, func(f *inputFile, row int64) { yield(f.hashers.limit.Number(row), f.FirstRow+row) })
	}, s.tables.Rows, []int64{s.o.Limit})
	if err != nil {
		return err
	}
	s.pick.limit = &found[0]
	return nil
}

// split returns the split of a row of a file, or -1 for a dropped row.
func (p *picker) split(f *inputFile, row int64) int {
	if p.all {
		return f.split
	}
	if p.limit != nil && !p.limit.above(f.hashers.limit.Number(row), f.FirstRow+row) {
		return -1
	}
	if p.shares == nil {
		return f.split
	}
	return shares.ShareOf(f.hashers.split.Number(row), p.shares)
}
