package reshape

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tfrec/tfrec/internal/set/fingerprint"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// join returns the manifest of the set with the staged shards added, and the renames that put them
// in place.
func (a *appending) join(staged *manifest.Manifest, added []string) (*manifest.Manifest, []setdir.Move, error) {
	set := *a.set
	set.Labels = append(slices.Clip(set.Labels), added...)
	if set.Decoder != staged.Decoder {
		set.Decoder = ""
	}
	if set.Encoder != staged.Encoder {
		set.Encoder = ""
	}
	if err := mergeRecords(&set, staged); err != nil {
		return nil, nil, err
	}
	set.Splits = slices.Clone(set.Splits)
	var moves []setdir.Move
	for _, s := range staged.Splits {
		i := slices.IndexFunc(set.Splits, func(t manifest.Split) bool { return t.Name == s.Name })
		if i < 0 {
			i = len(set.Splits)
			set.Splits = append(set.Splits, manifest.Split{Name: s.Name})
		}
		split := &set.Splits[i]
		old := len(split.Shards)
		split.Shards = append(slices.Clone(split.Shards), s.Shards...)
		split.Records += s.Records
		for k := range split.Shards {
			info := &split.Shards[k]
			from := info.File
			info.File = shard.Name{Dataset: set.Name, Split: s.Name, Index: k, Count: len(split.Shards)}.String()
			directory := ""
			if k >= old {
				directory = setdir.StageDir + "/"
			}
			more, err := a.moves(from, info.File, directory)
			if err != nil {
				return nil, nil, err
			}
			moves = append(moves, more...)
		}
	}
	set.Options = appendedOptions(&set, staged)
	set.Fingerprint = fingerprint.OfSet(&set)
	return &set, moves, nil
}

// moves returns the renames of a shard and its index, the index first.
func (a *appending) moves(from, to, directory string) ([]setdir.Move, error) {
	if directory == "" && from == to {
		return nil, nil
	}
	var moves []setdir.Move
	index := filepath.ToSlash(manifest.IndexPath(from))
	indexed, err := a.dir.Exists(directory + index)
	if err != nil {
		return nil, err
	}
	if indexed {
		moves = append(moves, setdir.Move{From: directory + index, To: filepath.ToSlash(manifest.IndexPath(to))})
	}
	return append(moves, setdir.Move{From: directory + from, To: to}), nil
}

// appendedOptions returns the options of a set after one more append. Because they differ, convert
// does not mistake the set for its own unchanged output.
func appendedOptions(set, staged *manifest.Manifest) map[string]json.RawMessage {
	options := make(map[string]json.RawMessage, len(set.Options)+1)
	for k, v := range set.Options {
		options[k] = v
	}
	list, _ := json.Marshal(append(appendedBefore(set), staged.Fingerprint))
	options[optionAppended] = list
	return options
}

// appendedBefore returns the fingerprints of everything appended to the set so far.
func appendedBefore(set *manifest.Manifest) []string {
	var list []string
	if json.Unmarshal(set.Options[optionAppended], &list) != nil {
		return nil // any other value is replaced
	}
	return list
}

// optionAppended is the option that lists the fingerprints of everything appended to a set.
const optionAppended = "appended"

// report returns a report with the counts of a set.
func (a *appending) report(m *manifest.Manifest) *AppendReport {
	r := new(AppendReport)
	r.Splits = map[string]shard.SplitSummary{}
	for _, s := range m.Splits {
		r.Records += s.Records
		r.Shards += len(s.Shards)
		r.Splits[s.Name] = shard.SplitSummary{Records: s.Records, Shards: len(s.Shards)}
		for _, info := range s.Shards {
			r.Bytes += info.Bytes
		}
	}
	return r
}

// describe writes the set's manifest and metadata files below .tfrec, and adds their moves to the
// journal, the manifest last.
func (a *appending) describe(set *manifest.Manifest, j *setdir.Journal) error {
	files, err := setdir.Metadata(set)
	if err != nil {
		return err
	}
	for _, name := range a.set.MetadataFiles() {
		is, err := a.dir.Exists(name)
		if err != nil {
			return err
		}
		if files[name] == nil && is {
			j.Remove = append(j.Remove, name)
		}
	}
	j.Remove = append(j.Remove, shard.StateDir+"/"+setdir.FinishedFile) // of a run with another result
	names := slices.Sorted(maps.Keys(files))
	if files[manifest.File], err = set.Encode(); err != nil {
		return err
	}
	for _, name := range append(names, manifest.File) {
		from := setdir.StageDir + "/set-" + name
		if err := a.dir.Put(from, files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		j.Moves = append(j.Moves, setdir.Move{From: from, To: name, Replaces: true})
	}
	return nil
}
