package sha256pair

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
)

// The state of a hash of package crypto/sha256, as it encodes it: magic, eight words, the bytes of
// an unfinished block, and the number of bytes so far.
const (
	magic      = "sha\x03"
	wordsAt    = len(magic)
	lengthAt   = wordsAt + sha256.Size + sha256.BlockSize
	stateBytes = lengthAt + 8
)

// state is the interface of hashes in package crypto/sha256.
type state interface {
	hash.Hash
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Together reports whether pairs of streams are hashed faster than one after the other.
func Together() bool { return together }

var together = hasSHA && known()

// known reports whether this package knows the encoding.
func known() bool {
	s, ok := sha256.New().(state)
	if !ok {
		return false
	}
	b, err := s.AppendBinary(nil)
	return err == nil && len(b) == stateBytes && string(b[:len(magic)]) == magic &&
		binary.BigEndian.Uint32(b[wordsAt:]) == 0x6a09e667 && len(bytes.Trim(b[wordsAt+sha256.Size:], "\x00")) == 0
}

// write adds p to a and q, which is as long, to b. Both are hashes of package crypto/sha256.
func write(a, b hash.Hash, p, q []byte) {
	if !together {
		a.Write(p)
		b.Write(q)
		return
	}
	x, y := newWords(a), newWords(b)
	p, q = x.align(p), y.align(q)
	if n := min(len(p), len(q)) / sha256.BlockSize; n > 0 {
		blocks(&x.words, &y.words, &p[0], &q[0], n)
		n *= sha256.BlockSize
		x.store(n)
		y.store(n)
		p, q = p[n:], q[n:]
	}
	a.Write(p)
	b.Write(q)
}

// words is a hash as the words of its state.
type words struct {
	sum   state
	words [sha256.Size / 4]uint32
	bytes [stateBytes]byte
}

func newWords(sum hash.Hash) *words { return &words{sum: sum.(state)} }

// align hashes the beginning of p, if there is an unfinished block. It returns the rest.
func (w *words) align(p []byte) []byte {
	w.load()
	if n := int(binary.BigEndian.Uint64(w.bytes[lengthAt:]) % sha256.BlockSize); n > 0 {
		n = min(sha256.BlockSize-n, len(p))
		w.sum.Write(p[:n])
		w.load()
		p = p[n:]
	}
	return p
}

func (w *words) load() {
	if _, err := w.sum.AppendBinary(w.bytes[:0]); err != nil {
		panic(err) // it never fails
	}
	for i := range w.words {
		w.words[i] = binary.BigEndian.Uint32(w.bytes[wordsAt+4*i:])
	}
}

// store sets the state of the hash after n more bytes, which are whole blocks.
func (w *words) store(n int) {
	for i, v := range w.words {
		binary.BigEndian.PutUint32(w.bytes[wordsAt+4*i:], v)
	}
	length := w.bytes[lengthAt:]
	binary.BigEndian.PutUint64(length, binary.BigEndian.Uint64(length)+uint64(n))
	if err := w.sum.UnmarshalBinary(w.bytes[:]); err != nil {
		panic(err) // it is the result of AppendBinary
	}
}
