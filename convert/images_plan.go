package convert

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/shares"
	"github.com/tfrec/tfrec/internal/storage"
	"github.com/tfrec/tfrec/shard"
)

// imageSource is a planned conversion of images.
type imageSource struct {
	o           *ImageOptions
	root        storage.Location
	ahead       *aheadOfJobs // of a current run that reads from a store
	codec       *augment.Codec
	backend     augment.Backend
	decodes     bool // the backend decodes JPEGs
	decoded     tally
	images      []imageFile
	directories []string // those listed, below root
	labels      []string // names by id, background names included
	skipped     int64    // files below root that are not samples
	splitsBy    string   // how samples are assigned to splits: the shares, or "folders"
	planned     []job
	samples     [][]sample              // of each job, in order
	remembered  map[string]setdir.Input // by key, from earlier runs
}

// sample is a planned record: an original image or, in an augmented set, one of its variants.
type sample struct {
	image int32
	copy  int32 // 0 is the original
}

// planImages assigns the listed images to splits and shards.
func planImages(o *ImageOptions, l *listing, codec *augment.Codec, before *previous) (*imageSource, error) {
	s := &imageSource{
		o: o, root: l.root, codec: codec, backend: augment.CPU{}, decodes: o.BackendDecodes,
		images: l.images, directories: l.directories, skipped: l.skipped, labels: labelNames(l.labels, o.Labels.Offset),
	}
	if o.Backend != nil {
		s.backend, o.waits = o.Backend, o.Backend.Batch() > 1
	}
	if o.memory = o.Memory; o.memory == 0 {
		o.memory = memory.Limit() / 4
	}
	if o.Limit > 0 {
		s.images = limit(s.images, o.Limit, newHasher(o.Seed, forLimit))
	}
	if i := slices.Index(l.labels, backgroundName(0)); o.Labels.Offset > 0 && i >= 0 {
		return nil, fmt.Errorf("a class is called %s, the name that LabelSpec.Offset gives to background labels: rename its directory", l.labels[i])
	}
	o.noteNewIDs(before, s.labels)
	if _, _, fixed := o.fixedSize(); !fixed && (o.Encode.Format == Raw || o.Encode.Format == Float32) {
		o.note("the sizes of images vary, so TFDS will give %s as bytes; ImageOptions.Resize WxH would make them tensors", o.Encode.Format)
	}
	splits, of := s.splits(l)
	if err := o.Augment.checkSplits(splits); err != nil {
		return nil, err
	}
	if err := o.checkShardsOf(splits); err != nil {
		return nil, err
	}
	for i, split := range splits {
		var members []sample
		for p := range s.images {
			if of(p) == i {
				members = o.Augment.variants(members, int32(p), split)
			}
		}
		if len(members) == 0 {
			o.note("split %s gets no samples and is left out", split)
			continue
		}
		s.planSplit(split, members, o.existingShards(before, split))
	}
	return s, nil
}

// limit returns the n images with the smallest hashes, sorted by path.
func limit(images []imageFile, n int64, h hasher) []imageFile {
	if n >= int64(len(images)) {
		return images
	}
	hashes := make([]uint64, len(images))
	for i := range images {
		hashes[i] = h.key(images[i].path)
	}
	order := hashOrder(hashes, func(i, j int) int { return i - j })[:n]
	slices.Sort(order)
	kept := make([]imageFile, n)
	for i, p := range order {
		kept[i] = images[p]
	}
	return kept
}

// splits returns the names of the splits, and a function that returns the split of an image.
func (s *imageSource) splits(l *listing) (names []string, of func(p int) int) {
	if len(l.splits) > 0 {
		s.splitsBy = splitsByDirectories
		return l.splits, func(p int) int { return slices.Index(l.splits, s.images[p].split) }
	}
	divided := s.o.splits()
	s.splitsBy = shares.FormatSplits(divided)
	h := newHasher(s.o.Seed, forSplit)
	for _, share := range divided {
		names = append(names, share.Name)
	}
	return names, func(p int) int { return shares.ShareOf(h.key(s.images[p].path), divided) }
}

// planSplit assigns the members of a split to its shards.
func (s *imageSource) planSplit(split string, members []sample, existing int) {
	o := s.o
	count := o.shardsOf(split)
	if count == 0 {
		var bytes int64
		for _, m := range members {
			bytes += o.estimate(s.images[m.image].size)
		}
		count = autoShards(int64(len(members)), bytes, existing)
	}
	if count > len(members) {
		o.note("split %s has only %s, so as many shards, not %d", split, plural.Of(len(members), "sample"), count)
		count = len(members)
	}
	byKey := func(i, j int) int { return strings.Compare(s.key(members[i]), s.key(members[j])) }
	hashes := func(p purpose) []uint64 {
		h := newHasher(o.Seed, p)
		hashes := make([]uint64, len(members))
		for i, m := range members {
			hashes[i] = h.key(s.key(m))
		}
		return hashes
	}
	shards := make([][]sample, count)
	of := cut(hashes(forShard), count, o.Even, byKey)
	for _, i := range hashOrder(hashes(forOrder), byKey) {
		shards[of[i]] = append(shards[of[i]], members[i])
	}
	for i, samples := range shards {
		s.planned = append(s.planned, job{
			name:    shard.Name{Dataset: o.Name, Split: split, Index: i, Count: count},
			samples: int64(len(samples)),
			bytes:   s.bytesOf(samples),
		})
		s.samples = append(s.samples, samples)
	}
}

