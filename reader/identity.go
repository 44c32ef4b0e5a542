package reader

import (
	"context"
	"encoding/binary"
	"encoding/hex"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/storage"
)

// Fingerprint returns what the set is known by: a hash over the files' names
// without directories, their sizes and, as the manifest has them, their digests. Of
// files that no manifest names, the first and last 4 KiB stand for the rest.
func (s *Set) Fingerprint(ctx context.Context) (string, error) {
	if err := s.identify(ctx); err != nil {
		return "", err
	}
	return s.fingerprint, nil
}

// identify makes sure that s.fingerprint is known. It is not written again after that.
func (s *Set) identify(ctx context.Context) error {
	s.mu.Lock()
	known := s.fingerprint != ""
	s.mu.Unlock()
	if known {
		return nil
	}
	h := xxh3.New()
	var buf []byte
	for i := range s.sources {
		var err error
		if buf, err = s.appendIdentity(ctx, buf[:0], i); err != nil {
			return err
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(buf))))
		h.Write(buf)
	}
	sum := h.Sum128().Bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fingerprint == "" {
		s.fingerprint = hex.EncodeToString(sum[:])
	}
	return nil
}

// appendIdentity appends what source i is known by.
func (s *Set) appendIdentity(ctx context.Context, dst []byte, i int) ([]byte, error) {
	source, size := s.sources[i], s.stamps[i].info.Size()
	dst = append(append(dst, storage.Base(source.Path)...), 0)
	if !s.regular(i) {
		return dst, nil // a pipe: reading would take what is in it
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(size))
	if source.Info != nil && source.Info.SHA256 != "" && source.Info.Bytes == size {
		return append(dst, source.Info.SHA256...), nil
	}
	f, err := s.openFile(ctx, i)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return appendEnds(dst, f, size)
}
