package convert

import (
	"context"
	"encoding/binary"

	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/convert/internal/imagerecord"
	"github.com/tfrec/tfrec/convert/internal/origin"
	"github.com/tfrec/tfrec/convert/internal/prefetch"
	"github.com/tfrec/tfrec/convert/internal/sample"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/set/setdir"
)

// Outline implements plan.Source. It has keys, labels, file sizes, and the hashes that the listing
// knows; for a store also versions, since all tasks see the same ones.
func (s *imageSource) Outline(shard int) []byte {
	var b []byte
	add := func(one sample.Sample) {
		p := &s.Images[one.Image]
		b = s.Identity(b, one, s.Origin.Hash(p))
		b = binary.AppendVarint(b, p.Size)
		if p.Mask() != nil {
			b = binary.AppendVarint(b, p.Mask().Size)
		}
		if version := p.Version.Text(); version != "" && s.Origin.Remote() {
			b = binary.AppendUvarint(b, uint64(len(version)))
			b = append(b, version...)
		}
	}
	for _, one := range s.samples[shard] {
		add(one)
		for _, image := range s.Partners(one) {
			add(sample.Of(image))
		}
	}
	return b
}

// Attach implements plan.Source.
func (s *imageSource) Attach(dir *setdir.Dir) {
	s.dir, s.remembered.searched = dir, false // other processes may have recorded more
	if s.remembered.images == nil {
		s.remembered.images = make([]hash128, len(s.Images))
	}
}

// Remember implements plan.Source: shards record their inputs.
func (s *imageSource) Remember() {}

// Place implements plan.Source.
func (s *imageSource) Place() string { return s.Origin.Place() }

// Known implements plan.Source. It records what it has to read.
func (s *imageSource) Known(ctx context.Context, shard int, bad []setdir.BadSample) (identity []byte, now []setdir.BadSample, read bool, err error) {
	hashes, faults, read, err := s.readUnknown(ctx, shard)
	if err != nil {
		return nil, nil, false, err
	}
	hashOf := func(image int32) string {
		if hash, ok := hashes[image]; ok {
			return hash
		}
		return s.remembered.known(image)
	}
	misplaced := sample.MisplacedAnnotations(bad)
	identity = make([]byte, 0, identitySize*len(s.samples[shard]))
	for _, one := range s.samples[shard] {
		hash := hashOf(one.Image)
		identity = s.Identity(identity, one, hash)
		p := &s.Images[one.Image]
		if hash != sample.Unread {
			for _, image := range s.Partners(one) {
				identity = s.Identity(identity, sample.Of(image), hashOf(image))
			}
		}
		if notes := p.Annotated(); notes != nil && p.Bad() == nil && s.ReportsFaults(one) && misplaced[jsontext.Readable(p.Path)] {
			identity = sample.IdentifyNames(identity, notes)
		}
	}
	return identity, s.relist(shard, bad, faults), read, nil
}

// identitySize is the usual size of a sample's identity in bytes.
const identitySize = 96

// unknown returns the images of a shard whose hashes are not known.
func (s *imageSource) unknown(shard int) (unknown []int32) {
	for image := range s.imagesOfShard(shard) {
		if p := &s.Images[image]; p.Mask() == nil && s.remembered.images[image] != (hash128{}) {
			continue // the usual case
		}
		if s.remembered.known(image) == "" {
			unknown = append(unknown, image)
		}
	}
	return unknown
}

// readUnknown reads the images of a shard whose hashes are not known, and returns these, and the errors
// of those that cannot be read. It remembers the hashes, and reports whether that is of use for the
// next run.
func (s *imageSource) readUnknown(ctx context.Context, shard int) (hashes map[int32]string, faults map[int32]error, read bool, err error) {
	images := s.unknown(shard)
	if len(images) > 0 && !s.remembered.searched {
		s.remembered.searchAll(s.dir)
		images = s.unknown(shard)
	}
	if len(images) == 0 {
		return nil, nil, false, nil
	}
	found := make([]readInput, len(images))
	for i, image := range images {
		found[i].unmasked = s.remembered.ofImage(image)
	}
	var ahead *prefetch.Fetcher
	if s.Origin.Remote() {
		rest := 0
		ahead = s.Fetch(ctx, s.fetchMemory, func() *origin.Image {
			for ; rest < len(images); rest++ {
				if found[rest].unmasked == "" {
					rest++
					return &s.Images[images[rest-1]]
				}
			}
			return nil
		})
		defer ahead.Close()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Workers)
	for i, image := range images {
		m := imagerecord.GetWork(sample.Of(image))
		in := &found[i]
		if ahead != nil && in.unmasked == "" {
			m.Fetched = ahead.Take()
		}
		g.Go(func() error {
			defer imagerecord.PutWork(m)
			if err := ctx.Err(); err != nil {
				return err
			}
			return s.readInput(ctx, m, in)
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, false, err
	}
	hashes, faults = make(map[int32]string, len(images)), map[int32]error{}
	for i, image := range images {
		if hashes[image] = found[i].hash; found[i].err != nil {
			faults[image] = found[i].err
		}
		if s.remembered.read(image, found[i].image, found[i].mask) {
			read = true
		}
	}
	return hashes, faults, read, nil
}

// readInput is an image whose hash is not known.
type readInput struct {
	unmasked    string // the hash of the image, if only the hash of its mask is unknown
	hash        string
	err         error        // why it cannot be read, if it is unread
	image, mask setdir.Input // what was read; without a key if that does not reveal a later change
}

// readInput reads an image and its mask, or only its mask. An error ends the run.
func (s *imageSource) readInput(ctx context.Context, m *imagerecord.Work, in *readInput) (err error) {
	pic := &s.Images[m.Sample.Image]
	if in.unmasked == "" {
		_, in.hash, in.image, err = s.Read(ctx, m, pic)
	} else {
		var mask string
		mask, err = s.ReadMask(ctx, m, pic)
		in.hash = in.unmasked + mask
	}
	in.mask = m.MaskInput
	if err == nil || s.EndsRun(err) {
		return err
	}
	in.hash, in.err = sample.Unread, err
	return nil
}
