package convert

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/setdir"
	"github.com/tfrec/tfrec/internal/storage"
)

// identity appends the identity of a sample, the same on every machine: its key, its label and the
// hash of its image's content.
func (s *imageSource) identity(dst []byte, sample sample, hash string) []byte {
	p, key := &s.images[sample.image], s.key(sample)
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = binary.AppendUvarint(dst, uint64(len(p.label)))
	dst = append(dst, p.label...)
	dst = binary.AppendVarint(dst, int64(p.id))
	return append(dst, hash...)
}

// outline implements source: keys, labels and file sizes; for a store also versions, since all
// tasks see the same ones.
func (s *imageSource) outline(job int) []byte {
	var b []byte
	for _, sample := range s.samples[job] {
		b = s.identity(b, sample, "")
		p := &s.images[sample.image]
		b = binary.AppendVarint(b, p.size)
		if p.version != "" {
			b = binary.AppendUvarint(b, uint64(len(p.version)))
			b = append(b, p.version...)
		}
	}
	return b
}

// unreadHash replaces the content hash of an image that cannot be read. It is never saved, so the
// next run tries again.
func unreadHash(err error) string { return "unread: " + withoutPath(err).Error() }

// unusedHash replaces the content hash of an image that the listing rejected: its ledger entry
// depends on nothing else.
func unusedHash(b *setdir.BadSample) string {
	return fmt.Sprintf("unused: %s:%d: %s", b.Source, b.Line, b.Reason)
}

// attach implements source: it loads what earlier runs recorded about inputs.
func (s *imageSource) attach(dir *setdir.Dir) {
	s.remembered = map[string]setdir.Input{}
	if !s.o.HashInputs {
		dir.Remembered(s.place(), func(in setdir.Input) { s.remembered[string(in.Key)] = in })
	}
}

func (s *imageSource) remember() {} // shards record their inputs

// place implements source. A URL is the same on every machine.
func (s *imageSource) place() string {
	if s.root.Remote() {
		return s.root.String()
	}
	abs, err := filepath.Abs(s.root.Path())
	if err != nil {
		return s.root.Path()
	}
	return abs
}

// known implements source. It records what it has to read.
func (s *imageSource) known(ctx context.Context, job int) (identity []byte, read bool, err error) {
	samples := s.samples[job]
	hashes := make([]string, len(samples))
	found := make([]setdir.Input, len(samples)) // of images read here; the key is empty otherwise
	var unread []int                            // indexes of samples
	for i, sample := range samples {
		p := &s.images[sample.image]
		switch in, ok := s.remembered[p.path]; {
		case ok && p.is(in):
			hashes[i] = in.Hash
		case p.bad != nil:
			hashes[i] = unusedHash(p.bad)
		default:
			unread = append(unread, i)
		}
	}
	var ahead *fetcher
	if s.root.Remote() && len(unread) > 0 {
		rest := unread
		ahead = s.fetch(ctx, func() *imageFile {
			if len(rest) == 0 {
				return nil
			}
			i := rest[0]
			rest = rest[1:]
			return &s.images[samples[i].image]
		})
		defer ahead.close()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.o.workers())
	for _, i := range unread {
		m := getSampleWork(samples[i])
		if ahead != nil {
			m.fetched = ahead.take()
		}
		g.Go(func() (err error) {
			defer putSampleWork(m)
			if err := ctx.Err(); err != nil {
				return err
			}
			_, hashes[i], found[i], err = s.read(ctx, m, &s.images[samples[i].image])
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
func (s *imageSource) inputs(job int) []setdir.Input {
	var inputs []setdir.Input
	for _, sample := range s.samples[job] {
		if in, ok := s.remembered[s.images[sample.image].path]; ok {
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

// file returns the record of an image in a file: empty if its time is too recent to reveal a later
// change.
func (p *imageFile) file(hash string, st os.FileInfo) setdir.Input {
	if time.Since(st.ModTime()) <= settled {
		return setdir.Input{}
	}
	return setdir.Input{Key: setdir.InputKey(p.path), Size: st.Size(), ModTime: st.ModTime().UnixNano(), Hash: hash}
}

// object returns the record of an image in a store: empty if that is only its time and size, and
// the time is too recent. It was read as listed.
func (p *imageFile) object(hash string) setdir.Input {
	if strings.HasPrefix(p.version, storage.Modified) && time.Since(time.Unix(0, p.modTime)) <= 2*settled {
		return setdir.Input{} // stores report times in whole seconds
	}
	return setdir.Input{Key: setdir.InputKey(p.path), Size: p.size, ModTime: p.modTime, Hash: hash, Version: p.version}
}

func hashHex(data []byte) string {
	sum := xxh3.Hash128(data).Bytes()
	return hex.EncodeToString(sum[:])
}
