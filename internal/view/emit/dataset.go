package emit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/store/storage"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/stats"
	"github.com/tfrec/tfrec/tfrecord/message"
)

// Dataset describes a set for a program.
type Dataset struct {
	// Dir is the directory that the files are in or below, as it was given.
	Dir string
	// Splits hold the files, in the manifest's order.
	Splits []Split
	// Compression of the files: "none", "gzip", "zlib", "zstd", or "mixed".
	Compression string
	// Sequences means that the records are SequenceExamples.
	Sequences bool
	// Features of Examples, or of SequenceExamples' contexts, by key.
	Features []Feature
	// Lists are the feature lists of SequenceExamples by key.
	Lists []Feature
	// Classes are the classes of objects, by id, as far as their names are known.
	Classes []Class
	// Left are features that no program parses.
	Left []Left
	// Whole means that the files are all files of the set whose manifest is in Dir.
	Whole bool
	// TFDS means that tfds.builder_from_directory(Dir) loads the set.
	TFDS bool
}

const mixedCompression = "mixed"

// Left is a feature that is left out, and why.
type Left struct{ Key, Why string }

// Describe describes the files of paths for a program. sum is Inspect's summary of them. Records
// other than Examples or SequenceExamples, or a mix of both, are an error.
func Describe(ctx context.Context, paths []string, sum *stats.Summary) (*Dataset, error) {
	sources, err := shard.Expand(ctx, paths, shard.ExpandOptions{Partial: true}) // Inspect has rejected unwanted partial sets
	if err != nil {
		return nil, err
	}
	if sum.FeaturesOmitted > 0 {
		return nil, fmt.Errorf("there are more than the %d features that were looked at: a program for some of them would drop the others", len(sum.Features)+len(sum.FeatureLists))
	}
	d := &Dataset{Compression: mixedCompression}
	if d.Sequences, err = sequences(sum); err != nil {
		return nil, err
	}
	if len(sum.Compression) == 1 {
		for name := range sum.Compression {
			d.Compression = name
		}
	}
	d.addFiles(sum)
	d.lookAround(ctx, sources)
	declared := declarations(sources)
	for i := range sum.Features {
		d.add(&d.Features, &sum.Features[i], declared)
	}
	for i := range sum.FeatureLists {
		d.add(&d.Lists, &sum.FeatureLists[i], nil)
	}
	d.sizeImages(sum)
	d.nameLabels(sources, sum)
	d.nameClasses(ctx, sum.Objects)
	return d, nil
}

// sequences distinguishes SequenceExamples from Examples.
func sequences(sum *stats.Summary) (bool, error) {
	examples, sequences := sum.Messages[manifest.RecordExample], sum.Messages[string(message.SequenceExample)]
	switch {
	case sum.Records == 0:
		return false, fmt.Errorf("no records to write a program for")
	case examples+sequences < sum.Records:
		return false, fmt.Errorf("%d of %s not a tf.train.Example: there is no program for them", sum.Records-examples-sequences, plural.Of(sum.Records, "record"))
	case examples > 0 && sequences > 0:
		return false, fmt.Errorf("%s of tf.train.Example and %s of SequenceExample: give files of one of the two", plural.Of(examples, "record"), plural.Of(sequences, "record"))
	}
	return sequences > 0, nil
}

// addFiles puts the files into their splits, named relative to one directory.
func (d *Dataset) addFiles(sum *stats.Summary) {
	d.Dir = storage.Dir(sum.Files[0].Path)
	for _, f := range sum.Files {
		for !below(d.Dir, f.Path) {
			d.Dir = storage.Dir(d.Dir)
		}
	}
	for _, f := range sum.Files {
		name := splitOf(f)
		i := slices.IndexFunc(d.Splits, func(s Split) bool { return s.Name == name })
		if i < 0 {
			i = len(d.Splits)
			d.Splits = append(d.Splits, Split{Name: name})
		}
		file := f.Path
		if rel, err := storage.Rel(d.Dir, f.Path); err == nil {
			file = filepath.ToSlash(rel)
		}
		d.Splits[i].Files = append(d.Splits[i].Files, file)
		d.Splits[i].Records += f.Records
	}
}

