package convert

import (
	"bytes"
	"encoding/hex"
	"iter"
	"sort"
	"strings"

	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// hash128 is the hash of the content of an image or a mask; zero if it is not known.
type hash128 [16]byte

// parse sets the hash to the value of Input.Hash. It leaves the hash unchanged if text has another
// length, and sets it to zero if text is not hexadecimal.
func (h *hash128) parse(text []byte) {
	if hex.DecodedLen(len(text)) != len(h) {
		return
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		*h = hash128{}
	}
}

// text is the hash as Input.Hash has it; empty if it is not known.
func (h *hash128) text() string {
	if *h == (hash128{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// rememberedHashes are the hashes of images and masks that need not be read: earlier runs recorded
// them for files of the same size and time, or this one has read them. An image takes 16 bytes.
type rememberedHashes struct {
	*sample.Set
	images []hash128 // by image
	masks  map[string]setdir.Input
	// searched is set once the states of all shards were searched, not only of the planned ones.
	searched bool
}

// Recall implements plan.Source. States list their inputs in the order of the samples, so most of them
// are found where the last one ended.
func (s *imageSource) Recall(shards []int) *setdir.Recall {
	if s.Options.HashInputs {
		return nil
	}
	last, next := -1, 0
	return &setdir.Recall{Source: s.Place(), Yield: func(shard int, in *setdir.RecordedInput) {
		if shard != last {
			last, next = shard, 0
		}
		const near = 4 // samples that may have no input
		samples := s.samples[shards[shard]]
		for i := next; i < min(next+near, len(samples)); i++ {
			if image := samples[i].Image; s.Images[image].Path == string(in.Key) {
				s.remembered.image(image, in)
				next = i + 1
				return
			}
		}
		s.remembered.input(in)
	}}
}

// searchAll searches the states of all shards for hashes that the states of the planned shards do
// not have, for example because an image moves to another shard.
func (r *rememberedHashes) searchAll(dir *setdir.Dir) {
	if !r.searched && !r.Options.HashInputs {
		r.searched = true
		dir.Shards().Remembered(r.Origin.Place(), r.input)
	}
}

// input remembers an input of any image or mask.
func (r *rememberedHashes) input(in *setdir.RecordedInput) {
	if r.Masks != nil && strings.HasPrefix(string(in.Key), r.MaskKey("")) {
		r.mask(in.Input())
		return
	}
	listed := r.Images[:len(r.Images)-r.Loose] // sorted
	at := sort.Search(len(listed), func(i int) bool { return listed[i].Path >= string(in.Key) })
	for ; at < len(listed) && listed[at].Path == string(in.Key); at++ {
		r.image(int32(at), in)
	}
}

func (r *rememberedHashes) image(image int32, in *setdir.RecordedInput) {
	if r.is(&r.Images[image], in.Size, in.ModTime, in.Version) {
		r.images[image].parse(in.Hash)
	}
}

func (r *rememberedHashes) mask(in setdir.Input) {
	if r.masks == nil {
		r.masks = map[string]setdir.Input{}
	}
	r.masks[string(in.Key)] = in
}

// read remembers what was just read of an image and its mask, as far as the inputs have a
// key, and reports whether it has. An image that changed after the listing is read again next time.
func (r *rememberedHashes) read(image int32, in, mask setdir.Input) (read bool) {
	if in.Key != "" && r.is(&r.Images[image], in.Size, in.ModTime, []byte(in.Version)) {
		r.images[image].parse([]byte(in.Hash))
		read = true
	}
	if mask.Key != "" {
		r.mask(mask)
		read = true
	}
	return read
}

// known returns the hash of a sample's content if it need not be read; empty otherwise.
func (r *rememberedHashes) known(image int32) string {
	p := &r.Images[image]
	if bad := p.Bad(); bad != nil {
		return sample.UnusedHash(bad)
	}
	hash := r.ofImage(image)
	if hash == "" || p.Mask() == nil {
		return hash
	}
	mask := p.Mask()
	in, ok := r.masks[r.MaskKey(mask.Path)]
	if !ok || !r.is(mask, in.Size, in.ModTime, []byte(in.Version)) {
		return ""
	}
	return hash + in.Hash
}

// ofImage returns the hash of an image and its other parts, without its mask, if it need not be
// read; empty otherwise.
func (r *rememberedHashes) ofImage(image int32) string {
	if hash := r.images[image].text(); hash != "" {
		return hash
	}
	return r.Origin.Hash(&r.Images[image])
}

// Inputs implements plan.Source.
func (s *imageSource) Inputs(shard int) []setdir.Input {
	var inputs []setdir.Input
	for image := range s.imagesOfShard(shard) {
		p := &s.Images[image]
		if hash := s.remembered.images[image].text(); hash != "" {
			inputs = append(inputs, setdir.Input{Key: setdir.InputKey(p.Path), Size: p.Size, ModTime: p.ModTime, Hash: hash, Version: p.Version.Text()})
		}
		if p.Mask() == nil {
			continue
		}
		if in, ok := s.remembered.masks[s.MaskKey(p.Mask().Path)]; ok {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// imagesOfShard yields the images that a shard's samples are made from, each once, partners included.
func (s *imageSource) imagesOfShard(shard int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		var seen map[int32]bool // nil if no image can be in two samples
		if s.Options.Augment.Policy != nil {
			seen = map[int32]bool{}
		}
		once := func(image int32) bool {
			if seen[image] {
				return true
			}
			if seen != nil {
				seen[image] = true
			}
			return yield(image)
		}
		for _, one := range s.samples[shard] {
			if !once(one.Image) {
				return
			}
			for _, image := range s.Partners(one) {
				if !once(image) {
					return
				}
			}
		}
	}
}

// is reports whether an image has this size and version. On disk, the modification time must be the
// same, too; the storage.Change counts only if both are known, and not with Options.TrustTimes.
func (r *rememberedHashes) is(p *origin.Image, size, modTime int64, version []byte) bool {
	switch {
	case size != p.Size:
		return false
	case len(version) == 0, bytes.HasPrefix(version, []byte(origin.OnDisk)):
		return modTime == p.ModTime && (r.Options.TrustTimes || len(version) == 0 || p.Version.Form == nil || p.Version.Is(version))
	case r.Options.TrustTimes:
		return p.Version.IsButForChange(version)
	}
	return p.Version.Is(version)
}
