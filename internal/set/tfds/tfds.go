// Package tfds reads and updates the files that TFDS keeps next to a dataset.
package tfds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/tfrecord"
)

// FoundTFDS is the contents of TFDS's own files in a directory. A nil *FoundTFDS has none.
type FoundTFDS struct {
	Info     manifest.Object // dataset_info.json; nil if missing
	Features bool            // features.json exists
	// Classes is the number of classes of each class label, by key.
	Classes map[string]int
}

// maxTFDSFile is the largest size of a TFDS file that is read.
const maxTFDSFile = 64 << 20

// FindTFDS reads TFDS's files in a directory.
func FindTFDS(ctx context.Context, dir string) (*FoundTFDS, error) {
	t := &FoundTFDS{Classes: map[string]int{}}
	var err error
	if t.Info, err = ReadObject(ctx, filepath.Join(dir, manifest.TFDSInfoFile)); err != nil {
		return nil, err
	}
	features, err := ReadObject(ctx, filepath.Join(dir, manifest.TFDSFeaturesFile))
	if err != nil {
		return nil, err
	}
	t.Features = features != nil
	for key, v := range FeaturesOf(features) {
		feature, _ := v.(manifest.Object)
		if label, ok := feature["classLabel"].(manifest.Object); ok {
			t.Classes[key] = int(number(label["numClasses"]))
		}
	}
	return t, nil
}

// FeaturesOf returns the features of a FeaturesDict by key.
func FeaturesOf(o manifest.Object) manifest.Object {
	dict, _ := o["featuresDict"].(manifest.Object)
	features, _ := dict["features"].(manifest.Object)
	return features
}

// ReadObject reads a JSON object; nil if the file does not exist.
func ReadObject(ctx context.Context, path string) (manifest.Object, error) {
	data, err := storage.ReadFile(ctx, path, maxTFDSFile)
	if storage.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var o manifest.Object
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("%s: %w; repair or remove it", path, err)
	}
	return o, nil
}

// number parses a 64-bit integer in protobuf's JSON mapping: a string or a number; 0 for anything
// else.
func number(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}

// Name returns the name of the dataset; "" if unknown.
func (t *FoundTFDS) Name() string {
	if t == nil {
		return ""
	}
	name, _ := t.Info["name"].(string)
	return name
}

func (t *FoundTFDS) Splits() []manifest.Object {
	if t == nil {
		return nil
	}
	var splits []manifest.Object
	list, _ := t.Info["splits"].([]any)
	for _, v := range list {
		if s, ok := v.(manifest.Object); ok {
			splits = append(splits, s)
		}
	}
	return splits
}

func (t *FoundTFDS) SplitNames() []string {
	var names []string
	for _, s := range t.Splits() {
		name, _ := s["name"].(string)
		names = append(names, name)
	}
	return names
}

// Files returns the names of the shards listed in dataset_info.json, with their splits.
func (t *FoundTFDS) Files() map[string]string {
	files := map[string]string{}
	for _, s := range t.Splits() {
		split, _ := s["name"].(string)
		template, _ := s["filepathTemplate"].(string)
		if template == "" {
			template = manifest.TFDSTemplate
		}
		lengths, _ := s["shardLengths"].([]any)
		for i := range lengths {
			files[t.file(t.Name(), template, split, i, len(lengths))] = split
		}
	}
	return files
}

func (t *FoundTFDS) file(dataset, template, split string, i, n int) string {
	format, _ := t.Info["fileFormat"].(string)
	if format == "" {
		format = "tfrecord"
	}
	return strings.NewReplacer(
		"{DATASET}", dataset, "{SPLIT}", split, "{FILEFORMAT}", format,
		"{SHARD_X_OF_Y}", fmt.Sprintf("%05d-of-%05d", i, n),
		"{SHARD_INDEX}", fmt.Sprintf("%05d", i), "{NUM_SHARDS}", fmt.Sprintf("%05d", n),
	).Replace(template)
}

// Renewed returns dataset_info.json with the set's numbers, keeping everything else in it; nil if
// nothing changed.
func (t *FoundTFDS) Renewed(m *manifest.Manifest) ([]byte, error) {
	info := manifest.Object{}
	for key, v := range t.Info {
		info[key] = v
	}
	ours, _ := m.TFDSInfo()["splits"].([]any)
	splits := []any{}
	changed := len(ours) != len(t.Splits()) || t.Name() != m.Name
	for _, v := range ours {
		now := v.(manifest.Object)
		split := manifest.Object{}
		for _, s := range t.Splits() {
			if s["name"] == now["name"] {
				for key, v := range s {
					split[key] = v
				}
			}
		}
		if !SameLengths(split["shardLengths"], now["shardLengths"].([]string)) || number(split["numBytes"]) != number(now["numBytes"]) {
			split["shardLengths"], split["numBytes"], changed = now["shardLengths"], now["numBytes"], true
		}
		template, _ := split["filepathTemplate"].(string)
		if !t.Makes(template, now["name"].(string), m) {
			split["filepathTemplate"], changed = now["filepathTemplate"], true
		}
		split["name"] = now["name"]
		splits = append(splits, split)
	}
	if !changed {
		return nil, nil
	}
	info["splits"], info["name"] = splits, m.Name
	return manifest.EncodeTFDSFile(info, "  ")
}

// Makes reports whether a template produces the names of a split's shards.
func (t *FoundTFDS) Makes(template, split string, m *manifest.Manifest) bool {
	if template == "" {
		template = manifest.TFDSTemplate
	}
	i := slices.IndexFunc(m.Splits, func(s manifest.Split) bool { return s.Name == split })
	for j, info := range m.Splits[i].Shards {
		if t.file(m.Name, template, split, j, len(m.Splits[i].Shards)) != info.File {
			return false
		}
	}
	return true
}

func SameLengths(v any, want []string) bool {
	list, _ := v.([]any)
	if len(list) != len(want) {
		return false
	}
	for i, n := range list {
		if fmt.Sprint(n) != want[i] {
			return false
		}
	}
	return true
}

// CanLoad reports whether TFDS can read the set at all.
func CanLoad(m *manifest.Manifest) bool {
	return m.Compression == tfrecord.CompressionNone.String() && m.Nameless() == ""
}
