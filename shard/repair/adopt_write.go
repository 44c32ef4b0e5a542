package repair

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/annotation/objects"
	"github.com/tfrec/tfrec/internal/build"
	"github.com/tfrec/tfrec/internal/naming"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/features"
	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/tfds"
	"github.com/tfrec/tfrec/internal/store/osfile"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// describe builds the manifest from what was read.
func (a *adoption) describe() error {
	m := &manifest.Manifest{Options: map[string]json.RawMessage{"verb": json.RawMessage(`"adopt"`)}, Labels: []string{}}
	if a.before != nil {
		one := *a.before
		m = &one
		m.Splits = nil
	} else if a.tfds.Features {
		m.Options["tfds"] = json.RawMessage(`"found"`)
	}
	m.Format, m.Version = manifest.Format, manifest.Version
	m.Tool = cmp.Or(m.Tool, build.Tool)
	if m.Name = a.name(m.Name); m.Name == "" {
		return fmt.Errorf("cannot derive the dataset's name from %s: give one", a.dir.Path())
	}
	scan := features.NewScan()
	for i, f := range a.files {
		c := f.c.String()
		if i > 0 && c != m.Compression {
			return fmt.Errorf("%s is compressed with %s, and %s with %s: make one set of them with %s", a.files[0].info.File, m.Compression, f.info.File, c, optname.ReshapeReshard)
		}
		m.Compression = c
		scan.Merge(f.scan)
	}
	for _, sentence := range scan.Notes() {
		a.note("%s", sentence)
	}
	records, features, odd := scan.Describe()
	m.Records = records
	for _, key := range odd {
		a.note("feature %q has no values, or values of several kinds: it is not described", key)
	}
	if records == "" {
		a.note("not all records are Examples, so there are no features to describe")
	}
	key, names, err := a.label(features)
	if err != nil {
		return err
	}
	counted := key // as each record has one label
	renew := a.before == nil || len(a.before.Features) == 0 || a.o.Labels != nil || a.o.Label != ""
	if m.LabelMap = m.LabelMap && !renew; renew && a.o.Labels == nil && (names == nil || key == objects.KeyLabel) {
		mapped, err := a.labelMap(features)
		if err != nil {
			return err
		}
		if m.LabelMap = mapped != nil; m.LabelMap {
			key, names, counted = objects.KeyLabel, mapped, ""
		}
	}
	if names != nil {
		m.Labels = names
		i := slices.IndexFunc(features, func(f manifest.Feature) bool { return f.Key == key })
		features[i].Class = manifest.ClassLabel
	} else if key != "" {
		a.note("feature %q may be the label, but its label names are unknown: %s gives them", key, optname.AdoptOptionsLabels)
		key, counted = "", ""
	}
	a.report.Label, a.report.Labels = key, m.Labels
	if renew {
		m.Features = features
	}
	a.set = m
	a.splits(counted)
	return nil
}

// name returns the name of the dataset.
func (a *adoption) name(before string) string {
	shared := ""
	for i, f := range a.files {
		n, ok := shard.ParseName(f.info.File)
		if !ok || i > 0 && n.Dataset != shared {
			shared = ""
			break
		}
		shared = n.Dataset
	}
	said := a.tfds.Name()
	if shard.CheckDataset(said) != nil {
		said = ""
	}
	name := cmp.Or(a.o.Name, before, said, shared)
	if name == "" {
		if at, err := setdir.Resolve(a.dir.Path()); err == nil {
			name = naming.SnakeCase(at.Base())
		}
	}
	if shard.CheckDataset(name) != nil {
		return ""
	}
	return name
}

// splits adds the files to the manifest. The existing entry of an unchanged file is kept.
func (a *adoption) splits(label string) {
	m := a.set
	known := map[string]manifest.Shard{}
	if a.before != nil {
		for _, split := range a.before.Splits {
			for _, info := range split.Shards {
				known[info.File] = info
			}
		}
	}
	for _, f := range a.files {
		if len(m.Splits) == 0 || m.Splits[len(m.Splits)-1].Name != f.split {
			m.Splits = append(m.Splits, manifest.Split{Name: f.split})
		}
		s := &m.Splits[len(m.Splits)-1]
		f.info.Fingerprint = fingerprint.OfShard(f.info)
		if was, ok := known[f.info.File]; ok && was.SHA256 == f.info.SHA256 {
			f.info.Fingerprint = was.Fingerprint
		}
		if seen := f.seen[label]; seen != nil {
			f.info.Labels = labels.CountsByName(seen.ids, m.Labels)
		}
		s.Records += f.info.Records
		s.Shards = append(s.Shards, f.info)
		a.report.Records += f.info.Records
		a.report.Bytes += f.info.Bytes
	}
	a.report.Name = m.Name
	for _, s := range m.Splits {
		a.report.Splits[s.Name] = shard.SplitSummary{Records: s.Records, Shards: len(s.Shards)}
	}
	if a.before == nil || a.before.Fingerprint == "" || !slices.EqualFunc(a.before.Splits, m.Splits, sameShards) {
		m.Fingerprint = fingerprint.OfSet(m)
	}
}

