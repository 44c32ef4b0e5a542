package repair

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfrec/tfrec/internal/store/atomicfile"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
)

// A repair in place that is killed after it has replaced a file, and before its report was
// delivered, must not forget what was lost: the next run finds the file intact. So each
// replacement is preceded by an unreported file in the directory of the originals, which is removed
// once the report was delivered. Until then the next repair of the file reports the loss again.

// unreported describes the loss of a file in a repair in place, before it was reported.
type unreported struct {
	// SHA256 is the hash of the replacement: the loss does not concern a file with other content.
	SHA256  string     `json:"sha256"`
	File    FileReport `json:"file"`
	Damage  []Damage   `json:"damage"`
	Omitted int64      `json:"damage_omitted"`
}

// maxUnreported bounds an unreported file, in bytes.
const maxUnreported = 64 << 20

// unreportedPath returns the path of the unreported file of the file at path. It is hidden, so that
// no glob matches it, and its name does not depend on the length of the file's.
func unreportedPath(path string) string {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	return filepath.Join(filepath.Dir(path), damagedDir, fmt.Sprintf(".tfrec-unreported-%x", sum[:6]))
}

// remember writes the unreported file of a file that is about to be replaced, in a directory that
// keep has made and will sync.
func (r *repair) remember(s *salvagedFile) error {
	path := unreportedPath(s.file.Path)
	data, err := json.Marshal(unreported{SHA256: s.info.SHA256, File: s.file, Damage: s.damage, Omitted: s.omitted})
	if err != nil {
		return err
	}
	f, err := r.work(path)
	if err != nil {
		return err
	}
	if _, err = osfile.NewFile(r.ctx, f).Write(data); err == nil {
		err = r.commit(f, path, s.like)
	}
	if err != nil {
		atomicfile.Discard(f)
		return err
	}
	r.placed = append(r.placed, path)
	r.unreported = append(r.unreported, path)
	return nil
}

// recall adds to s the loss of the file in an earlier repair that did not report it.
func (r *repair) recall(s *salvagedFile) error {
	path := unreportedPath(s.file.Path)
	data, err := osfile.Read(r.ctx, path, maxUnreported)
	if storage.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	r.unreported = append(r.unreported, path)
	var u unreported
	if json.Unmarshal(data, &u) != nil || u.SHA256 != s.info.SHA256 {
		return nil // of another file
	}
	dir := filepath.Dir(path)
	at := func(kept string) string {
		if kept == "" {
			return ""
		}
		return filepath.Join(dir, filepath.Base(kept))
	}
	u.File.Path, u.File.Out = s.file.Path, s.file.Out
	u.File.Original, u.File.Quarantine = at(u.File.Original), at(u.File.Quarantine)
	for i := range u.Damage {
		u.Damage[i].Path = s.file.Path
	}
	s.file, s.damage, s.omitted = u.File, u.Damage, u.Omitted
	return nil
}

// deliver gives the report to the caller, and then removes the unreported files that it covers.
func (r *repair) deliver() error {
	if r.o.Deliver != nil {
		if err := r.o.Deliver(r.report); err != nil {
			return err
		}
	}
	var errs []error
	for _, path := range r.unreported {
		if err := osfile.Remove(r.ctx, path); err != nil && !storage.Missing(err) {
			errs = append(errs, err)
		}
		os.Remove(filepath.Dir(path)) // unless it has an original
	}
	return errors.Join(errs...)
}
