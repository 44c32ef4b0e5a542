package source

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

// Inputs are the files that a run reads, in order.
type Inputs struct {
	Options // complete

	Files  []*Input
	Splits []string // of the files
	// Described is the merged content of the manifests. Features is nil if some files have no
	// manifest, or one without features.
	Described manifest.Manifest
	Known     bool    // Described has the features of all files
	BareLabel string  // key of the label feature of files without a manifest; empty if unknown
	Remapped  bool    // some files need other label ids
	BySplit   []int64 // records of each split, after counting
}

// Input is one file of records.
type Input struct {
	recordcount.Counted
	SplitIndex   int    // index into Inputs.Splits
	First        int64  // number of its first record among all inputs
	FirstInSplit int64  // the same within its split
	Remap        *Remap // of its label ids; nil if they do not change
}

// Records returns the number of records in all files.
func (in *Inputs) Records() int64 {
	var n int64
	for _, r := range in.BySplit {
		n += r
	}
	return n
}

// Unpacked returns the approximate uncompressed size of all frames in bytes.
func (in *Inputs) Unpacked() int64 {
	var n int64
	for _, f := range in.Files {
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

// Open expands paths to files: in the order of the paths, and by name within each path.
func Open(ctx context.Context, paths []string, o Options) (*Inputs, error) {
	if len(paths) == 0 {
		_, err := shard.Expand(ctx, paths, o.Expand)
		return nil, err
	}
	in := &Inputs{Options: o.complete()}
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
	in.BySplit = make([]int64, len(in.Splits))
	return in, nil
}

// CheckUnchanged calls shard.CheckUnchanged for all files.
func (in *Inputs) CheckUnchanged(ctx context.Context) error {
	sources := make([]shard.Source, len(in.Files))
	for i, f := range in.Files {
		sources[i] = f.Source
	}
	return shard.CheckUnchanged(ctx, sources)
}

// addSplits adds the splits of a set in the order of its manifest.
func (in *Inputs) addSplits(s *shard.Set) {
	for _, split := range s.Splits {
		in.splitNamed(split.Name)
	}
}

func (in *Inputs) splitNamed(name string) int {
	i := slices.Index(in.Splits, name)
	if i < 0 {
		i = len(in.Splits)
		in.Splits = append(in.Splits, name)
	}
	return i
}

// dropUnusedSplits removes splits without any input file.
func (in *Inputs) dropUnusedSplits() {
	used := make([]bool, len(in.Splits))
	for _, f := range in.Files {
		used[f.SplitIndex] = true
	}
	names := in.Splits
	in.Splits = nil
	for i, name := range names {
		if used[i] {
			in.Splits = append(in.Splits, name)
		}
	}
	for _, f := range in.Files {
		f.SplitIndex = slices.Index(in.Splits, names[f.SplitIndex])
	}
}

func (in *Inputs) add(ctx context.Context, s shard.Source) error {
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
	in.Files = append(in.Files, &Input{Counted: recordcount.Counted{Source: s, Size: st.Size()}, SplitIndex: in.splitNamed(s.Split)})
	return nil
}

// Count finds the number of records in each file: from its manifest, which is verified when the
// file is read, or else from the frame headers.
func (in *Inputs) Count(ctx context.Context) error {
	g, counting := errgroup.WithContext(ctx)
	g.SetLimit(in.Workers)
	for _, f := range in.Files {
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
	for _, f := range in.Files {
		f.First, f.FirstInSplit = first, in.BySplit[f.SplitIndex]
		first += f.Records
		in.BySplit[f.SplitIndex] += f.Records
	}
	return nil
}

// CheckRead compares the number of records read with the number counted or given by the manifest.
func (f *Input) CheckRead(records int64) error {
	if records == f.Records {
		return nil
	}
	if f.Info != nil && f.Info.Records == f.Records {
		return f.CheckCount(records)
	}
	return fmt.Errorf("%s %w: it has %s, and had %d", f.Path, ErrChanged, plural.Of(records, "record"), f.Records)
}
