package shard

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/tfrec/tfrec/internal/labels"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// ErrNoRecords says that an input is there but holds no TFRecord file: an
// empty directory, or a glob that matches nothing.
var ErrNoRecords = errors.New("no TFRecord files")

// Set is a finished set at rest: a manifest and the directory that it is in.
type Set struct {
	Dir string
	*Manifest
	// Partial says that the directory lacks shards of the set. Manifest then has
	// those that are there, unlike the manifest file.
	Partial bool

	// old are the files that a living process is replacing: the set is what was
	// there before, and they are in oldDir.
	old map[string]bool
}

// Path returns the path of one of the set's files, named relative to its directory.
func (s *Set) Path(name string) string { return storage.Join(s.Dir, s.place(name)) }

// place is where one of the set's files is, relative to its directory.
func (s *Set) place(name string) string {
	if s.old[name] {
		return setdir.OldDir + "/" + name
	}
	return name
}

// Shards returns what the manifest names, in its order.
func (s *Set) Shards() []Source {
	var sources []Source
	for _, split := range s.Splits {
		for i := range split.Shards {
			info := &split.Shards[i]
			sources = append(sources, Source{Path: s.Path(info.File), Set: s, Split: split.Name, Info: info})
		}
	}
	return sources
}

// Source is a file of records to read.
type Source struct {
	// Path of the file, as a user of the paths given to Expand could open it.
	Path string
	// Set that names the file; nil when none does.
	Set *Set
	// Split and Info are what Set's manifest says of the file.
	Split string
	Info  *Info
}

// Expand finds the files that paths stand for, in name order. A path is
//
//   - a file of records; when the manifest beside it names it, that is its Set,
//   - a manifest (any name that ends in .json): all shards that it names, there or not,
//   - a directory with a manifest: the same,
//   - a directory without one: its *.tfrecord* files or, when there are none, the
//     files that other writers' habits make shards (see habits); directories in it
//     are not searched,
//   - a glob, as of filepath.Match: the files that match, without those that
//     only describe others (manifests, indexes, TFDS's files) and, as in a shell,
//     those that begin with a dot where the glob does not; when only directories
//     match, each of them as above.
//
// A path that is not there unwraps to fs.ErrNotExist, one without any record
// file to ErrNoRecords.
//
// A directory and a manifest stand for a set, which must be whole: when shards are not
// there that its manifest, the names of its shards or the state of a run call for, the
// error is an *IncompleteError, unless ExpandOptions.Partial is set. Files and globs
// that match files stand for themselves.
//
// A change of the set that a process began and did not complete is completed first,
// under the lock of the directory. While a living process is at it, the set is what it
// was before.
func Expand(ctx context.Context, paths []string, o ExpandOptions) ([]Source, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// Expansion is what paths stand for.
type Expansion struct {
	// Sources are the files, each once.
	Sources []Source
	// Sets are those of which the paths stand for all shards.
	Sets []*Set
}

// ExpandSets is Expand for those who look at sets as wholes. A file that several paths
// stand for is one Source, with what a manifest says of it.
func ExpandSets(ctx context.Context, paths []string, o ExpandOptions) (*Expansion, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return &Expansion{distinct(e.sources), e.sets}, nil
}

// ExpandSet is ExpandSets for a set whose manifest was read from the file at path.
func ExpandSet(ctx context.Context, set *Set, path string, o ExpandOptions) (*Expansion, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.addSet(set, path); err != nil {
		return nil, err
	}
	return &Expansion{e.sources, e.sets}, nil
}

// LooseFiles returns the record files of a directory whatever its manifest says: those of
// TFDS's names or, if there are none, those that the habits of other writers make. None is
// an error that unwraps to ErrNoRecords.
func LooseFiles(ctx context.Context, dir string) ([]Source, error) {
	e := expander{ctx: ctx}
	if err := e.addLoose(dir); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// distinct drops sources that were asked for more than once, keeping those
// that a manifest says most of.
func distinct(sources []Source) []Source {
	var kept []Source
	for _, s := range sources {
		if n := len(kept); n > 0 && kept[n-1].Path == s.Path {
			if kept[n-1].Info == nil {
				kept[n-1] = s
			}
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// ExpandOptions say how paths are expanded. The zero value wants whole sets.
type ExpandOptions struct {
	// Partial takes what is there of sets that lack shards, or whose run has not
	// completed.
	Partial bool
	// Note, when not nil, is called with a sentence for each set that is taken in part.
	Note func(sentence string)
	// Incomplete, when not nil, is called with what is missing of a set, which is then
	// taken in part.
	Incomplete func(*IncompleteError)
	// BadManifest, when not nil, is called with the error of a manifest that cannot be
	// used. Its directory is then taken as one without a manifest.
	BadManifest func(path string, err error)
}

// Describes reports whether a file of that name only describes others.
func Describes(name string) bool {
	switch name {
	case ManifestFile, LedgerFile, TFDSInfoFile, TFDSFeaturesFile:
		return true
	}
	return strings.HasSuffix(name, labels.FileSuffix) || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, QuarantineSuffix)
}

func tfrecordName(name string) bool {
	return strings.Contains(name, ".tfrecord") && !strings.HasPrefix(name, ".")
}

// habits are names that writers other than TFDS give to files of records:
// the Object Detection API (x.record), Kaggle (x.tfrec), TFX and Yggdrasil
// (data_tfrecord-00000-of-00001.gz), Beam and tensor2tensor
// (part-00000-of-00003), TensorBoard.
var habits = regexp.MustCompile(`\.records?(\.gz|-|$)|\.tfrec(\.|$)|[_-]tfrecord|-\d{5,}-of-\d{5,}(\.|$)|^events\.out\.tfevents\.`)

func otherHabit(name string) bool {
	return habits.MatchString(name) && !strings.HasPrefix(name, ".")
}
