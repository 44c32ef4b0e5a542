package reader

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"
)

// identityEnds is how much of the beginning, and of the end, of a file without
// a manifest goes into the fingerprint.
const identityEnds = 4 << 10

// Fingerprint returns what the set is known by: a hash over the files' names
// without folders, their sizes and, as the manifest has them, their digests. Of
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
	source := s.sources[i]
	dst = append(append(dst, filepath.Base(source.Path)...), 0)
	st, err := os.Stat(source.Path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return dst, nil // a pipe: reading would take what is in it
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(st.Size()))
	if source.Info != nil && source.Info.SHA256 != "" && source.Info.Bytes == st.Size() {
		return append(dst, source.Info.SHA256...), nil
	}
	f, err := os.Open(source.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var ends [identityEnds]byte
	for _, offset := range []int64{0, max(0, st.Size()-identityEnds)} {
		n, err := f.ReadAt(ends[:], offset)
		if err != nil && err != io.EOF {
			return nil, err
		}
		dst = append(dst, ends[:n]...)
	}
	return dst, nil
}
