package fileset

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/tfrec/tfrec/internal/store/storage"
)

// Fingerprint returns the identity of the set.
func (s *files) Fingerprint(ctx context.Context) (string, error) {
	if err := s.identify(ctx); err != nil {
		return "", err
	}
	return s.fingerprint, nil
}

// identify sets s.fingerprint if it is not set yet. It is not written again after that.
func (s *files) identify(ctx context.Context) error {
	s.mu.Lock()
	known := s.fingerprint != ""
	s.mu.Unlock()
	if known {
		return nil
	}
	h := xxh3.New()
	if err := s.hash(ctx, h); err != nil {
		return err
	}
	sum := h.Sum128().Bytes()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fingerprint == "" {
		s.fingerprint = hex.EncodeToString(sum[:])
	}
	return nil
}

// hash writes the identities of the files, or of the sets that they came from.
func (s *files) hash(ctx context.Context, h *xxh3.Hasher) error {
	for _, of := range s.Joined {
		if err := of.identify(ctx); err != nil {
			return err
		}
		h.WriteString(of.fingerprint)
	}
	if len(s.Joined) > 0 {
		return nil
	}
	var buf []byte
	for i := range s.sources {
		var err error
		if buf, err = s.appendIdentity(ctx, buf[:0], i); err != nil {
			return err
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(buf))))
		h.Write(buf)
	}
	return nil
}

// appendIdentity appends the identity of source i.
func (s *files) appendIdentity(ctx context.Context, dst []byte, i int) ([]byte, error) {
	source, size := s.sources[i], s.stamps[i].info.Size()
	dst = append(append(dst, storage.Base(source.Path)...), 0)
	if !s.Regular(i) {
		return dst, nil // a pipe: reading would consume its data
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(size))
	if source.Info != nil && source.Info.SHA256 != "" && source.Info.Bytes == size {
		return append(dst, source.Info.SHA256...), nil
	}
	f, err := s.OpenAnywhere(ctx, i) // of an object, the ends are requested on their own
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dst, err = appendEnds(dst, f, size)
	if errors.Is(err, storage.ErrChanged) {
		err = s.changed(i, "the object was replaced")
	}
	return dst, err
}