// bytesOf estimates the total size of samples' records; 0 if that requires the images' dimensions,
// which planning does not read.
func (s *imageSource) bytesOf(samples []sample) (bytes int64) {
	if o := s.o; !o.resizes() && o.Encode.Format != Keep && o.Encode.Format != JPEG {
		return 0
	}
	for _, m := range samples {
		bytes += s.o.estimate(s.images[m.image].size)
	}
	return bytes
}

func (s *imageSource) keys(job int) []string {
	keys := make([]string, len(s.samples[job]))
	for i, sample := range s.samples[job] {
		keys[i] = jsontext.Readable(s.key(sample))
	}
	return keys
}

func (s *imageSource) files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, directory := range s.directories {
			if !yield(s.root.Join(directory).Path()) {
				return
			}
		}
		for i := range s.images {
			if p := &s.images[i]; p.bad == nil && !yield(s.at(p).Path()) {
				return
			}
		}
		if s.o.Labels.File != "" {
			yield(s.o.Labels.File)
		}
	}
}

func (s *imageSource) tasks(ctx context.Context, job int) iter.Seq2[task, error] {
	return func(yield func(task, error) bool) {
		if s.ahead != nil {
			s.ahead.begin(job)
		}
		for samples := range slices.Chunk(s.samples[job], max(1, s.backend.Batch())) {
			var fetched []*fetch
			if s.ahead != nil {
				fetched = s.ahead.take(samples)
			}
			if !yield(func(p *piece) error { return s.make(ctx, samples, fetched, p) }, nil) {
				return
			}
		}
	}
}

func (s *imageSource) at(p *imageFile) storage.Location { return s.root.Join(p.path) }

func (s *imageSource) labelCounts(byID map[int32]int64) map[string]int64 {
	if len(s.labels) == 0 {
		return nil
	}
	counts := make(map[string]int64, len(byID))
	for id, n := range byID {
		counts[jsontext.Readable(s.labels[id])] += n
	}
	return counts
}

// splits returns the splits with their shares from the options.
func (o *Options) splits() []SplitShare {
	if len(o.Splits) == 0 {
		return []SplitShare{{Name: "train", Share: 1}}
	}
	return o.Splits
}

// estimate returns the approximate size of an image's record, from the size of its file and the
// options alone. The figures per pixel are typical of photographs; they only serve to choose the
// number of shards, and to check for disk space.
func (o *ImageOptions) estimate(size int64) int64 {
	const features = 300 // everything but the image
	if !o.resizes() && (o.Encode.Format == Keep || o.Encode.Format == JPEG) {
		return size + features
	}
	const wide, high = 500, 375 // an ImageNet image, for lack of a better guess
	w, h := wide, high
	if o.resizes() {
		g := o.Resize.Geometry(wide, high)
		w, h = g.Width, g.Height
	}
	pixels := int64(w) * int64(h)
	channels := int64(3)
	if o.Encode.Channels == 1 {
		channels = 1
	}
	switch o.Encode.Format {
	case JPEG:
		return pixels*channels/6 + features
	case PNG:
		return pixels*channels*2/3 + features
	case Float32:
		return pixels*channels*4 + features
	default:
		return pixels*channels + features
	}
}

// checkRename returns an error for an invalid renamed key.
func (o *ImageOptions) checkRename() error {
	keys := map[string]bool{}
	for _, key := range imageKeys {
		keys[key] = true
	}
	for old, name := range o.Rename {
		if !keys[old] {
			return optionError("ImageOptions.Rename", "there is no feature %q; the features are %s", old, strings.Join(imageKeys, " "))
		}
		if name == "" {
			return optionError("ImageOptions.Rename", "%s: the new name is empty", old)
		}
	}
	seen := map[string]string{}
	for _, key := range imageKeys {
		name := o.key(key)
		if other, ok := seen[name]; ok {
			return optionError("ImageOptions.Rename", "%s and %s would both be %s", other, key, name)
		}
		seen[name] = key
	}
	return nil
}

// key returns the name under which a feature is stored.
func (o *ImageOptions) key(name string) string {
	if renamed, ok := o.Rename[name]; ok {
		return renamed
	}
	return name
}

var errSize = fmt.Errorf("larger than %d bytes", maxStored)
