package setdir

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/manifest"
)

// PutSet writes the files that describe the set: first those for TFDS, which it removes instead if
// TFDS cannot read this set, and last the manifest.
func (d *Dir) PutSet(m *manifest.Manifest) error {
	files, err := manifest.EncodeTFDS(m)
	if err != nil {
		return err
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	for _, name := range manifest.TFDSFiles(m.Features) {
		if files[name] == nil {
			if err := d.Remove(name); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := d.Put(name, files[name]); err != nil {
			return err
		}
	}
	return d.Put(manifest.File, data)
}

// Manifest returns the manifest of the directory; nil if there is none.
func (d *Dir) Manifest() (*manifest.Manifest, error) {
	m, err := manifest.Read(d.ctx, d.Join(manifest.File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}