// splitOf returns the split of a file: from its manifest, otherwise from its name.
func splitOf(f stats.FileSummary) string {
	if f.Split != "" {
		return f.Split
	}
	if name, ok := shard.ParseName(storage.Base(f.Path)); ok {
		return name.Split
	}
	return "all"
}

// below reports whether path is in dir or a directory below it. The parent of "."
// and of a root is itself: below these is everything.
func below(dir, path string) bool {
	if dir == storage.Dir(dir) {
		return true
	}
	rel, err := storage.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// lookAround finds the manifest and TFDS's files that describe all of the set.
func (d *Dataset) lookAround(ctx context.Context, sources []shard.Source) {
	set := sources[0].Set
	shards := 0
	if set != nil && storage.Clean(set.Dir) == d.Dir {
		for _, s := range set.Splits {
			shards += len(s.Shards)
		}
		d.Whole = !set.Partial && isFile(ctx, set.Path(manifest.File))
		for _, s := range sources {
			d.Whole = d.Whole && s.Set != nil && s.Set.Dir == set.Dir
		}
		d.Whole = d.Whole && shards == len(sources)
	}
	if d.Whole {
		order := func(name string) int {
			return slices.IndexFunc(set.Splits, func(s manifest.Split) bool { return s.Name == name })
		}
		slices.SortStableFunc(d.Splits, func(a, b Split) int { return order(a.Name) - order(b.Name) })
	}
	if d.Whole || set == nil {
		d.TFDS = isFile(ctx, storage.Join(d.Dir, manifest.TFDSInfoFile)) && isFile(ctx, storage.Join(d.Dir, manifest.TFDSFeaturesFile))
	}
}

func isFile(ctx context.Context, path string) bool {
	st, err := storage.Stat(ctx, path)
	return err == nil && st.Mode().IsRegular()
}

// declarations returns the features declared in the manifests of the sources, by key.
func declarations(sources []shard.Source) map[string]manifest.Feature {
	declared := make(map[string]manifest.Feature)
	var last *shard.Set
	for _, s := range sources {
		if s.Set == nil || s.Set == last {
			continue
		}
		last = s.Set
		for _, f := range s.Set.Features {
			if _, known := declared[f.Key]; !known {
				declared[f.Key] = f
			}
		}
	}
	return declared
}

// add adds a feature, or the reason for its omission.
func (d *Dataset) add(list *[]Feature, seen *stats.FeatureSummary, declared map[string]manifest.Feature) {
	f, why := newFeature(seen, declared)
	if why != "" {
		d.Left = append(d.Left, Left{seen.Key, why})
		return
	}
	f.Stray = !utf8.ValidString(f.Key)
	*list = append(*list, f)
}

// nameLabels finds the names of labels: from the manifest, else from records or TFDS's files.
func (d *Dataset) nameLabels(sources []shard.Source, sum *stats.Summary) {
	names := map[string][]string{}
	for _, s := range sources {
		if s.Set == nil {
			continue
		}
		for _, f := range s.Set.Features {
			if f.Class == manifest.ClassLabel && names[f.Key] == nil {
				names[f.Key] = s.Set.Labels
			}
		}
	}
	for _, l := range sum.Labels {
		if names[l.Key] == nil {
			names[l.Key] = listed(l)
		}
	}
	for i := range d.Features {
		if f := &d.Features[i]; f.Kind == "int64" && f.One() {
			f.Names = names[f.Key]
		}
	}
}

// listed returns the names of ids 0, 1, 2 …, nil when one of them is not known.
func listed(l stats.LabelCounts) []string {
	if l.Omitted > 0 {
		return nil // there are more than were counted
	}
	names := make([]string, len(l.Counts))
	for _, c := range l.Counts {
		if c.ID == nil || c.Name == "" || *c.ID < 0 || *c.ID >= int64(len(names)) {
			return nil
		}
		names[*c.ID] = c.Name
	}
	return names
}
