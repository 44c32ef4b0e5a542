package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/compare"
	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/output"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// sourcesOf returns the files that a path resolves to, including shards in the manifest that do not
// exist. It returns an error for a set with missing shards unless Partial is set.
func (r *repair) sourcesOf(path string) ([]shard.Source, error) {
	var missing *shard.IncompleteError
	found, err := shard.ExpandSets(r.ctx, []string{path}, shard.ExpandOptions{Incomplete: func(e *shard.IncompleteError) { missing = e }})
	if err != nil {
		return nil, err
	}
	if missing != nil && missing.Evidence == shard.ByRenames {
		return nil, missing
	}
	for _, set := range found.Sets {
		if missing, _, err = set.Lacks(r.ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case missing == nil:
	case !r.o.Partial:
		return nil, missing
	case r.o.Note != nil:
		r.o.Note(missing.Note())
	}
	return found.Sources, nil
}

// directory repairs a directory or a set into a new directory.
func (r *repair) directory(in, out string) error {
	sources, err := r.sourcesOf(in)
	if err != nil {
		return err
	}
	for _, source := range sources {
		r.o.Progress.Plan(r.ctx, source.Path)
	}
	from := storage.Dir(sources[0].Path)
	if err := setdir.MustBeApart(out, from); errors.Is(err, setdir.ErrIsInput) {
		return fmt.Errorf("%w, or %s", err, optname.RepairInPlace)
	} else if err != nil {
		return err
	}
	names, err := described(r.ctx, from)
	if err != nil {
		return err
	}
	x := &repairedSet{repair: r, from: from, out: out, set: sources[0].Set, names: names}
	// The quarantine is next to the directory, and so is its temporary file.
	x.lost = &quarantine{ctx: r.ctx, path: filepath.Clean(out) + setdir.QuarantineSuffix}
	x.lost.work = func(path string) (*os.File, error) { return workFile(r.ctx, path) }
	defer x.lost.abort()
	before, err := setdir.View(r.ctx, out).State().Run()
	if err != nil {
		return err
	}
	if r.finished, err = x.isFinished(before); err != nil {
		return err
	}
	if r.finished {
		return x.compare(sources, before)
	}
	return x.write(sources, before)
}

// repairedSet is a directory that is repaired into another one.
type repairedSet struct {
	*repair
	from, out string
	set       *shard.Set
	names     []string // of metadata files, which are copied
	lost      *quarantine
}

// isFinished reports whether the output may be what this repair would write: a repair that was
// killed at its very end leaves no state, or state and a manifest. The output is then compared with the bytes that
// the repair would write. No record of a finished repair would help: the report names every
// damaged range, so the input is read in any case.
func (x *repairedSet) isFinished(before *setdir.Run) (bool, error) {
	if before != nil {
		return setdir.View(x.ctx, x.out).Exists(manifest.File)
	}
	for name, err := range setdir.FirstNames(x.ctx, storage.Parse(x.out)) {
		if err != nil || name != shard.StateDir {
			return err == nil, err
		}
	}
	return false, nil // the output does not exist
}

// compare compares the existing output with the repair's.
func (x *repairedSet) compare(sources []shard.Source, before *setdir.Run) error {
	expected := map[string]bool{shard.StateDir: true}
	for _, source := range sources {
		expected[filepath.Base(source.Path)], expected[manifest.IndexDir] = true, true
	}
	if x.set != nil {
		expected[manifest.File] = true
		for _, name := range x.set.MetadataFiles() {
			expected[name] = true
		}
	}
	for _, name := range x.names {
		expected[name] = true
	}
	for name, err := range setdir.FirstNames(x.ctx, storage.Parse(x.out)) {
		if err != nil {
			return err
		}
		if !expected[name] {
			return output.Differs(x.out, name)
		}
	}
	err := x.put(sources)
	if err != nil {
		err = errors.Join(err, x.takeBack())
	}
	if errors.Is(err, compare.ErrDiffers) {
		return output.Differs(x.out, err.Error())
	}
	if err != nil || before == nil {
		return err
	}
	dir, err := setdir.Open(x.ctx, x.out, setdir.Options{})
	if err != nil {
		return err
	}
	return errors.Join(setdir.Forget(dir), dir.Close())
}

// write writes the directory.
func (x *repairedSet) write(sources []shard.Source, before *setdir.Run) error {
	dir, err := setdir.OpenOut(x.ctx, x.out, setdir.RepairVerb, "", setdir.Options{})
	if err != nil {
		return err
	}
	defer dir.Close()
	x.dir = dir
	if before == nil {
		err = output.MustBeFree(x.lost.path)
	} else { // a killed repair may have left it
		err = osfile.Remove(x.ctx, x.lost.path)
	}
	if err != nil {
		return err
	}
	files := slices.Clone(x.names)
	for _, source := range sources {
		name := filepath.Base(source.Path)
		files = append(files, name, filepath.ToSlash(manifest.IndexPath(name)))
	}
	if x.set != nil {
		files = append(files, x.set.Files()...)
	}
	err = dir.State().PutRun(&setdir.Run{Options: map[string]json.RawMessage{setdir.OptionVerb: json.RawMessage(strconv.Quote(setdir.RepairVerb))}, Files: files})
	if err == nil {
		err = x.put(sources)
	}
	if err == nil {
		err = setdir.Forget(dir)
	}
	if err != nil {
		err = errors.Join(err, x.takeBack(), dir.Remove(files...))
		os.Remove(dir.Join(manifest.IndexDir)) // it may have been created for an index
		return errors.Join(err, setdir.Forget(dir))
	}
	return nil
}

// put repairs the files into the directory, and writes their metadata. If the output is finished it
// only compares.
func (x *repairedSet) put(sources []shard.Source) error {
	infos := make(map[string]manifest.Shard)
	for _, source := range sources {
		path := storage.Join(x.out, filepath.Base(source.Path))
		s, err := x.salvageFile(source, path, x.lost)
		if err != nil {
			return err
		}
		wrong := s.indexIs == IndexWrong || s.indexIs == IndexMissing && x.set != nil
		err = x.putNew(s, path, s.indexIs == IndexCurrent || wrong)
		s.abort()
		if err != nil {
			return err
		}
		if wrong && len(s.damage) == 0 {
			s.file.Index = s.indexIs
		}
		x.add(s.salvage)
		infos[s.info.File] = s.info
	}
	return x.describe(infos)
}

// describe writes, or compares, the metadata files, the manifest last.
func (x *repairedSet) describe(infos map[string]manifest.Shard) error {
	files := make(map[string][]byte)
	for _, name := range x.names {
		data, err := osfile.Read(x.ctx, storage.Join(x.from, name), manifest.MaxSize)
		if err != nil {
			return err
		}
		files[name] = data
	}
	var encoded []byte
	if x.set != nil {
		m, _, err := renewed(x.ctx, x.set, infos, func(file string) string { return storage.Join(x.out, file) })
		if err != nil {
			return err
		}
		metadata, err := setdir.Metadata(m)
		if err != nil {
			return err
		}
		for _, name := range m.MetadataFiles() {
			delete(files, name)
		}
		maps.Copy(files, metadata)
		if encoded, err = m.Encode(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := x.putFile(name, files[name]); err != nil {
			return err
		}
	}
	if err := x.putQuarantine(x.lost); err != nil || encoded == nil {
		return err
	}
	return x.putFile(manifest.File, encoded)
}

// putFile writes a small file, or compares it.
func (x *repairedSet) putFile(name string, data []byte) error {
	if !x.finished {
		return x.dir.Put(name, data)
	}
	before, err := osfile.Read(x.ctx, storage.Join(x.out, name), manifest.MaxSize)
	if err == nil && !bytes.Equal(before, data) || storage.Missing(err) {
		return fmt.Errorf("%s: %w", name, compare.ErrDiffers)
	}
	return err
}

// described returns the names of the metadata files in a directory, except manifest and indexes,
// which are written again.
func described(ctx context.Context, dir string) ([]string, error) {
	entries, err := storage.ReadDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if made := name == manifest.File || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, setdir.QuarantineSuffix); made || !shard.Describes(name) {
			continue
		}
		st, err := storage.Stat(ctx, storage.Join(dir, name))
		switch {
		case storage.Missing(err): // a dangling link
		case err != nil:
			return nil, err
		case st.Mode().IsRegular():
			names = append(names, name)
		}
	}
	return names, nil
}

