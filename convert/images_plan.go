package convert

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/augment"
	"github.com/tfrec/tfrec/convert/internal/imagerecord"
	"github.com/tfrec/tfrec/convert/internal/listing"
	"github.com/tfrec/tfrec/convert/internal/plan"
	"github.com/tfrec/tfrec/convert/internal/prefetch"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/memory"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/set/setdir"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/shard"
)

// imageSource is a planned conversion of images.
type imageSource struct {
	*imagerecord.Maker
	dir          *setdir.Dir    // of the set, for temporary files
	ahead        *aheadOfShards // of a current run that reads from a store
	sampleMemory int64          // bounds the memory for samples in progress, in bytes
	fetchMemory  int64          // bytes of images that may be requested and not used
	skipped      int64          // files of the origin that are not samples
	leftOut      []LeftOut      // unused parts of the source, by reason
	causes       []string       // why rows of a table name no image
	splitsBy     string         // the shares, or the source of stated splits
	planned      []plan.Shard
	samples      [][]sample.Sample // of each shard, in order
	remembered   rememberedHashes
}

// planImages assigns the listed images to splits and shards.
func planImages(o *ImageOptions, l *listing.Listing, codec *augment.Codec, before *plan.Previous) (*imageSource, error) {
	set := sample.NewSet(o, l)
	maker := imagerecord.New(set, codec, cmp.Or(o.Backend, augment.Backend(augment.CPU{})))
	maker.Decodes, maker.Workers = o.BackendDecodes, o.Goroutines()
	if maker.Backend.Batch() > 1 { // goroutines wait for it
		maker.Workers += maker.Workers/2 + 1
	}
	s := &imageSource{Maker: maker, skipped: l.Skipped, leftOut: plan.LeftOutOf(&l.Account), causes: l.Causes, remembered: rememberedHashes{Set: set}}
	sample.NoteMirrors(o, l)
	s.sampleMemory = cmp.Or(o.Memory, memory.Limit()/4)
	if s.Fetches() {
		s.fetchMemory = min(s.sampleMemory/4, prefetch.MaxBytes)
		s.sampleMemory -= s.fetchMemory
	}
	if i := slices.Index(l.Labels, plan.BackgroundName(0)); o.Labels.Offset > 0 && i >= 0 {
		return nil, fmt.Errorf("a class is called %s, the name that %s gives to background labels: rename its directory", l.Labels[i], optname.LabelSpecOffset)
	}
	o.NoteNewIDs(before, s.Labels)
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
	if err := sample.CheckMix(&o.Augment, l); err != nil {
		return nil, err
	}
	s.SplitOf = of
	for i, split := range splits {
		members := make([]sample.Sample, 0, len(s.Images)/len(splits))
		var images []int32 // to mix
		for p := range len(s.Images) - s.Loose {
			switch {
			case of(p) != i:
				continue
			case (s.Annotations != nil || s.Masks != nil) && s.Images[p].Bad() != nil:
				members = append(members, sample.Sample{Image: int32(p)}) // one entry in the ledger
			default:
				members = sample.AppendVariants(&o.Augment, members, int32(p), split)
			}
			if o.Augment.Mixes() {
				images = append(images, int32(p))
			}
		}
		if o.Augment.Mixes() {
			s.AddRing(images)
		}
		if len(members) == 0 {
			o.Notef("split %s gets no samples and is left out", split)
			continue
		}
		s.planSplit(split, members, o.ExistingShards(before, split))
	}
	s.planLoose()
	for i, members := range s.samples {
		for _, m := range members {
			if s.Images[m.Image].Bad() != nil {
				s.planned[i].Unusable++
			}
		}
	}
	return s, nil
}

// planLoose assigns the annotations of no image to shards, whose ledger entries they become.
func (s *imageSource) planLoose() {
	h := shares.NewHasher(s.Options.Seed, shares.ForShard)
	for p := len(s.Images) - s.Loose; p < len(s.Images); p++ {
		at := h.Key(s.Images[p].Path) % uint64(len(s.samples))
		s.samples[at] = append(s.samples[at], sample.Sample{Image: int32(p)})
	}
}

