package convert

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/shares"
	"github.com/tfrec/tfrec/shard"
)

// imageSource is a planned conversion of images.
type imageSource struct {
	*sampleMaker
	dir          *setdir.Dir  // of the set, for temporary files
	ahead        *aheadOfJobs // of a current run that reads from a store
	sampleMemory int64        // bounds the memory for samples in progress, in bytes
	fetchMemory  int64        // bytes of images that may be requested and not used
	skipped      int64        // files of the origin that are not samples
	leftOut      []LeftOut    // what is not used, by reason
	causes       []string     // why rows of a table name no image
	splitsBy     string       // how samples are assigned to splits: the shares, or "folders"
	planned      []plan.Shard
	samples      [][]sample // of each job, in order
	remembered   rememberedHashes
}

// planImages assigns the listed images to splits and shards.
func planImages(o *ImageOptions, l *origin.Listing, codec *augment.Codec, before *plan.Previous) (*imageSource, error) {
	set := &imageSet{
		o: o, origin: l.Origin, webdataset: l.WebDataset, images: l.Images, loose: len(l.Loose), labels: plan.WithBackground(l.Labels, o.Labels.Offset),
		values: l.Values, texts: l.Texts, features: l.Features, carried: l.Carried, labelMap: l.LabelMap || l.Annotations != nil, columns: l.Columns, annotations: l.Annotations, masks: l.Masks, colors: l.Colors,
	}
	maker := newSampleMaker(set, codec, cmp.Or(o.Backend, augment.Backend(augment.CPU{})))
	maker.decodes, maker.workers = o.BackendDecodes, o.Goroutines()
	if maker.backend.Batch() > 1 { // goroutines wait for it
		maker.workers += maker.workers/2 + 1
	}
	s := &imageSource{sampleMaker: maker, skipped: l.Skipped, leftOut: plan.LeftOutOf(&l.Account), causes: l.Causes}
	if l.Annotations != nil {
		s.labels, s.objectKeys = l.Annotations.Labels(), objectKeysOf(o, l.Annotations)
	}
	s.allIdentity = s.identifyAll()
	noteMirrors(o, l)
	if l.Synsets != nil {
		s.synsets = append(make([]string, o.Labels.Offset), l.Synsets...)
	}
	s.sampleMemory = cmp.Or(o.Memory, memory.Limit()/4)
	if s.fetches() {
		s.fetchMemory = min(s.sampleMemory/4, fetchBytes)
		s.sampleMemory -= s.fetchMemory
	}
	if o.Limit > 0 {
		s.images = limit(s.images, o.Limit, plan.NewHasher(o.Seed, plan.ForLimit))
	}
	s.images = append(s.images, l.Loose...)
	if i := slices.Index(l.Labels, plan.BackgroundName(0)); o.Labels.Offset > 0 && i >= 0 {
		return nil, fmt.Errorf("a class is called %s, the name that %s gives to background labels: rename its directory", l.Labels[i], optname.LabelSpecOffset)
	}
	o.NoteNewIDs(before, s.labels)
	if _, _, fixed := o.FixedSize(); !fixed && (o.Encode.Format == Raw || o.Encode.Format == Float32) {
		o.Notef("the sizes of images vary, so TFDS will give %s as bytes; %s WxH would make them tensors", o.Encode.Format, optname.ImageOptionsResize)
	}
	splits, of := s.splits(l)
	if err := o.Augment.CheckSplits(splits); err != nil {
		return nil, err
	}
	if err := o.CheckShardsOf(splits); err != nil {
		return nil, err
	}
	if err := checkMix(&o.Augment, l); err != nil {
		return nil, err
	}
	s.splitOf = of
	for i, split := range splits {
		members := make([]sample, 0, len(s.images)/len(splits))
		var images []int32 // to mix
		for p := range len(s.images) - s.loose {
			switch {
			case of(p) != i:
				continue
			case (s.annotations != nil || s.masks != nil) && s.images[p].Bad() != nil:
				members = append(members, sample{image: int32(p)}) // one entry in the ledger
			default:
				members = appendVariants(&o.Augment, members, int32(p), split)
			}
			if o.Augment.Mixes() {
				images = append(images, int32(p))
			}
		}
		if o.Augment.Mixes() {
			s.addRing(images)
		}
		if len(members) == 0 {
			o.Notef("split %s gets no samples and is left out", split)
			continue
		}
		s.planSplit(split, members, o.ExistingShards(before, split))
	}
	s.planLoose()
	return s, nil
}

// planLoose assigns the annotations of no image to shards, whose ledger entries they become.
func (s *imageSource) planLoose() {
	h := plan.NewHasher(s.o.Seed, plan.ForShard)
	for p := len(s.images) - s.loose; p < len(s.images); p++ {
		at := h.Key(s.images[p].Path) % uint64(len(s.samples))
		s.samples[at] = append(s.samples[at], sample{image: int32(p)})
	}
}

