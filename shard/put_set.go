package shard

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// PutSet completes the set with the files that describe it: first those for TFDS, which it removes
// instead if TFDS cannot read this set, and last the manifest. If the directory has a set, this
// replaces it in one step; shards of the old set that m does not list are removed.
//
// PutSet fills in fields of m that are empty: Format, Version, Tool, Compression, Records, Features,
// the records of splits, and fingerprints. It returns an error, and writes nothing, if m contradicts
// itself (manifest.Manifest.Check), if it lists a shard that is not there or other than committed, if
// it does not list one that was committed, or if its features contradict the records that were
// written. Shards that this Dir did not write are read and compared.
func (d *Dir) PutSet(m *manifest.Manifest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("describe the set in %s: %w", d.Path(), ErrClosed)
	}
	if len(d.open) > 0 {
		return fmt.Errorf("describe the set in %s: %d shards are neither committed nor aborted", d.Path(), len(d.open))
	}
	kept, err := d.checkShards(m)
	if err != nil {
		return fmt.Errorf("describe the set in %s: %w", d.Path(), err)
	}
	seen := d.seen()
	d.fillIn(m, seen)
	if err := errors.Join(m.Check(), d.checkFeatures(m, seen)); err != nil {
		return fmt.Errorf("describe the set in %s: %w", d.Path(), err)
	}
	return d.put(m, kept)
}

// checkShards compares the manifest with the shards that are there. It returns the names of those that
// this Dir did not write.
func (d *Dir) checkShards(m *manifest.Manifest) (kept map[string]bool, err error) {
	kept = map[string]bool{}
	listed := map[string]bool{}
	for _, split := range m.Splits {
		for _, info := range split.Shards {
			listed[info.File] = true
			w := d.committed[info.File]
			switch {
			case w == nil && d.at.Shards().HasContent(info):
				kept[info.File] = true
			case w == nil:
				return nil, fmt.Errorf("there is no shard %s of %d bytes with the SHA-256 %q", info.File, info.Bytes, info.SHA256)
			case info.Records != w.info.Records || info.Bytes != w.info.Bytes || info.SHA256 != w.info.SHA256:
				return nil, fmt.Errorf("the shard %s was committed with %d records in %d bytes, and the manifest says %d in %d, or another SHA-256",
					info.File, w.info.Records, w.info.Bytes, info.Records, info.Bytes)
			}
		}
	}
	for file := range d.committed {
		if !listed[file] {
			return nil, fmt.Errorf("the shard %s was committed, and the manifest does not list it", file)
		}
	}
	if d.old != nil && d.at.Remote() {
		for _, split := range d.old.Splits {
			for _, info := range split.Shards {
				if !kept[info.File] {
					return nil, fmt.Errorf("the shard %s of the set is not in the new one, and a set in an object store cannot be replaced in one step: write to a new directory", info.File)
				}
			}
		}
	}
	return kept, d.checkOthers(listed)
}

// checkOthers returns an error if the directory has TFRecords that are in neither set.
func (d *Dir) checkOthers(listed map[string]bool) error {
	old := map[string]bool{}
	if d.old != nil {
		for _, file := range d.old.Files() {
			old[file] = true
		}
	}
	entries, err := storage.Parse(d.Path()).ReadDir(d.ctx)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); tfrecordName(name) && !Describes(name) && !listed[name] && !old[name] {
			return fmt.Errorf("%s is there, and the manifest does not list it: list it, or move it away", name)
		}
	}
	return nil
}

// fillIn fills in the empty fields of a manifest; seen is the scan of the records, nil if there were none.
func (d *Dir) fillIn(m *manifest.Manifest, seen *features.Scan) {
	if m.Format == "" && m.Version == 0 {
		m.Format, m.Version = manifest.Format, manifest.Version
	}
	if m.Tool == "" {
		m.Tool = build.Tool
	}
	if m.Compression == "" {
		m.Compression = d.compression().String()
	}
	if m.Labels == nil {
		m.Labels = []string{}
	}
	if m.Records == "" && m.Features == nil && seen != nil {
		m.Records, m.Features, _ = seen.Describe()
	}
	if m.Features == nil {
		m.Features = []manifest.Feature{}
	}
	m.Features = features.ByKey(m.Features)
	for i := range m.Splits {
		split := &m.Splits[i]
		var records int64
		for j := range split.Shards {
			info := &split.Shards[j]
			records += info.Records
			if info.Fingerprint == "" {
				info.Fingerprint = fingerprint.OfShard(*info)
			}
		}
		if split.Records == 0 {
			split.Records = records
		}
	}
	if m.Fingerprint == "" {
		m.Fingerprint = fingerprint.OfSet(m)
	}
}

// compression returns the compression of the shards that were committed.
func (d *Dir) compression() tfrecord.Compression {
	for _, w := range d.committed {
		return max(w.o.Compression, tfrecord.CompressionNone)
	}
	return tfrecord.CompressionNone
}

// seen returns a scan of all records that were written; nil if there were none.
func (d *Dir) seen() *features.Scan {
	if len(d.committed) == 0 {
		return nil
	}
	total := features.NewScan()
	for _, w := range d.committed {
		total.Merge(w.scan)
	}
	return total
}

// checkFeatures compares the manifest with the records that were written. Of shards that were kept, the
// records are not known.
func (d *Dir) checkFeatures(m *manifest.Manifest, seen *features.Scan) error {
	for file, w := range d.committed {
		if c := max(w.o.Compression, tfrecord.CompressionNone).String(); c != m.Compression {
			return fmt.Errorf("the shard %s has the compression %s, and the manifest says %s", file, c, m.Compression)
		}
	}
	if seen == nil || m.Records != manifest.RecordExample {
		return nil
	}
	records, have, odd := seen.Describe()
	if records != manifest.RecordExample {
		return errors.New("not all records are tf.train.Examples, and the manifest says that they are")
	}
	return features.CheckStated(m.Features, have, odd)
}

// put writes the manifest and the files for TFDS.
func (d *Dir) put(m *manifest.Manifest, kept map[string]bool) (err error) {
	if d.staging || d.old != nil && !d.at.Remote() {
		err = d.replace(m, kept)
	} else {
		err = d.at.PutSet(m)
	}
	if err != nil {
		return err
	}
	clear(d.committed)
	d.old, err = d.at.Manifest() // the caller may change m
	return err
}

// replace replaces the set of a local directory in one step.
func (d *Dir) replace(m *manifest.Manifest, kept map[string]bool) error {
	if !d.staging {
		if err := d.at.Staged().Discard(); err != nil {
			return err
		}
		d.staging = true
	}
	if err := d.at.Stage().PutSet(m); err != nil {
		return err
	}
	var old []string
	for _, file := range d.old.Files() {
		if !kept[file] && !kept[shardOfIndex(file)] {
			old = append(old, file)
		}
	}
	d.staging = false // Replace leaves nothing staged
	return d.at.Staged().Replace(old)
}

// shardOfIndex returns the name of the shard whose index has the given name; "" for other files.
func shardOfIndex(file string) string {
	name, ok := strings.CutPrefix(file, manifest.IndexDir+"/")
	if !ok {
		return ""
	}
	name, _ = strings.CutSuffix(name, ".idx")
	return name
}
