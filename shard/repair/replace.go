package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// A set is repaired in place in the same way as an append (see journal.go of internal/set/setdir): the
// originals are kept, all new files are staged below .tfrec, and then a journal lists the renames.
// Until then the set is unchanged; afterwards the next command completes the change, and a repair
// returns the report of the interrupted one.

// stagedReport is the report that belongs to the journal of a repair.
const stagedReport = setdir.StageDir + "/repair.json"

// resume completes an interrupted replacement of files of the set. It reports true if that was the
// same repair.
func (r *repair) resume(in string) (done bool, err error) {
	j, err := setdir.ReadJournal(r.dir)
	if j == nil || err != nil {
		return false, err
	}
	report := new(Report)
	known, err := r.dir.State().ReadFile(stagedReport, report)
	if err != nil {
		return false, err
	}
	request, err := repairRequest(in)
	if err != nil {
		return false, err
	}
	if err := j.Complete(r.dir); err != nil {
		return false, fmt.Errorf("complete the interrupted change of %s: %w", r.dir.Path(), err)
	}
	if !known || j.Request != request {
		return false, nil
	}
	*r.report = *report
	for _, f := range report.Files {
		r.unreported = append(r.unreported, unreportedPath(r.dir.Join(filepath.Base(f.Path))))
	}
	return true, nil
}

// repairRequest identifies a repair in place.
func repairRequest(in string) (string, error) {
	path, err := setdir.Resolve(in)
	return "repair " + path.Path(), err
}

// setInPlace repairs files of a set, and updates its metadata.
func (r *repair) setInPlace(sources []shard.Source, set *shard.Set, file, in string) (err error) {
	request, err := repairRequest(in)
	if err != nil {
		return err
	}
	if err := r.dir.Staged().Discard(); err != nil { // of an interrupted repair
		return err
	}
	x := &replacement{repair: r, set: set, journal: setdir.Journal{Request: request}}
	if err := x.make(sources, file); err != nil {
		// Keep the originals unless the journal is certain to be gone.
		if abandoned := r.dir.Staged().Abandon(); abandoned != nil {
			return errors.Join(err, abandoned)
		}
		return errors.Join(err, r.takeBack())
	}
	if len(x.journal.Moves) == 0 {
		return nil
	}
	if err := (&x.journal).Complete(r.dir); err != nil {
		return fmt.Errorf("%w; the set is partly repaired: the same command completes it", err)
	}
	return nil
}

// replacement is the change of a set by a repair.
type replacement struct {
	*repair
	set     *shard.Set
	journal setdir.Journal
	staged  map[string]string // paths of the new shards, by name
}

// make stages all changes and writes the journal. If nothing changes it does neither.
func (x *replacement) make(sources []shard.Source, file string) error {
	infos := make(map[string]manifest.Shard)
	for _, source := range sources {
		info, err := x.shard(source)
		if err != nil {
			return err
		}
		infos[info.File] = info
	}
	m, changed, err := renewed(x.ctx, x.set, infos, func(file string) string {
		if path, ok := x.staged[file]; ok {
			return path
		}
		return x.set.Path(file)
	})
	if err != nil {
		return err
	}
	if changed {
		if err := x.description(m, file); err != nil {
			return err
		}
	}
	if len(x.journal.Moves) == 0 {
		return nil
	}
	if err := atomicfile.SyncDir(x.dir.Join(setdir.StageDir)); err != nil {
		return err
	}
	if err := x.dir.State().PutFile(stagedReport, x.report.Readable()); err != nil {
		return err
	}
	if err := x.ctx.Err(); err != nil {
		return context.Cause(x.ctx)
	}
	return (&x.journal).Begin(x.dir)
}

// shard salvages a shard and stages its replacement, if any.
func (x *replacement) shard(source shard.Source) (manifest.Shard, error) {
	s, q, err := x.salvageInPlace(source)
	if err != nil {
		return manifest.Shard{}, err
	}
	defer s.abort()
	defer q.abort()
	replaced := s.f != nil
	if replaced {
		if err := x.keep(s, q); err != nil {
			return manifest.Shard{}, err
		}
	}
	if s.index != nil {
		if err := x.makeDir(filepath.Dir(manifest.IndexPath(source.Path))); err != nil {
			return manifest.Shard{}, err
		}
		if _, err := x.stage(s.index, "index-"+s.info.File, manifest.IndexName(s.info.File), s.indexMode()); err != nil {
			return manifest.Shard{}, err
		}
		s.index = nil
	}
	if replaced {
		path, err := x.stage(s.f, "shard-"+s.info.File, s.info.File, s.like)
		if err != nil {
			return manifest.Shard{}, err
		}
		s.f = nil
		if x.staged == nil {
			x.staged = make(map[string]string)
		}
		x.staged[s.info.File] = path
	}
	x.add(s.salvage)
	return s.info, nil
}

// stage moves a temporary file to the stage, and adds its final name to the journal.
func (x *replacement) stage(f *os.File, as, name string, like fs.FileInfo) (path string, err error) {
	if err := x.dir.Mkdir(setdir.StageDir); err != nil {
		return "", err
	}
	as = setdir.StageDir + "/" + as
	path = x.dir.Join(as)
	if err := x.commit(f, path, like); err != nil {
		return "", err
	}
	x.journal.Moves = append(x.journal.Moves, setdir.Move{From: as, To: name})
	return path, nil
}

// description stages the metadata files, the manifest last.
func (x *replacement) description(m *manifest.Manifest, file string) error {
	files, err := setdir.Metadata(m)
	if err != nil {
		return err
	}
	for _, name := range m.MetadataFiles() {
		is, err := x.dir.Exists(name)
		if err != nil {
			return err
		}
		if is && files[name] == nil {
			x.journal.Remove = append(x.journal.Remove, name)
		}
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	described, err := os.Stat(x.dir.Join(file))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := x.describe(name, files[name], described); err != nil {
			return err
		}
	}
	return x.describe(file, data, described)
}

// describe stages a metadata file, unless the existing one is the same.
func (x *replacement) describe(name string, data []byte, like fs.FileInfo) error {
	path := x.dir.Join(name)
	before, err := osfile.Read(x.ctx, path, manifest.MaxSize)
	switch {
	case err == nil && bytes.Equal(before, data):
		return nil
	case err == nil:
		if like, err = os.Stat(path); err != nil {
			return err
		}
	case !storage.Missing(err):
		return err
	}
	f, err := x.dir.TempFile(name)
	if err != nil {
		return err
	}
	if _, err = osfile.NewFile(x.ctx, f).Write(data); err == nil {
		_, err = x.stage(f, "file-"+name, name, like)
	}
	if err != nil {
		atomicfile.Discard(f)
	}
	return err
}
