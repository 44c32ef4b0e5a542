package setdir

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labelmap"
	"github.com/tfrec/tfrec/manifest"
)

// PutSet writes the files that describe the set: first the files of Metadata, where it removes
// those for TFDS if TFDS cannot read this set, and last the manifest.
func (d *Dir) PutSet(m *manifest.Manifest) error {
	files, err := Metadata(m)
	if err != nil {
		return err
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	for _, name := range m.MetadataFiles() {
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

// Metadata returns the content, by name, of the files other than the manifest that describe a set:
// the files for TFDS, if it can read the set, and the label map.
func Metadata(m *manifest.Manifest) (map[string][]byte, error) {
	files, err := manifest.EncodeTFDS(m)
	if err != nil {
		return nil, err
	}
	if files == nil {
		files = map[string][]byte{}
	}
	if m.LabelMap {
		files[manifest.LabelMapFile] = labelmap.Append([]byte{}, labelmap.Classes(m.Labels)) // nil means no file
	}
	return files, nil
}
