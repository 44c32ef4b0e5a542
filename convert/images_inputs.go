package convert

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/setdir"
)

// identity appends the identity of a sample, the same on every machine: its key, its labels, its
// row of a table and the hash of its image's content.
func (s *imageSource) identity(dst []byte, sample sample, hash string) []byte {
	p, key := &s.images[sample.image], s.key(sample)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = binary.AppendUvarint(dst, uint64(len(p.label)))
	dst = append(dst, p.label...)
	dst = binary.AppendVarint(dst, int64(p.id))
	if s.synsets != nil {
		dst = s.identifyLabel(dst, p.id)
	}
	if p.row != nil {
		dst = binary.AppendUvarint(dst, uint64(len(p.row.labels)))
		for _, id := range p.row.labels {
			dst = s.identifyLabel(dst, id)
		}
		dst = binary.AppendUvarint(dst, uint64(len(p.row.features)))
		dst = append(dst, p.row.features...)
	}
	if p.annotated() != nil {
		dst = s.identifyAnnotations(dst, p.annotated())
	}
	return append(dst, hash...)
}

// identifyLabel appends the identity of a label by its id: all that records have of it.
func (s *imageSource) identifyLabel(dst []byte, id int32) []byte {
	dst = binary.AppendVarint(dst, int64(id))
	if len(s.labels) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.labels[id])))
	dst = append(dst, s.labels[id]...)
	if s.synsets != nil {
		dst = binary.AppendUvarint(dst, uint64(len(s.synsets[id])))
		dst = append(dst, s.synsets[id]...)
	}
	return dst
}

// outline implements source: keys, labels, file sizes, and what the listing has read; for a store
// also versions, since all tasks see the same ones.
func (s *imageSource) outline(job int) []byte {
	var b []byte
	add := func(sample sample) {
		p := &s.images[sample.image]
		b = s.identity(b, sample, s.origin.hash(p))
		b = binary.AppendVarint(b, p.size)
		if p.mask() != nil {
			b = binary.AppendVarint(b, p.mask().size)
		}
		if p.version != "" && s.origin.remote() {
			b = binary.AppendUvarint(b, uint64(len(p.version)))
			b = append(b, p.version...)
		}
	}
	for _, sample := range s.samples[job] {
		add(sample)
		for _, image := range s.partners(sample) {
			add(sampleOf(image))
		}
	}
	return b
}

// unreadHash replaces the content hash of an image that cannot be read. It is never saved, so the
// next run tries again.
func unreadHash(err error) string { return unreadPrefix + withoutPath(err).Error() }

const unreadPrefix = "unread: "

func isUnread(hash string) bool { return strings.HasPrefix(hash, unreadPrefix) }

// unusedHash replaces the content hash of an image that the listing rejected: its ledger entry
// depends on nothing else.
func unusedHash(b *setdir.BadSample) string {
	return fmt.Sprintf("unused: %s:%d: %s", b.Source, b.Line, b.Reason)
}

// attach implements source: it loads what earlier runs recorded about inputs.
func (s *imageSource) attach(dir *setdir.Dir) {
	s.dir, s.remembered = dir, map[string]setdir.Input{}
	if !s.o.HashInputs {
		dir.Remembered(s.place(), func(in setdir.Input) { s.remembered[string(in.Key)] = in })
	}
}

func (s *imageSource) remember() {} // shards record their inputs

func (s *imageSource) place() string { return s.origin.place() }

// imagesOfJob returns the images that a job's samples are made from, each once, partners included,
// and their indexes among them.
func (s *imageSource) imagesOfJob(job int) (images []int32, at map[int32]int) {
	at = make(map[int32]int, len(s.samples[job]))
	add := func(image int32) {
		if _, ok := at[image]; !ok {
			at[image] = len(images)
			images = append(images, image)
		}
	}
	for _, sample := range s.samples[job] {
		add(sample.image)
		for _, image := range s.partners(sample) {
			add(image)
		}
	}
	return images, at
}

