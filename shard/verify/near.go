package verify

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/store/osfile"
)

// nearDups finds similar images. It keeps 56 bytes per image in memory, and 60 more during the
// comparison; their locations are in a temporary file.
type nearDups struct {
	o      *DeepOptions
	create func() (*osfile.Scratch, error)

	mu     sync.Mutex
	chunks [][]nearImage
	file   *osfile.Scratch // a fixed number of bytes per image
	out    *bufio.Writer
	n      int // entries in the file

	flat atomic.Int64
}

// nearImage is an image to compare with others.
type nearImage struct {
	bits    [4]uint64
	payload uint64 // part of the hash of all images of the record
	record  int64
	key     uint32 // hash of the record's key
	file    uint32
	ref     uint32 // number of its entry in the file
	split   uint16
	variant bool
}

const nearChunk = 8192

// nearEntry is the size of an entry in the file: offset, length of the key, key.
const nearEntry = 8 + 2 + 118

// nearDupBatch has images that were not added yet.
type nearDupBatch struct {
	list []nearImage
	data []byte
	flat int64
}

func newNearDups(ctx context.Context, o *DeepOptions) *nearDups {
	return &nearDups{o: o, create: func() (*osfile.Scratch, error) { return osfile.ScratchIn(ctx, o.TempDir) }}
}

func (b *nearDupBatch) add(h nearHash, t twin) {
	if h.flat {
		b.flat++
		return
	}
	b.list = append(b.list, nearImage{
		bits: h.bits, payload: t.hash.Hi, record: t.at.record, key: uint32(xxh3.HashString(t.at.key)),
		file: uint32(t.at.file), split: t.split, variant: t.variant && t.at.key != "",
	})
	key := t.at.key[:min(len(t.at.key), nearEntry-10)]
	entry := make([]byte, nearEntry)
	binary.LittleEndian.PutUint64(entry, uint64(t.at.offset))
	binary.LittleEndian.PutUint16(entry[8:], uint16(len(key)))
	copy(entry[10:], key)
	b.data = append(b.data, entry...)
}

// add adds the images of a batch.
func (a *nearDups) add(b *nearDupBatch) (err error) {
	a.flat.Add(b.flat)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil && len(b.list) > 0 {
		if a.file, err = a.create(); err != nil {
			return err
		}
		a.out = bufio.NewWriterSize(a.file, 64<<10)
	}
	for i := range b.list {
		b.list[i].ref = uint32(a.n)
		a.n++
		if n := len(a.chunks); n == 0 || len(a.chunks[n-1]) == nearChunk {
			a.chunks = append(a.chunks, make([]nearImage, 0, nearChunk))
		}
		last := &a.chunks[len(a.chunks)-1]
		*last = append(*last, b.list[i])
	}
	if len(b.list) > 0 {
		_, err = a.out.Write(b.data)
	}
	b.list, b.data, b.flat = b.list[:0], b.data[:0], 0
	return err
}

func (a *nearDups) close() {
	if a.file != nil {
		a.file.Close()
	}
}

// place returns the location of an image.
func (a *nearDups) place(p *nearImage) (recordRef, error) {
	var entry [nearEntry]byte
	if _, err := a.file.ReadAt(entry[:], int64(p.ref)*nearEntry); err != nil {
		return recordRef{}, err
	}
	n := int(binary.LittleEndian.Uint16(entry[8:]))
	return recordRef{
		file: int(p.file), record: p.record, offset: int64(binary.LittleEndian.Uint64(entry[:])),
		key: string(entry[10 : 10+n]),
	}, nil
}

func (p *nearImage) compare(q *nearImage) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.record, q.record))
}

// likeness is the best match of an image among the earlier ones.
type likeness struct {
	other    uint32
	distance uint16
	leak     bool
	any      bool
}

// better reports whether l is a better match than m: a leak, then the nearest, then the first.
func (l *likeness) better(m *likeness) bool {
	switch {
	case !m.any || l.leak != m.leak:
		return !m.any || l.leak
	case l.distance != m.distance:
		return l.distance < m.distance
	}
	return l.other < m.other
}

