package reshape

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// oldFilesOf returns the files named by the manifests of the sets in the directory, relative to it;
// nil if there is no set.
func oldFilesOf(ctx context.Context, d *setdir.Dir) ([]string, error) {
	subs := []string{""}
	f, err := finishedOf(d)
	if err != nil {
		return nil, err
	}
	if f != nil {
		for _, s := range f.Sets {
			if s.Sub != "" && filepath.IsLocal(filepath.FromSlash(s.Sub)) {
				subs = append(subs, s.Sub)
			}
		}
	}
	var files []string
	for _, sub := range subs {
		m, err := manifest.Read(ctx, d.Join(sub+manifest.File))
		if storage.Missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, file := range m.Files() {
			files = append(files, sub+file)
		}
	}
	return files, nil
}

// replaceSet makes a set that replaces the one with the given old files.
func replaceSet(ctx context.Context, in []string, out, name string, old []string, o *Options, v *verb) (*Report, error) {
	dir, err := setdir.Open(ctx, out, setdir.Options{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.DiscardStage(); err != nil {
		return nil, err
	}
	stage := *o
	stage.Overwrite, stage.Name = false, name
	report, err := reshape(ctx, in, dir.Join(setdir.StageDir), &stage, v)
	if err != nil {
		return nil, errors.Join(err, dir.Abandon())
	}
	if err := replaceByStaged(dir, old); err != nil {
		return nil, err
	}
	return report, nil
}

// replaceByStaged replaces the set with the given old files by the staged set.
func replaceByStaged(d *setdir.Dir, old []string) error {
	j, err := replacing(d, old)
	if err == nil {
		err = d.Begin(j)
	}
	if err != nil {
		return errors.Join(err, d.Abandon())
	}
	if err := d.Complete(j); err != nil {
		return fmt.Errorf("%w; the set is partly replaced: the next tfrec command on it completes the change", err)
	}
	return nil
}

// replacing returns the journal that replaces the old files by the staged ones: manifests after the
// files that they name, the directory's own manifest last.
func replacing(d *setdir.Dir, old []string) (*setdir.Journal, error) {
	stage := d.Join(setdir.StageDir)
	var files, manifests []string
	err := filepath.WalkDir(stage, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == shard.StateDir:
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(stage, path)
		name = filepath.ToSlash(name)
		if filepath.Base(path) == manifest.File {
			manifests = append(manifests, name)
		} else {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(manifests, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	named := make(map[string]bool, len(old))
	for _, name := range old {
		named[name] = true
	}
	state := shard.StateDir + "/" + setdir.FinishedFile
	j := new(setdir.Journal)
	renewed := map[string]bool{}
	var names []string // of new files
	for _, name := range slices.Concat(files, []string{state}, manifests) {
		if name != state && !named[name] {
			names = append(names, name)
		}
		j.Moves = append(j.Moves, setdir.Move{From: setdir.StageDir + "/" + name, To: name})
		renewed[name] = true
	}
	if err := setdir.MustBeVacant(d, names); err != nil {
		return nil, err
	}
	for _, name := range old {
		if !renewed[name] {
			j.Remove = append(j.Remove, name)
		}
	}
	return j, nil
}
