package shard

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/setdir"
)

// PutSet writes the files that describe the set: first those for TFDS, which it removes instead if
// TFDS cannot read this set, and last the manifest.
func PutSet(d *setdir.Dir, m *Manifest) error {
	files, err := EncodeTFDS(m)
	if err != nil {
		return err
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	for _, name := range TFDSFiles(m.Features) {
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
	return d.Put(ManifestFile, data)
}

// ManifestIn returns the manifest of a directory; nil if there is none.
func ManifestIn(d *setdir.Dir) (*Manifest, error) {
	m, err := ReadManifest(d.Context(), d.Join(ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// ManifestFiles returns the names of the files that the manifest at path lists, including its own,
// relative to its directory.
func ManifestFiles(ctx context.Context, path string) ([]string, error) {
	m, err := ReadManifest(ctx, path)
	if err != nil {
		return nil, err
	}
	return m.Files(), nil
}
