package repair

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/par"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// IndexOptions configures Index. The zero value builds missing indexes.
type IndexOptions struct {
	// Partial accepts the existing shards of incomplete sets, and Note is called for each such set
	// (see [shard.ExpandOptions]).
	Partial bool
	Note    func(sentence string)
	// Force rebuilds all indexes, including existing ones.
	Force bool
	// Check writes nothing and compares every index with its file.
	Check bool
	// Workers is the number of files to read concurrently. Default: GOMAXPROCS.
	Workers int
	// MaxRecord is the maximum size of a record in bytes. Default: 1 GiB.
	MaxRecord int64
	// Progress, if not nil, is updated during the run.
	Progress *shard.ReadProgress
}

// IndexStatus is the status of an index.
type IndexStatus string

// The statuses of the index of a file.
const (
	IndexBuilt   IndexStatus = "built"   // it was missing or different
	IndexKept    IndexStatus = "kept"    // it exists and was not checked
	IndexCurrent IndexStatus = "current" // it is correct
	IndexMissing IndexStatus = "missing" // with Check: there is none
	IndexWrong   IndexStatus = "wrong"   // with Check: it does not match the file
	IndexNone    IndexStatus = "none"    // the file is compressed and has no index
	IndexDamaged IndexStatus = "damaged" // the file is damaged: nothing was written
)

// IndexReport is the result of Index. Its JSON form is `tfrec index --json`.
type IndexReport struct {
	// OK is true if every file is intact and has its index, if it can have one.
	OK    bool        `json:"ok"`
	Built int64       `json:"built"`
	Files []FileIndex `json:"files"`
	// Faults of damaged files, and of indexes that Check found wrong.
	Faults []shard.Fault `json:"faults"`
}

// FileIndex describes a file and its index.
type FileIndex struct {
	Path   string      `json:"path"`
	Index  string      `json:"index"`
	Status IndexStatus `json:"status"`
	// Records of the file; 0 if it was not read.
	Records int64 `json:"records"`
}