// renewed returns the manifest of a set after some shards have changed. at returns their paths.
func renewed(ctx context.Context, set *shard.Set, infos map[string]manifest.Shard, at func(file string) string) (m *manifest.Manifest, changed bool, err error) {
	one := *set.Manifest
	m = &one
	m.Splits = make([]manifest.Split, len(set.Splits))
	for i, split := range set.Splits {
		m.Splits[i] = manifest.Split{Name: split.Name, Shards: append([]manifest.Shard(nil), split.Shards...)}
		s := &m.Splits[i]
		for j := range s.Shards {
			info := &s.Shards[j]
			now, known := infos[info.File]
			if known && (now.SHA256 != info.SHA256 || now.Records != info.Records || now.Bytes != info.Bytes) {
				changed = true
				now.Fingerprint = fingerprint.OfShard(now)
				if info.Labels != nil {
					if now.Labels, err = countLabels(ctx, at(info.File), m); err != nil {
						return nil, false, err
					}
				}
				*info = now
			}
			s.Records += info.Records
		}
		changed = changed || s.Records != split.Records
	}
	if changed {
		m.Fingerprint = fingerprint.OfSet(m)
	}
	return m, changed, nil
}

// countLabels counts the labels in a shard of the set that m describes. Records that are not
// Examples have none; verify reports them.
func countLabels(ctx context.Context, path string, m *manifest.Manifest) (map[string]int64, error) {
	r, err := shard.Open(ctx, path, tfrecord.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	counter := labels.NewCounter(manifest.LabelKeys(m.Features), len(m.Labels))
	var example tfrecord.Example
	for record, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if example.Parse(record) == nil {
			counter.Add(&example)
		}
	}
	return labels.CountsByName(counter.ByID, m.Labels), nil
}
