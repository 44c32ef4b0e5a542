package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/recordscan"
	"github.com/tfrec/tfrec/internal/set/tfds"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// checkTFDS compares TFDS's files with the manifest: the files for a set of this kind must exist,
// with its splits, record counts, features and label names. Other content is not checked.
func checkTFDS(ctx context.Context, s *shard.Set) (faults []shard.Fault, err error) {
	want, err := manifest.EncodeTFDS(s.Manifest)
	if err != nil {
		return nil, err
	}
	fault := func(name string, part tfrecord.Part, format string, args ...any) {
		faults = append(faults, shard.FileFault(s.Path(name), part, format, args...))
	}
	if string(s.Options["tfds"]) == `"found"` {
		// Features by other programs may be described differently.
		delete(want, manifest.TFDSFeaturesFile)
	}
	found := &tfds.FoundTFDS{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		path := s.Path(name)
		if _, err := storage.Stat(ctx, path); storage.Missing(err) {
			fault(name, tfrecord.PartMissing, "TFDS needs this file, but it does not exist (%s writes it)", optname.RepairAdopt)
			continue
		} else if err != nil {
			return faults, err
		}
		if strings.HasSuffix(name, labels.FileSuffix) {
			data, err := storage.ReadFile(ctx, path, labels.MaxFile)
			if err != nil {
				return faults, err
			}
			if got, want := strings.TrimSpace(string(data)), strings.TrimSpace(string(want[name])); got != want {
				fault(name, tfrecord.PartHeader, "its label names are not those of the manifest")
			}
			continue
		}
		got, err := tfds.ReadObject(ctx, path)
		if err != nil && !recordscan.IsDamage(err) {
			return faults, err
		}
		if err != nil {
			fault(name, tfrecord.PartParse, "%v", err)
			continue
		}
		switch name {
		case manifest.TFDSInfoFile:
			found.Info = got
			for _, text := range contradicts(found, s.Manifest) {
				fault(name, tfrecord.PartCount, "%s", text)
			}
		case manifest.TFDSFeaturesFile:
			var ours manifest.Object
			if err := json.Unmarshal(want[name], &ours); err != nil {
				return faults, err
			}
			if key := onlyIn(tfds.FeaturesOf(got), tfds.FeaturesOf(ours)); key != "" {
				fault(name, tfrecord.PartHeader, "feature %q is not in the manifest", key)
			}
			if key := onlyIn(tfds.FeaturesOf(ours), tfds.FeaturesOf(got)); key != "" {
				fault(name, tfrecord.PartHeader, "feature %q of the manifest is missing", key)
			}
		}
	}
	return faults, nil
}

// contradicts returns the differences between dataset_info.json and the manifest.
func contradicts(t *tfds.FoundTFDS, m *manifest.Manifest) (texts []string) {
	if t.Name() != m.Name {
		texts = append(texts, fmt.Sprintf("the dataset's name is %q, the manifest says %q", t.Name(), m.Name))
	}
	splits := map[string]manifest.Object{}
	for _, s := range t.Splits() {
		name, _ := s["name"].(string)
		splits[name] = s
	}
	for _, split := range m.Splits {
		s := splits[split.Name]
		delete(splits, split.Name)
		lengths := make([]string, len(split.Shards))
		for i, info := range split.Shards {
			lengths[i] = fmt.Sprint(info.Records)
		}
		switch template, _ := s["filepathTemplate"].(string); {
		case s == nil:
			texts = append(texts, fmt.Sprintf("split %s is missing", split.Name))
		case !tfds.SameLengths(s["shardLengths"], lengths):
			texts = append(texts, fmt.Sprintf("split %s: the record counts of its shards are not those of the manifest", split.Name))
		case !t.Makes(template, split.Name, m):
			texts = append(texts, fmt.Sprintf("split %s: the template %q does not make the shards' names", split.Name, template))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(splits)) {
		texts = append(texts, fmt.Sprintf("split %s is not in the manifest", name))
	}
	return texts
}

// onlyIn returns the first key of a that is not in b; "" if there is none.
func onlyIn(a, b manifest.Object) string {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if _, both := b[key]; !both {
			return key
		}
	}
	return ""
}