// known implements source. It records what it has to read.
func (s *imageSource) known(ctx context.Context, job int, bad []setdir.BadSample) (identity []byte, read bool, err error) {
	images, at := s.imagesOfJob(job)
	hashes := make([]string, len(images))
	found := make([][2]setdir.Input, len(images)) // of images read here and their masks; the key is empty otherwise
	var unread []int                              // indexes of images
	for i, image := range images {
		if hashes[i] = s.knownHash(&s.images[image]); hashes[i] == "" {
			unread = append(unread, i)
		}
	}
	unmasked := make([]string, len(images)) // hashes of images of which only the mask is not known
	for _, i := range unread {
		unmasked[i] = s.imageHash(&s.images[images[i]])
	}
	var ahead *fetcher
	if s.origin.remote() && len(unread) > 0 {
		rest := unread
		ahead = s.fetch(ctx, func() *imageFile {
			for len(rest) > 0 {
				i := rest[0]
				if rest = rest[1:]; unmasked[i] == "" {
					return &s.images[images[i]]
				}
			}
			return nil
		})
		defer ahead.close()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.workers())
	for _, i := range unread {
		m := getSampleWork(sampleOf(images[i]))
		if ahead != nil && unmasked[i] == "" {
			m.fetched = ahead.take()
		}
		g.Go(func() (err error) {
			defer putSampleWork(m)
			if err := ctx.Err(); err != nil {
				return err
			}
			pic := &s.images[images[i]]
			if unmasked[i] == "" {
				_, hashes[i], found[i][0], err = s.read(ctx, m, pic)
			} else {
				var mask string
				mask, err = s.readMask(ctx, m, pic.mask())
				hashes[i] = unmasked[i] + mask
			}
			found[i][1] = m.maskInput
			if err == nil || s.endsRun(err) {
				return err
			}
			hashes[i] = unreadHash(err)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	faults := annotationFaults(bad)
	for _, sample := range s.samples[job] {
		hash := hashes[at[sample.image]]
		identity = s.identity(identity, sample, hash)
		p := &s.images[sample.image]
		if !isUnread(hash) {
			for _, image := range s.partners(sample) {
				identity = s.identity(identity, sampleOf(image), hashes[at[image]])
			}
		}
		if notes := p.annotated(); notes != nil && p.bad == nil && s.reportsFaults(sample) && faults[jsontext.Readable(p.path)] > len(notes.Faults) {
			identity = identifyNames(identity, notes)
		}
	}
	for i := range found {
		for _, in := range found[i] {
			if in.Key != "" {
				s.remembered[string(in.Key)] = in
				read = true
			}
		}
	}
	return identity, read, nil
}

// knownHash returns the hash of a sample's content if it need not be read; empty otherwise.
func (s *imageSource) knownHash(p *imageFile) string {
	if p.bad != nil {
		return unusedHash(p.bad)
	}
	hash := s.imageHash(p)
	if hash == "" || p.mask() == nil {
		return hash
	}
	in, ok := s.remembered[s.maskKey(p.mask())]
	if !ok || !p.mask().is(in) {
		return ""
	}
	return hash + in.Hash
}

// imageHash returns the hash of an image and what is beside it, but not of its mask, if it need not
// be read; empty otherwise.
func (s *imageSource) imageHash(p *imageFile) string {
	if in, ok := s.remembered[p.path]; ok && p.is(in) {
		return in.Hash
	}
	return s.origin.hash(p)
}

// inputs implements source.
func (s *imageSource) inputs(job int) []setdir.Input {
	var inputs []setdir.Input
	images, _ := s.imagesOfJob(job)
	for _, image := range images {
		p := &s.images[image]
		if in, ok := s.remembered[p.path]; ok {
			inputs = append(inputs, in)
		}
		if p.mask() == nil {
			continue
		}
		if in, ok := s.remembered[s.maskKey(p.mask())]; ok {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// is reports whether an image matches the recorded input.
func (p *imageFile) is(in setdir.Input) bool {
	if p.version != "" || in.Version != "" {
		return in.Size == p.size && in.Version == p.version
	}
	return in.Size == p.size && in.ModTime == p.modTime
}

// hashOf identifies an image and what is beside it in hexadecimal.
func hashOf(image []byte, rest *beside) string {
	if rest.record != nil {
		image = rest.record // it has the image
	}
	sum := xxh3.Hash128(image).Bytes()
	for _, part := range rest.features {
		sum = withPart(sum, part.key, xxh3.Hash128(part.value).Bytes())
	}
	return hex.EncodeToString(sum[:])
}

// withPart adds the hash of a part to that of an image.
func withPart(sum [16]byte, key string, part [16]byte) [16]byte {
	b := append(sum[:len(sum):len(sum)], part[:]...)
	return xxh3.Hash128(append(b, key...)).Bytes()
}
