package splice

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tfrec/tfrec/internal/wire"
	"github.com/tfrec/tfrec/tfrecord"
)

// splicer removes and renames features of serialized Examples without changing the bytes of the
// others: values, and fields that later versions of the message may add, stay as written. If the
// keys were sorted by their bytes, as by Builder and the deterministic encoding of protocol
// buffers, they stay sorted. It is not safe for concurrent use.
type splicer struct {
	// fate decides whether a feature is kept, and its new key.
	fate func(key string) (to string, keep bool)

	fates   map[string]decision // by key: most records have the same keys
	body    []byte              // entries of the map being rewritten
	entries []splicedEntry      // entries of the record that are kept
	sorted  []byte
}

type decision struct {
	to            string
	keep, renamed bool
}

// splicedEntry is a map entry of a feature that is kept.
type splicedEntry struct {
	key      string
	renamed  bool
	from, to int // range in body
}

// maxFates is the maximum number of keys remembered; data may have any number.
const maxFates = 10_000

func newSplicer(rule func(key string) (to string, keep bool)) *splicer {
	return &splicer{fate: rule, fates: map[string]decision{}}
}

// append appends the record to dst with its features changed. It is an error if the record is not
// an Example, or if two features would get the same key.
func (s *splicer) append(dst, record []byte) ([]byte, error) {
	s.entries = s.entries[:0]
	for at := 0; at < len(record); {
		f, ok := wire.At(record, at)
		if !ok {
			return dst, notExample(at)
		}
		if f.Tag != wire.Bytes1 {
			dst = append(dst, record[at:f.To]...)
		} else {
			var err error
			if dst, err = s.features(dst, record[:f.To], f.From); err != nil {
				return dst, err
			}
		}
		at = f.To
	}
	return dst, s.checkKeys()
}

func notExample(at int) error {
	return &tfrecord.Error{Record: -1, Offset: int64(at), Part: tfrecord.PartParse, Err: fmt.Errorf("%w: not a tf.train.Example", tfrecord.ErrMalformed)}
}

// features appends the Features message data[at:] as a field of the Example.
func (s *splicer) features(dst, data []byte, at int) ([]byte, error) {
	s.body = s.body[:0]
	first, ordered, renamed := len(s.entries), true, false
	var before []byte
	for at < len(data) {
		f, ok := wire.At(data, at)
		if !ok {
			return dst, notExample(at)
		}
		raw := data[at:f.To]
		at = f.To
		if f.Tag != wire.Bytes1 {
			s.body = append(s.body, raw...)
			ordered = false // it has no position among sorted entries
			continue
		}
		key, err := entryKey(data[:f.To], f.From)
		if err != nil {
			return dst, err
		}
		ordered = ordered && (before == nil || bytes.Compare(before, key) < 0)
		before = key
		e := splicedEntry{from: len(s.body)}
		fate := s.fateOf(key)
		switch {
		case !fate.keep:
			continue
		case fate.renamed:
			s.body = appendRenamed(s.body, data[f.From:f.To], fate.to)
			e.renamed, renamed = true, true
		default:
			s.body = append(s.body, raw...)
		}
		e.key, e.to = fate.to, len(s.body)
		s.entries = append(s.entries, e)
	}
	body := s.body
	if ordered && renamed {
		body = s.inOrder(s.entries[first:])
	}
	dst = binary.AppendUvarint(append(dst, wire.Bytes1), uint64(len(body)))
	return append(dst, body...), nil
}

// inOrder returns the entries of body sorted by key.
func (s *splicer) inOrder(entries []splicedEntry) []byte {
	slices.SortStableFunc(entries, func(a, b splicedEntry) int { return strings.Compare(a.key, b.key) })
	s.sorted = s.sorted[:0]
	for _, e := range entries {
		s.sorted = append(s.sorted, s.body[e.from:e.to]...)
	}
	return s.sorted
}

// checkKeys returns an error if a new key is the key of another feature.
func (s *splicer) checkKeys() error {
	for i, e := range s.entries {
		for j, other := range s.entries {
			if e.renamed && i != j && e.key == other.key {
				return fmt.Errorf("two features would be named %q", e.key)
			}
		}
	}
	return nil
}

func (s *splicer) fateOf(key []byte) decision {
	f, known := s.fates[string(key)]
	if !known {
		name := string(key)
		f.to, f.keep = s.fate(name)
		f.renamed = f.keep && f.to != name
		if len(s.fates) < maxFates {
			s.fates[name] = f
		}
	}
	return f
}

// entryKey returns the key of the map entry data[at:]: the last one if there are several, as
// protocol buffer libraries do, and nil if there is none.
func entryKey(data []byte, at int) ([]byte, error) {
	var key []byte
	for at < len(data) {
		f, ok := wire.At(data, at)
		if !ok {
			return nil, notExample(at)
		}
		if f.Tag == wire.Bytes1 {
			key = data[f.From:f.To]
		}
		at = f.To
	}
	return key, nil
}

// appendRenamed appends a well-formed map entry with another key.
func appendRenamed(dst, entry []byte, key string) []byte {
	size := 1 + sizeUvarint(len(key)) + len(key)
	for at := 0; at < len(entry); {
		f, _ := wire.At(entry, at)
		if f.Tag != wire.Bytes1 {
			size += f.To - at
		}
		at = f.To
	}
	dst = binary.AppendUvarint(append(dst, wire.Bytes1), uint64(size))
	dst = binary.AppendUvarint(append(dst, wire.Bytes1), uint64(len(key)))
	dst = append(dst, key...)
	for at := 0; at < len(entry); {
		f, _ := wire.At(entry, at)
		if f.Tag != wire.Bytes1 {
			dst = append(dst, entry[at:f.To]...)
		}
		at = f.To
	}
	return dst
}

func sizeUvarint(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// Pool is a pool of splicers with the same rule. It is safe for concurrent use.
type Pool struct{ pool sync.Pool }

// NewPool returns a pool. rule decides whether a feature is kept, and its new key. It is called
// concurrently.
func NewPool(rule func(key string) (to string, keep bool)) *Pool {
	return &Pool{sync.Pool{New: func() any { return newSplicer(rule) }}}
}

// Append appends the record to dst with its features changed: see splicer.append.
func (s *Pool) Append(dst, record []byte) ([]byte, error) {
	one := s.pool.Get().(*splicer)
	defer s.pool.Put(one)
	return one.append(dst, record)
}
