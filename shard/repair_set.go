package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// sourcesOf returns the files of a directory or of a manifest, and the set that they
// are, if there is one. Shards that a manifest names are among them, there or not.
func (r *repair) sourcesOf(path string) ([]Source, *Set, error) {
	var missing *IncompleteError
	e := expander{ctx: r.ctx, incomplete: func(e *IncompleteError) { missing = e }}
	err := e.add([]string{path})
	if err != nil {
		return nil, nil, err
	}
	set := e.sources[0].Set
	if set != nil {
		if missing, _, err = set.lacks(); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case missing == nil:
	case !r.o.Partial:
		return nil, nil, missing
	case r.o.Note != nil:
		r.o.Note(missing.taken())
	}
	return e.sources, set, nil
}

// folder repairs a folder or a set into a new folder.
func (r *repair) folder(in, out string) error {
	sources, set, err := r.sourcesOf(in)
	if err != nil {
		return err
	}
	for _, source := range sources {
		r.o.Progress.plan(source.Path)
	}
	from := storage.Dir(sources[0].Path)
	if err := apart(from, out); err != nil {
		return err
	}
	before, err := ViewDir(out).Run()
	if err != nil {
		return err
	}
	again := before != nil // of a repair that was killed, or openOut refuses
	dir, err := openOut(r.ctx, out, repairVerb, "")
	if err != nil {
		return err
	}
	defer dir.Close()
	r.dir = dir
	// It lies beside the folder, so that its work file does, too.
	q := &quarantine{path: filepath.Clean(out) + QuarantineSuffix, work: workFile}
	if !again {
		if err := mustBeFree(q.path); err != nil {
			return err
		}
	}
	defer q.abort()
	names, err := described(from)
	if err != nil {
		return err
	}
	for _, source := range sources {
		name := filepath.Base(source.Path)
		names = append(names, name, filepath.ToSlash(IndexPath(name)))
	}
	if set != nil {
		names = append(names, set.Files()...)
	}
	err = dir.PutRun(&Run{Options: map[string]json.RawMessage{OptionVerb: json.RawMessage(strconv.Quote(repairVerb))}, Files: names})
	if err == nil {
		err = r.intoFolder(sources, set, q)
	}
	if err == nil {
		err = forget(dir)
	}
	if err != nil {
		err = errors.Join(err, q.takeBack(), dir.Remove(names...))
		os.Remove(dir.join(IndexDir)) // it may have been made for an index to come
		return errors.Join(err, forget(dir))
	}
	return nil
}

// repairVerb is what the state of a repair under way says that it is.
const repairVerb = "repair"

// intoFolder repairs the files into the folder.
func (r *repair) intoFolder(sources []Source, set *Set, q *quarantine) error {
	dir := r.dir
	infos := make(map[string]Info)
	for _, source := range sources {
		name := filepath.Base(source.Path)
		path := dir.join(name)
		m, err := r.mend(source, path, q)
		if err != nil {
			return err
		}
		err = m.place(path, m.indexed || set != nil)
		m.abort()
		if err != nil {
			return err
		}
		r.add(m.salvage)
		infos[name] = m.info
	}
	if err := copyDescriptions(storage.Dir(sources[0].Path), dir); err != nil {
		return err
	}
	if err := q.commit(); err != nil {
		return err
	}
	if q.spans > 0 {
		r.report.Quarantine = q.path
	}
	if set == nil {
		return nil
	}
	m, _, err := renewed(set, dir, infos)
	if err != nil {
		return err
	}
	return dir.PutSet(m)
}

// described returns the names of what describes the shards of a folder beside
// them, but for manifest and indexes, which are made anew.
func described(dir string) ([]string, error) {
	entries, err := storage.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		made := name == ManifestFile || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, QuarantineSuffix)
		if describes(name) && !made && isFile(storage.Join(dir, name)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// copyDescriptions copies what describes the shards of a folder into dir.
func copyDescriptions(from string, dir *Dir) error {
	names, err := described(from)
	for _, name := range names {
		data, err := readFile(storage.Join(from, name))
		if err == nil {
			err = dir.Put(name, data)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// folderInPlace repairs what is damaged in a folder or a set.
func (r *repair) folderInPlace(in string) error {
	sources, set, err := r.sourcesOf(in)
	if err != nil {
		return err
	}
	for _, source := range sources {
		r.o.Progress.plan(source.Path)
	}
	dir, err := OpenDir(r.ctx, storage.Dir(sources[0].Path), DirOptions{})
	if err != nil {
		return err
	}
	defer dir.Close()
	r.dir = dir
	return r.inPlace(sources, set)
}

// inPlace repairs files of a folder, and brings the manifest of the set that
// they are of up to date.
func (r *repair) inPlace(sources []Source, set *Set) (err error) {
	if r.dir != nil {
		if err := r.dir.Sweep(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.dir.Sweep()) }()
	}
	infos := make(map[string]Info)
	for _, source := range sources {
		m, err := r.mendInPlace(source)
		if err != nil {
			return err
		}
		r.add(m.salvage)
		infos[m.info.File] = m.info
	}
	if set == nil {
		return nil
	}
	m, changed, err := renewed(set, r.dir, infos)
	if err != nil || !changed {
		return err
	}
	return r.dir.PutSet(m)
}

// renewed is the manifest of a set of which some shards are others now, that
// lie in dir.
func renewed(set *Set, dir *Dir, infos map[string]Info) (m *Manifest, changed bool, err error) {
	one := *set.Manifest
	m = &one
	m.Splits = make([]Split, len(set.Splits))
	for i, split := range set.Splits {
		m.Splits[i] = Split{Name: split.Name, Shards: append([]Info(nil), split.Shards...)}
		s := &m.Splits[i]
		for j := range s.Shards {
			info := &s.Shards[j]
			now, known := infos[info.File]
			if known && (now.SHA256 != info.SHA256 || now.Records != info.Records || now.Bytes != info.Bytes) {
				changed = true
				now.Fingerprint = contentFingerprint(now)
				if info.Labels != nil {
					if now.Labels, err = countLabels(dir.join(info.File), m); err != nil {
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
		m.Fingerprint = setFingerprint(m)
	}
	return m, changed, nil
}

// countLabels counts the labels in a shard of the set that m describes. Records
// that are no Examples have none; verify names them.
func countLabels(path string, m *Manifest) (map[string]int64, error) {
	r, err := Open(path, tfrecord.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	labels := m.labelCounter()
	var example tfrecord.Example
	for record, err := range r.All() {
		if err != nil {
			return nil, err
		}
		if example.Parse(record) == nil {
			labels.add(&example)
		}
	}
	return labelCounts(labels.byID, m.Labels), nil
}

// apart refuses a folder to write into that is, lies in, or holds the one to
// read from, symbolic links followed.
func apart(in, out string) error {
	from, err := resolve(in)
	if err != nil {
		return err
	}
	to, err := resolve(out)
	if err != nil {
		return err
	}
	switch {
	case from == to:
		return fmt.Errorf("%s is the input: give another directory, or --in-place", out)
	case within(from, to):
		return fmt.Errorf("%s lies in the input %s: give a folder elsewhere", out, in)
	case within(to, from):
		return fmt.Errorf("%s holds the input %s: give a folder elsewhere", out, in)
	}
	return nil
}

// within reports whether path lies below dir; both are resolved.
func within(dir, path string) bool { return path != dir && liesIn(path, dir) }
