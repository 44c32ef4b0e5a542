package parquet

import (
	"runtime"
	"slices"
	"sync"

	"github.com/tfrec/tfrec/internal/table"
)

const (
	// largePage is the size of a page in bytes, uncompressed, above which it is shared: many chunks
	// have rows of it, and decoding takes a multiple of its memory.
	largePage = 2 * table.ChunkBytes
	// keptPages is the size of all large pages that are kept. The last one is kept whatever its size.
	keptPages = 512 << 20
)

// sharedPages keeps large pages for the chunks that have rows of them, so that each is read and
// decoded once: of each column, the dictionary and the data page that were used last. It is safe for
// concurrent use.
type sharedPages struct {
	mu   sync.Mutex
	last []*sharedPage // in the order of their use
}

// theDictionary is the index of the dictionary among the pages of a column.
const theDictionary = -1

// sharedPage is the dictionary, or the data page, of a column that was used last.
type sharedPage struct {
	leaf       int
	dictionary bool
	size       int64 // uncompressed; guarded by sharedPages.mu

	mu           sync.Mutex // held while the page is decoded
	group, index int
	kind         table.Kind
	page         *page // never changed; nil if it is not in memory
}

// of returns the place for a page of a column, and forgets the pages that were not used for longest if
// all are too large together.
func (s *sharedPages) of(leaf int, dictionary bool, size int64) *sharedPage {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &sharedPage{leaf: leaf, dictionary: dictionary}
	if i := slices.IndexFunc(s.last, func(p *sharedPage) bool { return p.leaf == leaf && p.dictionary == dictionary }); i >= 0 {
		p = s.last[i]
		s.last = slices.Delete(s.last, i, i+1)
	}
	p.size = size
	s.last = append(s.last, p)
	total := int64(0)
	for _, p := range s.last {
		total += p.size
	}
	for total > keptPages && len(s.last) > 1 {
		total -= s.last[0].size
		s.last = slices.Delete(s.last, 0, 1)
	}
	return p
}

// page returns a page of a column, by its index. While it is decoded, others that want it wait.
func (s *sharedPages) page(c *column, index int, size int64, decode func(*page) error) (*page, error) {
	p := s.of(c.leaf.index, index == theDictionary, size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.page != nil && p.group == c.group && p.index == index && p.kind == c.kind {
		return p.page, nil
	}
	p.page = nil
	decoded := new(page)
	err := decode(decoded)
	c.w.release() // the page may be in its memory
	if err != nil {
		return nil, err
	}
	decoded.plain, decoded.lengths = nil, nil
	runtime.GC() // what decoding leaves is not to add to what follows
	p.group, p.index, p.kind, p.page = c.group, index, c.kind, decoded
	return decoded, nil
}

// drop forgets all pages.
func (s *sharedPages) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
}