func sameShards(a, b manifest.Split) bool {
	return a.Name == b.Name && slices.EqualFunc(a.Shards, b.Shards, func(x, y manifest.Shard) bool {
		return x.File == y.File && x.Fingerprint == y.Fingerprint
	})
}

// ownTFDS reports whether TFDS's files are generated from the manifest.
func (a *adoption) ownTFDS() bool {
	return a.before != nil && string(a.before.Options["tfds"]) != `"found"`
}

// metadata returns the content of the files other than shards, by name. TFDS files by other
// programs are kept, except for the counts in them.
func (a *adoption) metadata() (map[string][]byte, error) {
	m := a.set
	files, err := setdir.Metadata(m)
	if err != nil {
		return nil, err
	}
	if m.LabelMap && a.hasLabelMap(m) {
		delete(files, manifest.LabelMapFile)
	}
	_, described := files[manifest.TFDSInfoFile]
	a.report.TFDS = described || tfds.CanLoad(m) && a.tfds.Features
	if !a.ownTFDS() {
		if a.tfds.Features {
			delete(files, manifest.TFDSFeaturesFile)
		}
		if a.tfds.Info != nil {
			delete(files, manifest.TFDSInfoFile)
			info, err := a.tfds.Renewed(m)
			if err != nil {
				return nil, err
			}
			if info != nil && tfds.CanLoad(m) {
				files[manifest.TFDSInfoFile] = info
			}
		} else if a.tfds.Features && tfds.CanLoad(m) && !described {
			if files[manifest.TFDSInfoFile], err = manifest.EncodeTFDSFile(m.TFDSInfo(), "  "); err != nil {
				return nil, err
			}
		}
	}
	switch split := m.Nameless(); {
	case split != "":
		a.note("TFDS cannot load the set: its metadata cannot express the shard names of split %s (rename them, or let %s do it)", split, optname.RepairAdopt)
	case m.Compression != tfrecord.CompressionNone.String():
		a.note("TFDS cannot load the set: it does not read compressed shards")
	case !a.report.TFDS:
		a.note("TFDS cannot load the set: its features are not known")
	}
	if files[manifest.File], err = m.Encode(); err != nil {
		return nil, err
	}
	return files, nil
}

// compare lists the differences from the existing files.
func (a *adoption) compare(renames []rename, files map[string][]byte) error {
	for _, r := range renames {
		a.change(r.To, r.From)
	}
	for _, f := range a.files {
		if f.mayHave && (f.indexWas != "" || f.wasMoved != "") {
			a.change(filepath.ToSlash(manifest.IndexPath(f.finalName)), cmp.Or(f.indexWas, "other"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		was, err := osfile.Read(a.ctx, a.dir.Join(name), manifest.MaxSize)
		switch {
		case storage.Missing(err):
			a.change(name, "missing")
		case err != nil:
			return err
		case !bytes.Equal(was, files[name]):
			a.change(name, "other")
		default:
			delete(files, name)
		}
	}
	return nil
}

func (a *adoption) change(file, was string) {
	a.report.Changes = append(a.report.Changes, Change{File: file, Was: was})
}

// write makes the changes, the manifest last.
func (a *adoption) write(renames []rename, files map[string][]byte) error {
	// If this run is killed, the next one must know who wrote TFDS's files.
	if err := a.dir.State().Put(adoptingFile, adopting{!a.tfds.Features && a.tfds.Info == nil || a.ownTFDS()}); err != nil {
		return err
	}
	if err := doRenames(a.dir, renames); err != nil {
		return err
	}
	for _, f := range a.files {
		if f.mayHave && (f.indexWas != "" || f.wasMoved != "") {
			if err := a.placeIndex(f); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == manifest.File {
			continue
		}
		if err := a.dir.Put(name, files[name]); err != nil {
			return err
		}
	}
	if data := files[manifest.File]; data != nil {
		if err := a.dir.Put(manifest.File, data); err != nil {
			return err
		}
	}
	err := a.dir.Remove(shard.StateDir + "/" + adoptingFile)
	a.prune(setdir.ShardsDir)
	return err
}

// adopting is the state of an Adopt that is writing.
type adopting struct {
	Made bool `json:"made"` // it generates TFDS's files
}

const adoptingFile = "adopt.json"
