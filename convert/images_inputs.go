package convert

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/shard"
)

// identity appends what a sample is known by everywhere: its key, its label and
// the hash of its picture's content.
func (s *imageSource) identity(dst []byte, sample sample, hash string) []byte {
	p, key := &s.pictures[sample.picture], s.key(sample)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = binary.AppendUvarint(dst, uint64(len(p.label)))
	dst = append(dst, p.label...)
	dst = binary.AppendVarint(dst, int64(p.id))
	return append(dst, hash...)
}

// outline implements source: keys, labels and the sizes of files.
func (s *imageSource) outline(job int) []byte {
	var b []byte
	for _, sample := range s.samples[job] {
		b = s.identity(b, sample, "")
		b = binary.AppendVarint(b, s.pictures[sample.picture].size)
	}
	return b
}

// unreadHash stands for the content of a picture that cannot be read. It is
// never remembered, so the next run tries again.
func unreadHash(err error) string { return "unread: " + withoutPath(err).Error() }

// unusedHash stands for the content of a picture that the listing refuses: the
// line of the ledger hangs on nothing else.
func unusedHash(b *shard.BadSample) string {
	return fmt.Sprintf("unused: %s:%d: %s", b.Source, b.Line, b.Reason)
}

// attach implements source: it takes over what earlier runs recorded of inputs.
func (s *imageSource) attach(dir *shard.Dir) {
	s.remembered = make(map[string]shard.Input, len(s.pictures))
	if !s.o.HashInputs {
		dir.Remembered(s.place(), func(in shard.Input) { s.remembered[string(in.Key)] = in })
	}
}

func (s *imageSource) remember() {} // shards remember their inputs

// place implements source.
func (s *imageSource) place() string {
	abs, err := filepath.Abs(s.root)
	if err != nil {
		return s.root
	}
	return abs
}

// known implements source. What it has to read it remembers.
func (s *imageSource) known(ctx context.Context, job int) (identity []byte, read bool, err error) {
	samples := s.samples[job]
	hashes := make([]string, len(samples))
	found := make([]shard.Input, len(samples)) // by reading; no key where there was no need
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.workers())
	for i, sample := range samples {
		p := &s.pictures[sample.picture]
		if in, ok := s.remembered[p.path]; ok && in.Size == p.size && in.ModTime == p.modTime {
			hashes[i] = in.Hash
			continue
		}
		if p.bad != nil {
			hashes[i] = unusedHash(p.bad)
			continue
		}
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			hashes[i], found[i] = s.hash(p)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	for i, sample := range samples {
		identity = s.identity(identity, sample, hashes[i])
		if found[i].Key != "" {
			s.remembered[string(found[i].Key)] = found[i]
			read = true
		}
	}
	return identity, read, nil
}

// inputs implements source.
func (s *imageSource) inputs(job int) []shard.Input {
	var inputs []shard.Input
	for _, sample := range s.samples[job] {
		if in, ok := s.remembered[s.pictures[sample.picture].path]; ok {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// hash reads a picture for its identity alone. The input has no key when it is
// not to be remembered.
func (s *imageSource) hash(p *picture) (string, shard.Input) {
	m := getMaking(sample{})
	defer putMaking(m)
	data, st, err := m.read(s.path(p))
	if err != nil {
		return unreadHash(err), shard.Input{}
	}
	return p.input(data, st)
}

// input returns the hash of a picture's content, and what it is remembered by:
// nothing when its time is too young to tell a later change.
func (p *picture) input(data []byte, st os.FileInfo) (hash string, in shard.Input) {
	hash = hashHex(data)
	if time.Since(st.ModTime()) > settled {
		in = shard.Input{Key: shard.InputKey(p.path), Size: st.Size(), ModTime: st.ModTime().UnixNano(), Hash: hash}
	}
	return hash, in
}

func hashHex(data []byte) string {
	sum := xxh3.Hash128(data).Bytes()
	return hex.EncodeToString(sum[:])
}
