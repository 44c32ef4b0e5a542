package repair

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/inject"
	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// rename is the rename of a shard.
type rename struct {
	From string `json:"from"`
	To   string `json:"to"`
	// SHA256 is the hash of the shard, set in an object store, where renaming copies it.
	SHA256 string `json:"sha256,omitempty"`
}

const (
	renamesFormat  = "tfrec.renames"
	renamesVersion = 1
)

// renameJournal is the content of setdir.RenamesFile.
type renameJournal struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	Renames []rename `json:"renames"`
}

// renames returns the renames to do. It sets every file's final name.
func (a *adoption) renames() ([]rename, error) {
	var list []rename
	at := 0
	for i := range a.set.Splits {
		split := &a.set.Splits[i]
		for j := range split.Shards {
			f := a.files[at]
			at++
			f.finalName = f.info.File
			name := shard.Name{Dataset: a.set.Name, Split: split.Name, Index: j, Count: len(split.Shards)}.String()
			if !a.o.Rename || name == f.info.File {
				continue
			}
			if err := shard.CheckSplit(split.Name); err != nil {
				return nil, err
			}
			list = append(list, rename{f.info.File, name, f.info.SHA256})
			f.wasMoved, f.finalName = f.info.File, name
			split.Shards[j].File = name
			split.Shards[j].Fingerprint = fingerprint.OfShard(split.Shards[j])
		}
	}
	moving := map[string]bool{}
	for _, r := range list {
		moving[r.From] = true
	}
	for _, r := range list {
		taken, err := a.dir.Exists(r.To)
		if err != nil {
			return nil, err
		}
		if taken || moving[r.To] {
			return nil, fmt.Errorf("cannot rename %s to %s, which exists: %w", r.From, r.To, fs.ErrExist)
		}
	}
	if len(list) > 0 {
		a.set.Fingerprint = fingerprint.OfSet(a.set)
	}
	return list, nil
}

// doRenames renames shards, after writing the journal of the renames. It removes the indexes of the
// old names.
func doRenames(dir *setdir.Dir, list []rename) error {
	if len(list) == 0 {
		return nil
	}
	if err := dir.State().Put(setdir.RenamesFile, renameJournal{renamesFormat, renamesVersion, list}); err != nil {
		return err
	}
	return finishRenames(dir)
}

// finishRenames completes interrupted renames.
func finishRenames(dir *setdir.Dir) error {
	begun, err := dir.Exists(shard.StateDir + "/" + setdir.RenamesFile)
	if !begun || err != nil {
		return err
	}
	var j renameJournal
	usable, err := dir.State().Read(setdir.RenamesFile, &j)
	if err != nil {
		return err
	}
	if !usable || j.Format != renamesFormat || j.Version != renamesVersion {
		return fmt.Errorf("%s: this version of tfrec cannot complete this rename journal: use the version that wrote it", dir.Join(shard.StateDir+"/"+setdir.RenamesFile))
	}
	for _, r := range j.Renames {
		if setdir.CheckName(r.From) != nil || setdir.CheckName(r.To) != nil {
			return fmt.Errorf("%s: %q and %q are not shard names: remove the file", dir.Join(shard.StateDir+"/"+setdir.RenamesFile), r.From, r.To)
		}
		if dir.Remote() {
			if err := setdir.Rename(dir, r.From, r.To, r.SHA256); err != nil {
				return err
			}
			if err := dir.Remove(manifest.IndexName(r.From)); err != nil {
				return err
			}
			continue
		}
		done, err := dir.Exists(r.To)
		if err != nil {
			return err
		}
		if !done {
			err := inject.Fault(dir.Context(), "rename", dir.Join(r.To))
			if err == nil {
				err = os.Rename(dir.Join(r.From), dir.Join(r.To))
			}
			if err != nil {
				return err
			}
		}
		if err := osfile.Remove(dir.Context(), manifest.IndexPath(dir.Join(r.From))); err != nil && !storage.Missing(err) {
			return err
		}
	}
	if !dir.Remote() {
		if err := atomicfile.SyncDir(filepath.Clean(dir.Path())); err != nil {
			return err
		}
	}
	if err := renameInManifest(dir, j.Renames); err != nil {
		return err
	}
	return dir.Remove(shard.StateDir + "/" + setdir.RenamesFile)
}

// renameInManifest changes the names of the shards in an existing manifest: otherwise Adopt would
// report the old ones as missing.
func renameInManifest(dir *setdir.Dir, renames []rename) error {
	m, err := dir.Manifest()
	switch {
	case err != nil && recordscan.IsDamage(err):
		return nil // Adopt reports the damage
	case m == nil || err != nil:
		return err
	}
	to := make(map[string]string, len(renames))
	for _, r := range renames {
		to[r.From] = r.To
	}
	changed := false
	for i := range m.Splits {
		for j := range m.Splits[i].Shards {
			info := &m.Splits[i].Shards[j]
			if name := to[info.File]; name != "" {
				info.File = name
				info.Fingerprint = fingerprint.OfShard(*info)
				changed = true
			}
		}
	}
	if !changed {
		return nil
	}
	m.Fingerprint = fingerprint.OfSet(m)
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return dir.Put(manifest.File, data)
}