// splits returns the names of the splits, and a function that returns the split of an image.
func (s *imageSource) splits(l *listing.Listing) (names []string, of func(p int) int) {
	if len(l.Splits) > 0 {
		s.splitsBy = cmp.Or(l.SplitsBy, plan.SplitsByDirectories)
		return l.Splits, func(p int) int { return slices.Index(l.Splits, s.Images[p].SplitName()) }
	}
	divided := s.Options.SplitShares()
	s.splitsBy = shares.FormatSplits(divided)
	h := shares.NewHasher(s.Options.Seed, shares.ForSplit)
	for _, share := range divided {
		names = append(names, share.Name)
	}
	return names, func(p int) int { return shares.ShareOf(h.Key(s.Images[p].Path), divided) }
}

// planSplit assigns the members of a split to its shards.
func (s *imageSource) planSplit(split string, members []sample.Sample, existing int) {
	o := s.Options
	count := o.CountShards(split, int64(len(members)), "sample", func() (bytes int64) {
		for _, m := range members {
			bytes += o.RecordSize(s.Images[m.Image].Size)
		}
		return bytes
	}, existing)
	byKey := func(i, j int) int { return strings.Compare(s.Key(members[i]), s.Key(members[j])) }
	hashes := func(p shares.Purpose, key func(sample.Sample) string) []uint64 {
		h := shares.NewHasher(o.Seed, p)
		hashes := make([]uint64, len(members))
		for i, m := range members {
			hashes[i] = h.Key(key(m))
		}
		return hashes
	}
	for i, dealt := range plan.Deal(hashes(shares.ForShard, s.shardKey), hashes(shares.ForOrder, s.Key), count, o.Even, byKey) {
		samples := make([]sample.Sample, len(dealt))
		for n, at := range dealt {
			samples[n] = members[at]
		}
		s.planned = append(s.planned, plan.Shard{
			Name:    shard.Name{Dataset: o.Name, Split: split, Index: i, Count: count},
			Samples: int64(len(samples)),
			Bytes:   s.bytesOf(samples),
		})
		s.samples = append(s.samples, samples)
	}
}

// shardKey returns the key that selects the shard of a sample: its own key or, for annotated
// images, the key of the original, so that a change of one line of annotations affects one shard.
func (s *imageSource) shardKey(one sample.Sample) string {
	if s.Annotations != nil {
		return s.Images[one.Image].Path
	}
	return s.Key(one)
}

// bytesOf estimates the total size of samples' records; 0 if that requires the images' dimensions,
// which planning does not read.
func (s *imageSource) bytesOf(samples []sample.Sample) (bytes int64) {
	if o := s.Options; !o.Resizes() && o.Encode.Format != Keep && o.Encode.Format != JPEG {
		return 0
	}
	for _, m := range samples {
		bytes += s.Options.RecordSize(s.Images[m.Image].Size)
	}
	return bytes
}

// Keys implements plan.Source.
func (s *imageSource) Keys(shard int) []string {
	keys := make([]string, len(s.samples[shard]))
	for i, one := range s.samples[shard] {
		keys[i] = jsontext.Readable(s.Key(one))
	}
	return keys
}

// Pieces implements plan.Source: a piece has as many samples as the backend takes at a time.
func (s *imageSource) Pieces(ctx context.Context, shard int) iter.Seq2[plan.Fill, error] {
	return func(yield func(plan.Fill, error) bool) {
		if s.ahead != nil {
			s.ahead.begin(shard)
		}
		for samples := range slices.Chunk(s.samples[shard], max(1, s.Backend.Batch())) {
			var fetched [][]*prefetch.Fetch
			if s.ahead != nil {
				fetched = s.ahead.take(samples)
			}
			make := func(p *plan.Piece) error {
				s.Busy.Add(1)
				defer s.Busy.Add(-1)
				return s.Make(ctx, samples, fetched, p)
			}
			if !yield(make, nil) {
				return
			}
		}
	}
}

// AnyOrder implements plan.Source. Images that are requested ahead must be taken in order.
func (s *imageSource) AnyOrder() bool { return s.ahead == nil }

// LabelCounts implements plan.Source.
func (s *imageSource) LabelCounts(byID map[int32]int64) map[string]int64 {
	if !s.CountsLabels() {
		return nil
	}
	return plan.CountsByName(byID, s.Labels)
}