// Index builds the indexes of the files that paths resolve to (see [shard.Expand]), each
// atomically. Faults in the data are not an error: they are in the report. An error means that a
// file could not be read or written; the report then has the rest.
func Index(ctx context.Context, paths []string, o IndexOptions) (*IndexReport, error) {
	found, err := shard.ExpandSets(ctx, paths, shard.ExpandOptions{Partial: o.Partial, Note: o.Note})
	if err != nil {
		return nil, err
	}
	sources := found.Sources
	for _, s := range sources {
		o.Progress.Plan(ctx, s.Path)
	}
	type result struct {
		file   FileIndex
		faults []shard.Fault
		err    error
	}
	results := make([]result, len(sources))
	par.ForEach(ctx, len(sources), o.Workers, func(next func() (int, bool)) {
		r := tfrecord.NewReader(nil, tfrecord.ReaderOptions{MaxRecord: o.MaxRecord})
		defer r.Close()
		for i, ok := next(); ok; i, ok = next() {
			x := indexing{ctx: ctx, o: &o, r: r, path: sources[i].Path}
			x.file = FileIndex{Path: x.path, Index: manifest.IndexPath(x.path)}
			err := x.run()
			results[i] = result{x.file, x.faults, err}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report := &IndexReport{Files: []FileIndex{}, Faults: []shard.Fault{}}
	var errs []error
	for _, r := range results {
		report.Files = append(report.Files, r.file)
		report.Faults = append(report.Faults, r.faults...)
		if r.file.Status == IndexBuilt {
			report.Built++
		}
		errs = append(errs, r.err)
	}
	err = errors.Join(errs...)
	report.OK = err == nil && len(report.Faults) == 0
	return report, err
}

// indexing builds one index.
type indexing struct {
	ctx    context.Context
	o      *IndexOptions
	r      *tfrecord.Reader
	path   string
	file   FileIndex
	faults []shard.Fault
}

func (x *indexing) run() error {
	_, err := storage.Stat(x.ctx, x.file.Index)
	missing := storage.Missing(err)
	if err != nil && !missing {
		return err
	}
	switch {
	case x.o.Check:
		return x.check(missing)
	case !missing && !x.o.Force:
		x.file.Status = IndexKept
		return nil
	}
	if at := storage.Parse(x.file.Index); at.Remote() {
		return x.upload(at, !missing)
	}
	if err := storage.CheckOutput(x.file.Index); err != nil {
		return err
	}
	there, err := osfile.Exists(x.ctx, filepath.Dir(x.file.Index))
	if err != nil {
		return err
	}
	if err := osfile.MakeOuterDir(x.ctx, filepath.Dir(x.file.Index)); err != nil {
		return err
	}
	f, err := workFile(x.ctx, x.file.Index)
	if err != nil {
		return err
	}
	if err = x.lines(osfile.NewFile(x.ctx, f)); err == nil && x.file.Status == "" {
		if err = placeIndex(x.ctx, f, x.path); err == nil {
			x.file.Status = IndexBuilt
			return nil
		}
	}
	atomicfile.Discard(f)
	if !there {
		os.Remove(filepath.Dir(x.file.Index)) // fails, as intended, if it has other files by now
	}
	return err
}

// upload builds an index in a store. It gets its name when it is complete. Unless replace is set,
// one that another process has made in the meantime is kept.
func (x *indexing) upload(at storage.Location, replace bool) error {
	if err := inject.Fault(x.ctx, "create", x.file.Index); err != nil {
		return err
	}
	store, name, err := at.Store(x.ctx)
	if err != nil {
		return err
	}
	up, err := store.Create(x.ctx, name, storage.CreateOptions{Replace: replace})
	if err != nil {
		return &fs.PathError{Op: "create", Path: x.file.Index, Err: err}
	}
	defer up.Abort()
	if err := x.lines(up); err != nil || x.file.Status != "" {
		return err
	}
	_, err = up.Commit()
	switch {
	case errors.Is(err, fs.ErrExist):
		x.file.Status = IndexKept
	case err != nil:
		return err
	default:
		x.file.Status = IndexBuilt
	}
	return nil
}

// placeIndex puts the index of the file at path in place. It gets the mode and the owner of the
// index that it replaces or, if it is new, the mode of the file.
func placeIndex(ctx context.Context, f *os.File, path string) error {
	index := manifest.IndexPath(path)
	if err := inject.Fault(ctx, "place", index); err != nil {
		return err
	}
	before, err := os.Stat(index)
	if err == nil {
		_, err = atomicfile.Like(f, before)
	} else if storage.Missing(err) {
		if before, err = os.Stat(path); err == nil {
			err = f.Chmod(before.Mode().Perm())
		}
	}
	if err == nil {
		err = atomicfile.Commit(f, index)
	}
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(index))
}

// check compares the existing index with the correct one.
func (x *indexing) check(missing bool) error {
	same, err := compare.Open(x.ctx, x.file.Index)
	if err != nil {
		return err
	}
	defer same.Close()
	if err := x.lines(same); err != nil || x.file.Status != "" {
		return err
	}
	equal, err := same.Equal()
	switch {
	case err != nil:
		return err
	case missing:
		x.file.Status = IndexMissing
		x.faults = append(x.faults, shard.FileFault(x.file.Index, tfrecord.PartIndex, "the index of %s is missing", x.path))
	case !equal:
		x.file.Status = IndexWrong
		x.faults = append(x.faults, shard.FileFault(x.file.Index, tfrecord.PartIndex, "the index does not match %s", x.path))
	default:
		x.file.Status = IndexCurrent
	}
	return nil
}

// lines writes the index of the file to w. If the file can have none, it sets Status.
func (x *indexing) lines(w io.Writer) error {
	f, err := recordscan.Open(x.ctx, x.path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := &recordscan.Meter{Context: x.ctx, File: f, Done: x.o.Progress.Counter()}
	x.r.Reset(in, x.path)
	err = indexLines(x.r, w, &x.file.Records)
	var damage *tfrecord.Error
	switch {
	case in.Err != nil:
		return in.Err
	case errors.Is(err, errCompressed):
		x.file.Status, x.file.Records = IndexNone, 0
		return nil
	case errors.As(err, &damage):
		x.file.Status = IndexDamaged
		fault := shard.FaultOf(x.path, damage)
		fault.Message += "; no index was made" + shard.RepairHint(damage)
		x.faults = append(x.faults, fault)
		return nil
	}
	return err
}

// errCompressed means that a file has no index.
var errCompressed = errors.New("a compressed file has no index")

// indexLines writes the index of the records of r, and counts them.
func indexLines(r *tfrecord.Reader, w io.Writer, records *int64) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var line []byte
	for {
		record, err := r.Next()
		if r.Compression() != tfrecord.CompressionNone && r.Compression() != tfrecord.CompressionAuto {
			return errCompressed
		}
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		*records++
		line = tfrecord.AppendIndex(line[:0], tfrecord.IndexEntry{Offset: r.Offset(), Size: int64(len(record)) + tfrecord.Overhead})
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
}
