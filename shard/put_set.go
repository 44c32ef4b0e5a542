package shard

import (
	"maps"
	"slices"
)

// PutSet writes the files of a set that tell what its shards are: those that
// TFDS reads, or their removal when it reads none of this set, and last the
// manifest.
func (d *Dir) PutSet(m *Manifest) error {
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
