package annotation

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// classFiles are the names of files that list classes next to YOLO's labels.
var classFiles = []string{"_darknet.labels", "classes.txt", "data.yaml", "data.yml", "obj.names"}

// IsClassFile reports whether a file may list the classes of YOLO's labels, by its name in any case.
func IsClassFile(base string) bool { return slices.Contains(classFiles, strings.ToLower(base)) }

// ClassLists returns the lists of classes among Files. Without one they are those in the directory
// that this one is in; or, of labels/train and train/labels, in the one above that.
func (d *Directory) ClassLists(ctx context.Context) ([]storage.Location, error) {
	var found []storage.Location
	for _, f := range d.Files {
		if IsClassFile(path.Base(f.Name)) {
			found = append(found, d.at.Join(f.Name))
		}
	}
	at := d.at
	if !at.Remote() { // "." has no name
		whole, err := filepath.Abs(at.String())
		if err != nil {
			return nil, err
		}
		at = storage.Parse(whole)
	}
	const labels = "labels"
	levels := 1
	if at.Base() == labels || at.Dir().Base() == labels {
		levels = 2
	}
	for up := at.Dir(); len(found) == 0 && levels > 0; up, levels = up.Dir(), levels-1 {
		entries, err := up.ReadDir(ctx)
		if err != nil && !storage.Missing(err) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		for _, e := range entries {
			if !IsClassFile(e.Name()) {
				continue
			}
			if st, err := up.Join(e.Name()).Stat(ctx); err == nil && st.Mode().IsRegular() {
				found = append(found, up.Join(e.Name()))
			}
		}
	}
	return found, nil
}
