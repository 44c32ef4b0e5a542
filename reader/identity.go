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
func (s *Set) Fingerprint() (string, error) {
	err := s.identify()
	return s.fingerprint, err
}

func (s *Set) identify() error {
	s.identity.Do(func() {
		h := xxh3.New()
		var buf []byte
		for i := range s.sources {
			if buf, s.identityErr = s.appendIdentity(buf[:0], i); s.identityErr != nil {
				return
			}
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(buf))))
			h.Write(buf)
		}
		sum := h.Sum128().Bytes()
		s.fingerprint = hex.EncodeToString(sum[:])
	})
	return s.identityErr
}

// appendIdentity appends what source i is known by.
func (s *Set) appendIdentity(dst []byte, i int) ([]byte, error) {
	source, size := s.sources[i], s.stamps[i].info.Size()
	dst = append(append(dst, storage.Base(source.Path)...), 0)
	if !s.regular(i) {
		return dst, nil // a pipe: reading would take what is in it
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(size))
	if source.Info != nil && source.Info.SHA256 != "" && source.Info.Bytes == size {
		return append(dst, source.Info.SHA256...), nil
	}
	f, err := s.openFile(context.Background(), i)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return appendEnds(dst, f, size)
}