// limit returns the n images with the smallest hashes, sorted by path.
func limit(images []origin.Image, n int64, h plan.Hasher) []origin.Image {
	if n >= int64(len(images)) {
		return images
	}
	hashes := make([]uint64, len(images))
	for i := range images {
		hashes[i] = h.Key(images[i].Path)
	}
	order := plan.HashOrder(hashes, func(i, j int) int { return i - j })[:n]
	slices.Sort(order)
	kept := make([]origin.Image, n)
	for i, p := range order {
		kept[i] = images[p]
	}
	return kept
}

// splits returns the names of the splits, and a function that returns the split of an image.
func (s *imageSource) splits(l *origin.Listing) (names []string, of func(p int) int) {
	if len(l.Splits) > 0 {
		s.splitsBy = cmp.Or(l.SplitsBy, plan.SplitsByDirectories)
		return l.Splits, func(p int) int { return slices.Index(l.Splits, s.images[p].SplitName()) }
	}
	divided := s.o.SplitShares()
	s.splitsBy = shares.FormatSplits(divided)
	h := plan.NewHasher(s.o.Seed, plan.ForSplit)
	for _, share := range divided {
		names = append(names, share.Name)
	}
	return names, func(p int) int { return shares.ShareOf(h.Key(s.images[p].Path), divided) }
}

// planSplit assigns the members of a split to its shards.
func (s *imageSource) planSplit(split string, members []sample, existing int) {
	o := s.o
	count := o.ShardsOf(split)
	if count == 0 {
		var bytes int64
		for _, m := range members {
			bytes += o.RecordSize(s.images[m.image].Size)
		}
		count = plan.AutoShards(int64(len(members)), bytes, existing)
	}
	if count > len(members) {
		o.Notef("split %s has only %s, so as many shards, not %d", split, plural.Of(len(members), "sample"), count)
		count = len(members)
	}
	byKey := func(i, j int) int { return strings.Compare(s.key(members[i]), s.key(members[j])) }
	hashes := func(p plan.Purpose, key func(sample) string) []uint64 {
		h := plan.NewHasher(o.Seed, p)
		hashes := make([]uint64, len(members))
		for i, m := range members {
			hashes[i] = h.Key(key(m))
		}
		return hashes
	}
	of := plan.Cut(hashes(plan.ForShard, s.shardKey), count, o.Even, byKey)
	sizes := make([]int, count)
	for _, shard := range of {
		sizes[shard]++
	}
	shards := make([][]sample, count)
	for i, size := range sizes {
		shards[i] = make([]sample, 0, size)
	}
	for _, i := range plan.HashOrder(hashes(plan.ForOrder, s.key), byKey) {
		shards[of[i]] = append(shards[of[i]], members[i])
	}
	for i, samples := range shards {
		s.planned = append(s.planned, plan.Shard{
			Name:    shard.Name{Dataset: o.Name, Split: split, Index: i, Count: count},
			Samples: int64(len(samples)),
			Bytes:   s.bytesOf(samples),
		})
		s.samples = append(s.samples, samples)
	}
}

// shardKey decides which shard a sample goes to: its key, but for annotated images that of the
// original, so that what changes in one line of a file is in one shard.
func (s *imageSource) shardKey(sample sample) string {
	if s.annotations != nil {
		return s.images[sample.image].Path
	}
	return s.key(sample)
}

// bytesOf estimates the total size of samples' records; 0 if that requires the images' dimensions,
// which planning does not read.
func (s *imageSource) bytesOf(samples []sample) (bytes int64) {
	if o := s.o; !o.Resizes() && o.Encode.Format != Keep && o.Encode.Format != JPEG {
		return 0
	}
	for _, m := range samples {
		bytes += s.o.RecordSize(s.images[m.image].Size)
	}
	return bytes
}

func (s *imageSource) Keys(job int) []string {
	keys := make([]string, len(s.samples[job]))
	for i, sample := range s.samples[job] {
		keys[i] = jsontext.Readable(s.key(sample))
	}
	return keys
}

func (s *imageSet) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range s.origin.Files(s.images) {
			if !yield(path) {
				return
			}
		}
		for path := range s.annotationFiles() {
			if !yield(path) {
				return
			}
		}
		for _, file := range []string{s.o.Labels.File, s.o.Labels.Classes} {
			if file != "" && !yield(file) {
				return
			}
		}
	}
}

func (s *imageSource) Pieces(ctx context.Context, job int) iter.Seq2[plan.Fill, error] {
	return func(yield func(plan.Fill, error) bool) {
		if s.ahead != nil {
			s.ahead.begin(job)
		}
		for samples := range slices.Chunk(s.samples[job], max(1, s.backend.Batch())) {
			var fetched [][]*fetch
			if s.ahead != nil {
				fetched = s.ahead.take(samples)
			}
			make := func(p *plan.Piece) error {
				s.busy.Add(1)
				defer s.busy.Add(-1)
				return s.make(ctx, samples, fetched, p)
			}
			if !yield(make, nil) {
				return
			}
		}
	}
}

// AnyOrder implements source: what is fetched ahead is fetched in order.
func (s *imageSource) AnyOrder() bool { return s.ahead == nil }

func (s *imageSource) LabelCounts(byID map[int32]int64) map[string]int64 {
	if !s.countsLabels() {
		return nil
	}
	return plan.CountsByName(byID, s.labels)
}
