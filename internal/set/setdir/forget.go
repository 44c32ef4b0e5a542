package setdir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/tfrec/tfrec/internal/set/setdir/place"
	"github.com/tfrec/tfrec/manifest"
)

// Discard removes the files that a run named, and its state.
func Discard(dir *Dir, files []string) error {
	subs := map[string]bool{}
	for _, file := range files {
		if sub := filepath.Dir(filepath.FromSlash(file)); sub != "." && sub != manifest.IndexDir {
			subs[strings.TrimSuffix(sub, string(filepath.Separator)+manifest.IndexDir)] = true
		}
	}
	if err := dir.Remove(append(files, place.StateDir+"/"+FinishedFile)...); err != nil {
		return err
	}
	for sub := range subs {
		if !filepath.IsLocal(sub) {
			continue
		}
		if err := ForgetSub(dir.Sub(sub)); err != nil {
			return err
		}
		prune(dir, filepath.ToSlash(filepath.Join(sub, manifest.IndexDir)), filepath.ToSlash(sub))
	}
	prune(dir, manifest.IndexDir) // it may have been created for an index
	return Forget(dir)
}

// prune removes empty directories. A store has none.
func prune(d *Dir, directories ...string) {
	for _, directory := range directories {
		if !d.Remote() {
			os.Remove(d.Join(directory)) // fails, as intended, if it has files that are not ours
		}
	}
}

// ForgetSub removes the temporary files in the directory of a group, which is in the output
// directory and shares its lock.
func ForgetSub(dir *Dir) error {
	if dir.Remote() {
		return nil // they are elsewhere
	}
	return os.RemoveAll(dir.Join(place.StateDir))
}

// Forget removes the state of a run, so that after the run the directory has only the set.
func Forget(dir *Dir) error {
	if err := dir.Sweep(); err != nil {
		return err
	}
	run, err := dir.State().Run()
	if err != nil {
		return err
	}
	if run != nil && run.Plan != "" {
		if err := dir.Remove(ReshardPlanFile, ReshardFailureFile); err != nil {
			return err
		}
	}
	if err := dir.State().Reset(); err != nil {
		return err
	}
	prune(dir, ShardsDir)
	return nil
}

// Reset removes all state from the directory.
func (s State) Reset() error {
	if err := s.dir.Shards().Forget(nil); err != nil {
		return err
	}
	return s.dir.Remove(RunFile)
}
