package reshape

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/set/recordcount"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// inputs are the files that a run reads, in order.
type inputs struct {
	readOptions // complete

	files  []*input
	splits []string // of the files
	// described is the merged content of the manifests. Features is nil if some files have no
	// manifest, or one without features.
	described manifest.Manifest
	known     bool    // described has the features of all files
	bareLabel string  // key of the label feature of files without a manifest; empty if unknown
	remaps    bool    // some files need other label ids
	bySplit   []int64 // records of each split, after counting
}

// input is one file of records to reshape.
type input struct {
	recordcount.Counted
	split int    // index into inputs.splits
	first int64  // number of its first record among all inputs
	place int64  // the same within its split
	remap *remap // of its label ids; nil if they do not change
}

// records returns the number of records in all files.
func (in *inputs) records() int64 {
	var n int64
	for _, r := range in.bySplit {
		n += r
	}
	return n
}

// unpacked returns the approximate uncompressed size of all frames in bytes.
func (in *inputs) unpacked() int64 {
	var n int64
	for _, f := range in.files {
		switch {
		case f.Compression == tfrecord.CompressionNone:
			n += f.Size
		case f.Frames > 0:
			n += f.Frames
		default:
			n += f.Size * guessedRatio
		}
	}
	return n
}

// guessedRatio is the assumed compression ratio of a file.
const guessedRatio = 3

// openInputs expands paths to files: in the order of the paths, and by name within each path.
func openInputs(ctx context.Context, paths []string, o readOptions) (*inputs, error) {
	if len(paths) == 0 {
		_, err := shard.Expand(ctx, paths, o.Expand)
		return nil, err
	}
	in := &inputs{readOptions: o.complete()}
	var all []shard.Source
	for _, path := range paths {
		sources, err := shard.Expand(ctx, []string{path}, o.Expand)
		if err != nil {
			return nil, err
		}
		all = append(all, sources...)
	}
	shares.NameSplits(all)
	sets := map[string]*shard.Set{} // one per directory
	for _, s := range all {
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
	in.dropUnusedSplits()
	in.bySplit = make([]int64, len(in.splits))
	return in, nil
}

// checkUnchanged calls shard.CheckUnchanged for all files.
func (in *inputs) checkUnchanged(ctx context.Context) error {
	sources := make([]shard.Source, len(in.files))
	for i, f := range in.files {
		sources[i] = f.Source
	}
	return shard.CheckUnchanged(ctx, sources)
}

// addSplits adds the splits of a set in the order of its manifest.
func (in *inputs) addSplits(s *shard.Set) {
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

// dropUnusedSplits removes splits without any input file.
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

func (in *inputs) add(ctx context.Context, s shard.Source) error {
	if err := shard.CheckSplit(s.Split); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	st, err := storage.Stat(ctx, s.Path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, and inputs are read more than once: copy it to a file first", s.Path)
	}
	in.files = append(in.files, &input{Counted: recordcount.Counted{Source: s, Size: st.Size()}, split: in.splitNamed(s.Split)})
	return nil
}

// count finds the number of records in each file: from its manifest, which is verified when the
// file is read, or else from the frame headers.
func (in *inputs) count(ctx context.Context) error {
	g, counting := errgroup.WithContext(ctx)
	g.SetLimit(in.Workers)
	for _, f := range in.files {
		g.Go(func() error {
			if err := counting.Err(); err != nil {
				return err
			}
			return f.Count(counting, in.MaxRecord, nil)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var first int64
	for _, f := range in.files {
		f.first, f.place = first, in.bySplit[f.split]
		first += f.Records
		in.bySplit[f.split] += f.Records
	}
	return nil
}

// checkRead compares the number of records read with the number counted or given by the manifest.
func (f *input) checkRead(records int64) error {
	if records == f.Records {
		return nil
	}
	if f.Info != nil && f.Info.Records == f.Records {
		return f.CheckCount(records)
	}
	return fmt.Errorf("%s %w: it has %s, and had %d", f.Path, errChanged, plural.Of(records, "record"), f.Records)
}
