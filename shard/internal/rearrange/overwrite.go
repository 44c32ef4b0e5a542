package rearrange

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
)

// oldFilesOf returns the files named by the manifests of the sets in the directory, relative to it;
// nil without a set.
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
func replaceSet(ctx context.Context, in []string, out, name string, old []string, o *Options, v *Verb) (*Report, error) {
	dir, err := setdir.Open(ctx, out, setdir.Options{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Staged().Discard(); err != nil {
		return nil, err
	}
	stage := *o
	stage.Overwrite, stage.Name = false, name
	report, err := Make(ctx, in, dir.Join(setdir.StageDir), &stage, v)
	if err != nil {
		return nil, errors.Join(err, dir.Staged().Abandon())
	}
	if err := dir.Staged().Replace(old); err != nil {
		return nil, err
	}
	return report, nil
}