// judge compares all images.
func (a *nearDups) judge(ctx context.Context, d *deepRun, r *DeepReport) error {
	r.Near = &NearCounts{Distance: a.o.NearDistance, Flat: a.flat.Load()}
	if a.n == 0 {
		return nil
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	images := slices.Concat(a.chunks...)
	a.chunks = nil
	slices.SortFunc(images, func(p, q nearImage) int {
		return cmp.Or(p.compare(&q), slices.Compare(p.bits[:], q.bits[:]))
	})
	// Of the images of a split with the same hash, only the first is compared with others; the rest
	// are similar to it.
	best := make([]likeness, len(images))
	var mu sync.Mutex // guards best and variants
	var variants int64
	consider := func(i, j, distance int) {
		mu.Lock()
		defer mu.Unlock()
		p, q := &images[i], &images[j]
		same := p.split == q.split || p.split == 0 || q.split == 0
		switch {
		case p.payload == q.payload: // identical, or in the same record
		case same && p.variant && q.variant && p.key == q.key:
			variants++
		default:
			if l := (likeness{uint32(j), uint16(distance), !same, true}); l.better(&best[i]) {
				best[i] = l
			}
		}
	}
	heads := a.heads(images, consider)
	s := &nearSearch{hashes: make([][4]uint64, len(heads)), distance: a.o.NearDistance, workers: d.workers}
	for n, i := range heads {
		s.hashes[n] = images[i].bits
	}
	var cut sync.Map
	err := s.each(ctx,
		func(i, j, distance int) { consider(int(heads[i]), int(heads[j]), distance) },
		func(i int) { cut.Store(i, true) })
	if err != nil {
		return err
	}
	cut.Range(func(any, any) bool { r.Near.Cut++; return true })
	r.Near.Variants = variants
	return a.report(d, r, images, best)
}

// heads returns the first image of each hash and split, in order.
func (a *nearDups) heads(images []nearImage, consider func(i, j, distance int)) []uint32 {
	order := make([]uint32, len(images))
	for i := range order {
		order[i] = uint32(i)
	}
	same := func(i, j uint32) bool {
		return images[i].bits == images[j].bits && images[i].split == images[j].split
	}
	slices.SortFunc(order, func(i, j uint32) int {
		p, q := &images[i], &images[j]
		return cmp.Or(slices.Compare(p.bits[:], q.bits[:]), cmp.Compare(p.split, q.split), cmp.Compare(i, j))
	})
	heads := order[:0]
	for k, i := range order {
		if k > 0 && same(i, heads[len(heads)-1]) {
			consider(int(i), int(heads[len(heads)-1]), 0)
			continue
		}
		heads = append(heads, i)
	}
	slices.Sort(heads)
	return heads
}

// report lists similar images.
func (a *nearDups) report(d *deepRun, r *DeepReport, images []nearImage, best []likeness) error {
	leaks, others := 0, 0
	for i := range best {
		l := &best[i]
		if !l.any || i > 0 && images[i].compare(&images[i-1]) == 0 && best[i-1].any {
			continue // no match, or another image of the same record
		}
		r.Near.Records++
		kind, severity, room := FindingNearDuplicate, SeverityWarning, &others
		message := "the image looks like that of the other record"
		other := &images[l.other]
		if l.leak {
			r.Near.Leaks++
			kind, severity, room = FindingNearLeak, SeverityFault, &leaks
			message += ", which is in split " + d.splits[other.split]
		}
		if *room++; *room > a.o.MaxFindings {
			r.add(Finding{Kind: kind, Severity: severity, Location: Location{Path: d.files[images[i].file].path}}, false)
			continue
		}
		at, err := a.place(&images[i])
		if err != nil {
			return err
		}
		from, err := a.place(other)
		if err != nil {
			return err
		}
		f := d.finding(kind, severity, at, "", fmt.Sprintf("%s (%d of 256 bits differ)", message, l.distance))
		f.Other = d.location(from)
		distance := int(l.distance)
		f.Distance = &distance
		r.add(f, true)
	}
	return nil
}
