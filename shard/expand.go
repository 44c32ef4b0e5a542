package shard

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// ErrNoRecords says that an input exists but has no TFRecord file: an empty directory, or a glob
// that matches nothing.
var ErrNoRecords = errors.New("no TFRecord files")

// Set is a finished set: a manifest and its directory.
type Set struct {
	Dir string
	*manifest.Manifest
	// Partial says that the directory lacks shards of the set. Manifest then lists only the
	// existing ones, unlike the manifest file.
	Partial bool

	// old are the files that a running process is replacing. The Set is then the previous version,
	// whose files are in oldDir.
	old map[string]bool

	at storage.Location // Dir; zero if not known yet
}

// location returns Dir as a Location. A Set that is not of this package has none yet.
func (s *Set) location() storage.Location {
	if s.at.Path() != s.Dir {
		return storage.Parse(s.Dir)
	}
	return s.at
}

// Path returns the path of a file of the set, given its name relative to the set's directory.
func (s *Set) Path(name string) string { return s.location().Join(s.place(name)).Path() }

// place returns the current path of a file of the set, relative to its directory.
func (s *Set) place(name string) string {
	if s.old[name] {
		return setdir.OldDir + "/" + name
	}
	return name
}

// Shards returns the shards in the manifest, in its order.
func (s *Set) Shards() []Source {
	var sources []Source
	dir := s.location()
	for _, split := range s.Splits {
		for i := range split.Shards {
			info := &split.Shards[i]
			sources = append(sources, Source{Path: dir.Join(s.place(info.File)).Path(), Set: s, Split: split.Name, Info: info})
		}
	}
	return sources
}

// Source is a record file to read.
type Source struct {
	// Path of the file, relative to whatever the paths given to Expand are relative to.
	Path string
	// Set whose manifest lists the file; nil if there is none.
	Set *Set
	// Split and Info come from Set's manifest.
	Split string
	Info  *manifest.Shard
}

// Expand resolves paths to record files, in name order. A path is one of:
//
//   - a record file; if the manifest in its directory lists it, that is its Set,
//   - a manifest (any name that ends in .json): all shards that it lists, existing or not,
//   - a directory with a manifest: the same,
//   - a directory without one: its *.tfrecord* files or, if there are none, the files
//     that follow the naming conventions of other writers (see habits); not recursive,
//   - a glob, as of filepath.Match: the matching files, except metadata (manifests,
//     indexes, TFDS's files, cards) and, as in a shell, dot files unless the pattern begins
//     with a dot; if only directories match, each is expanded as above.
//
// The error for a missing path unwraps to fs.ErrNotExist, the error for one without record files to
// ErrNoRecords.
//
// A directory or a manifest means a whole set: if shards are missing according to the manifest, the
// names of the other shards or the state of an unfinished run, the error is an *IncompleteError
// unless ExpandOptions.Partial is set. Files, and globs that match files, mean just these files.
//
// If a process was interrupted while it replaced the set, Expand first completes the replacement,
// under the lock of the directory. While a running process is replacing the set, Expand returns the
// previous version.
func Expand(ctx context.Context, paths []string, o ExpandOptions) ([]Source, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// Expansion is the result of ExpandSets.
type Expansion struct {
	// Sources are the files, without duplicates.
	Sources []Source
	// Sets are the sets whose shards are all in Sources.
	Sets []*Set
}

// ExpandSets is like Expand but also returns the whole sets. A file that several paths resolve to
// is one Source, with its entry in the manifest if it has one.
func ExpandSets(ctx context.Context, paths []string, o ExpandOptions) (*Expansion, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.add(paths); err != nil {
		return nil, err
	}
	return &Expansion{distinct(e.sources), e.sets}, nil
}

// ExpandSet is like ExpandSets for a set whose manifest was read from the file at path.
func ExpandSet(ctx context.Context, set *Set, path string, o ExpandOptions) (*Expansion, error) {
	e := expander{ctx: ctx, o: o}
	if err := e.addSet(set, path); err != nil {
		return nil, err
	}
	return &Expansion{e.sources, e.sets}, nil
}

// LooseFiles returns the record files of a directory, ignoring its manifest: those with TFDS's
// names or, if there are none, those that follow the conventions of other writers. If there are
// none, the error unwraps to ErrNoRecords.
func LooseFiles(ctx context.Context, dir string) ([]Source, error) {
	e := expander{ctx: ctx}
	if err := e.addLoose(storage.Parse(dir)); err != nil {
		return nil, err
	}
	return e.sources, nil
}

// distinct drops duplicate sources, preferring those with a manifest entry.
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

// ExpandOptions configures Expand. The zero value requires whole sets.
type ExpandOptions struct {
	// Partial accepts the existing shards of sets that lack shards, or whose run has not completed.
	Partial bool
	// Note, if not nil, is called with a human-readable message for each partial set.
	Note func(sentence string)
	// Incomplete, if not nil, is called with what is missing from a set. The existing shards are
	// then used.
	Incomplete func(*IncompleteError)
	// BadManifest, if not nil, is called with the error of an unusable manifest. Its directory is
	// then treated as one without a manifest.
	BadManifest func(path string, err error)
}

// Describes reports whether a file of that name is metadata, such as a manifest or an index.
func Describes(name string) bool {
	switch name {
	case manifest.File, manifest.LedgerFile, manifest.LabelMapFile, manifest.TFDSInfoFile, manifest.TFDSFeaturesFile:
		return true
	}
	return strings.HasSuffix(name, labels.FileSuffix) || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, setdir.QuarantineSuffix)
}

// ofCard reports whether a file of that name is a part of the card of a set.
func ofCard(name string) bool {
	return name == manifest.CardFile || name == manifest.CroissantFile || name == manifest.SamplesFile
}

func tfrecordName(name string) bool {
	return strings.Contains(name, ".tfrecord") && !strings.HasPrefix(name, ".")
}

// habits matches the record file names of writers other than TFDS: the Object Detection API
// (x.record), Kaggle (x.tfrec), TFX and Yggdrasil (data_tfrecord-00000-of-00001.gz), Beam and
// tensor2tensor (part-00000-of-00003), Hadoop and Spark (part-r-00000, part-00000-UUID-c000.gz),
// TensorBoard.
var habits = regexp.MustCompile(`\.records?(\.gz|-|$)|\.tfrec(\.|$)|[_-]tfrecord|-\d{5,}-of-\d{5,}(\.|$)|` +
	`^part-([mr]-)?\d{5,}(-[0-9a-f-]{36}([-.]c\d+)?)?(\.gz|\.deflate|\.zst)?$|^events\.out\.tfevents\.`)

func otherHabit(name string) bool {
	return habits.MatchString(name) && !strings.HasPrefix(name, ".")
}
