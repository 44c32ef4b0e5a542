package setdir

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
)

// Sweep removes the partial files of killed runs, and locks that only joined processes use.
func (d *Dir) Sweep() error {
	if err := d.at.Sweep(ours(d)); err != nil {
		return fmt.Errorf("sweep temporary files: %w", err)
	}
	return nil
}

// ours returns a function that reports whether a name in this directory is tfrec's: listed in the
// manifest or in the state of a run, part of the state itself, or any name if an export is writing
// the directory.
func ours(d *Dir) func(name string) (bool, error) {
	var named map[string]bool
	var exporting bool
	return func(name string) (bool, error) {
		if exporting || strings.HasPrefix(name, place.StateDir+"/") {
			return true, nil
		}
		if named == nil { // computed lazily: few calls need it
			var err error
			if exporting, err = d.Exists(ExportFile); exporting || err != nil {
				return exporting, err
			}
			files := []string{manifest.File}
			r, err := d.State().Run()
			if err != nil {
				return false, err
			}
			if r != nil {
				files = slices.Concat(files, r.Files, r.Stale)
			}
			if m, err := d.Manifest(); err == nil && m != nil {
				files = append(files, m.Files()...)
			}
			named = make(map[string]bool, len(files))
			for _, file := range files {
				named[path.Clean(file)] = true
			}
		}
		return named[name], nil
	}
}
