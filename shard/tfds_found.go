package shard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/tfrecord"
)

// tfdsFound is what TFDS's own files in a directory say. A nil one says nothing.
type tfdsFound struct {
	info     object // dataset_info.json; nil without one
	features bool   // there is a features.json
	// classes are the keys of its class labels and how many classes each has.
	classes map[string]int
}

// maxTFDSFile bounds what is read of a file of TFDS's.
const maxTFDSFile = 64 << 20

// findTFDS reads TFDS's files in a directory.
func findTFDS(ctx context.Context, dir string) (*tfdsFound, error) {
	t := &tfdsFound{classes: map[string]int{}}
	var err error
	if t.info, err = readObject(ctx, filepath.Join(dir, TFDSInfoFile)); err != nil {
		return nil, err
	}
	features, err := readObject(ctx, filepath.Join(dir, TFDSFeaturesFile))
	if err != nil {
		return nil, err
	}
	t.features = features != nil
	for key, v := range featuresOf(features) {
		feature, _ := v.(object)
		if label, ok := feature["classLabel"].(object); ok {
			t.classes[key] = int(number(label["numClasses"]))
		}
	}
	return t, nil
}

// featuresOf are the features of a FeaturesDict by key.
func featuresOf(o object) object {
	dict, _ := o["featuresDict"].(object)
	features, _ := dict["features"].(object)
	return features
}

// readObject reads a JSON object; nil when there is no such file.
func readObject(ctx context.Context, path string) (object, error) {
	data, err := storage.ReadFile(ctx, path, maxTFDSFile)
	if storage.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("%s: %w; repair or remove it", path, err)
	}
	return o, nil
}

// number reads a 64-bit integer in protobuf's JSON mapping: a string or a
// number; 0 for anything else.
func number(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}

// name of the dataset; "" when it is not said.
func (t *tfdsFound) name() string {
	if t == nil {
		return ""
	}
	name, _ := t.info["name"].(string)
	return name
}

func (t *tfdsFound) splits() []object {
	if t == nil {
		return nil
	}
	var splits []object
	list, _ := t.info["splits"].([]any)
	for _, v := range list {
		if s, ok := v.(object); ok {
			splits = append(splits, s)
		}
	}
	return splits
}

func (t *tfdsFound) splitNames() []string {
	var names []string
	for _, s := range t.splits() {
		name, _ := s["name"].(string)
		names = append(names, name)
	}
	return names
}

// files returns the names of the shards that dataset_info.json knows of, with
// their splits.
func (t *tfdsFound) files() map[string]string {
	files := map[string]string{}
	for _, s := range t.splits() {
		split, _ := s["name"].(string)
		template, _ := s["filepathTemplate"].(string)
		if template == "" {
			template = tfdsDefault
		}
		lengths, _ := s["shardLengths"].([]any)
		for i := range lengths {
			files[t.file(t.name(), template, split, i, len(lengths))] = split
		}
	}
	return files
}

func (t *tfdsFound) file(dataset, template, split string, i, n int) string {
	format, _ := t.info["fileFormat"].(string)
	if format == "" {
		format = "tfrecord"
	}
	return strings.NewReplacer(
		"{DATASET}", dataset, "{SPLIT}", split, "{FILEFORMAT}", format,
		"{SHARD_X_OF_Y}", fmt.Sprintf("%05d-of-%05d", i, n),
		"{SHARD_INDEX}", fmt.Sprintf("%05d", i), "{NUM_SHARDS}", fmt.Sprintf("%05d", n),
	).Replace(template)
}

// renewed returns dataset_info.json with the numbers of the set, and all else
// that it says.
func (t *tfdsFound) renewed(m *Manifest) ([]byte, error) {
	info := object{}
	for key, v := range t.info {
		info[key] = v
	}
	ours, _ := m.tfdsInfo()["splits"].([]any)
	splits := []any{}
	changed := len(ours) != len(t.splits()) || t.name() != m.Name
	for _, v := range ours {
		now := v.(object)
		split := object{}
		for _, s := range t.splits() {
			if s["name"] == now["name"] {
				for key, v := range s {
					split[key] = v
				}
			}
		}
		if !sameLengths(split["shardLengths"], now["shardLengths"].([]string)) || number(split["numBytes"]) != number(now["numBytes"]) {
			split["shardLengths"], split["numBytes"], changed = now["shardLengths"], now["numBytes"], true
		}
		template, _ := split["filepathTemplate"].(string)
		if !t.makes(template, now["name"].(string), m) {
			split["filepathTemplate"], changed = now["filepathTemplate"], true
		}
		split["name"] = now["name"]
		splits = append(splits, split)
	}
	if !changed {
		return nil, nil
	}
	info["splits"], info["name"] = splits, m.Name
	return encodeTFDS(info, "  ")
}

// makes reports whether a template makes the names of a split's shards.
func (t *tfdsFound) makes(template, split string, m *Manifest) bool {
	if template == "" {
		template = tfdsDefault
	}
	i := slices.IndexFunc(m.Splits, func(s Split) bool { return s.Name == split })
	for j, info := range m.Splits[i].Shards {
		if t.file(m.Name, template, split, j, len(m.Splits[i].Shards)) != info.File {
			return false
		}
	}
	return true
}

func sameLengths(v any, want []string) bool {
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

// canLoad reports whether TFDS can read the set at all.
func canLoad(m *Manifest) bool {
	return m.Compression == tfrecord.None.String() && m.nameless() == ""
}
