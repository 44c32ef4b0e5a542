package fileset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/reader/internal/pipeline"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// Set is the files of a dataset, and the part of them that is read. It is safe for concurrent use.
type Set struct {
	Opts pipeline.Options
	*files
}

// files is shared by sets with different options.
type files struct {
	sources []shard.Source

	mu          sync.Mutex
	stamps      []stamp            // by source
	indexes     []*FileIndex       // by source; nil until needed
	fingerprint string             // "" until identify
	parts       map[[2]int][]Piece // by worker and number of workers, as far as needed

	Joined []*Set // the joined sets, in the order of their files; nil for a set of Open
}

func newFiles(sources []shard.Source) *files {
	return &files{sources: sources, indexes: make([]*FileIndex, len(sources)), parts: map[[2]int][]Piece{}}
}

// As returns the set with other options, which must treat each file the same and divide the set
// among the same workers.
func (s *Set) As(o pipeline.Options) *Set {
	return &Set{Opts: o, files: s.files}
}

// OpenAll opens what all paths name, in the order of the file names.
func OpenAll(ctx context.Context, paths []string, o pipeline.Options) (*Set, error) {
	if err := pipeline.CompleteOptions(&o); err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Note})
	if err != nil {
		return nil, withRemedy(err)
	}
	if o.Split != "" {
		all := sources
		sources = slices.DeleteFunc(slices.Clone(sources), func(s shard.Source) bool { return s.Split != o.Split })
		if len(sources) == 0 {
			return nil, fmt.Errorf("%s: %w in a split %q; %s", paths[0], shard.ErrNoRecords, o.Split, SplitsOf(all))
		}
	}
	s := &Set{Opts: o, files: newFiles(sources)}
	if err := s.stampFiles(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// withRemedy adds to the error of an incomplete set how to complete it.
func withRemedy(err error) error {
	var part *shard.IncompleteError
	if !errors.As(err, &part) {
		return err
	}
	then := "complete it with the tfrec command that wrote it"
	switch {
	case part.Tasks:
		then = fmt.Sprintf("run the remaining tasks of the array job, then %s", optname.ConvertFinalize)
	case part.Command() != "":
		then = "make it whole with: " + part.Command()
	}
	return fmt.Errorf("%w; %s; %s reads the shards that exist", err, then, optname.OptionsPartial)
}

// SplitsOf lists the existing splits, including empty ones.
func SplitsOf(sources []shard.Source) string {
	var names []string
	for _, s := range sources {
		if s.Set != nil {
			for _, split := range s.Set.Splits {
				names = append(names, split.Name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return "no manifest names any: leave Split empty, or give the files of the split"
	}
	return "there are: " + strings.Join(names, ", ")
}

// Sources returns the files of all workers, ordered by name.
func (s *Set) Sources() []shard.Source { return s.sources }

// Files returns the number of files, for all workers.
func (s *Set) Files() int { return len(s.sources) }

// Path returns the path of the record's file.
func (s *Set) Path(r pipeline.Record) string { return s.sources[r.File].Path }

// Locate adds file, record and offset to an error from parsing the record.
func (s *Set) Locate(r pipeline.Record, err error) error {
	var e *tfrecord.Error
	if !errors.As(err, &e) || e.Record >= 0 {
		return err
	}
	return &tfrecord.Error{
		Name: s.Path(r), Record: r.Number, Offset: r.Offset, Part: e.Part,
		Err: fmt.Errorf("byte %d of the record: %w", e.Offset, e.Err),
	}
}
