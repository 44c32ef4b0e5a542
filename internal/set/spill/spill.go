// Package spill distributes rows to buckets: they are kept in memory up to a limit, beyond that in
// one file, until each bucket is taken as a whole. Sorting and shuffling more than memory holds are
// built on it.
package spill

import (
	"io"
	"slices"
	"sync"
)

// File is where a Spill puts what memory does not hold. Several goroutines may write at a time.
type File interface {
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
}

// Spill keeps the rows of buckets until they are taken. Its methods may be
// called by many goroutines at a time: rows of different buckets do not wait for each other.
type Spill struct {
	create  func() (File, error)
	buckets []bucket
	block   int // size of the blocks that memory is taken in
	least   int // bytes that an eviction writes, and that are free after it

	// Locks are taken in this order: end, a bucket's, mu.
	end  sync.Mutex
	file File
	size int64 // of file, including writes in progress
	hand int   // the bucket that the next eviction begins with

	mu    sync.Mutex
	free  [][]byte // blocks that hold nothing
	spare int      // blocks that may still be made; negative while too many are in use
	left  int      // buckets not taken yet
}

// bucket is parts of the file, then blocks in memory, all but the last one full.
type bucket struct {
	mu      sync.Mutex
	extents []extent
	blocks  [][]byte
	size    int // of all
	rows    int
}

type extent struct{ offset, size int64 }

const (
	// Sizes of blocks. A block for each bucket is never more than a quarter of the memory, until
	// they would be too small to be worth it.
	MaxBlock   = 64 << 10
	LeastBlock = 1 << 10
	// maxEvicted is the number of bytes to evict from memory at a time.
	maxEvicted = 4 << 20
	// worthWriting is a block that is worth a write of its own; others are joined.
	worthWriting = 32 << 10
	maxJoined    = 256 << 10
)

// New makes a Spill of the given number of buckets, of which left will be taken, that uses about
// limit bytes of memory. create is called once, if that is too little.
func New(buckets, left int, limit int64, create func() (File, error)) *Spill {
	block := min(max(int(limit)/4/max(buckets, 1), LeastBlock), MaxBlock)
	return &Spill{
		create: create, buckets: make([]bucket, buckets), left: left,
		block: block, spare: max(int(limit)/block, 1), least: min(int(limit)/8, maxEvicted),
	}
}

// Add puts the rows of a batch into their buckets. A batch of more than an eighth of the memory
// exceeds it until Add returns.
func (s *Spill) Add(batch *Batch) error {
	rows := batch.byBucket(len(s.buckets))
	for len(rows) > 0 {
		number := batch.rows[rows[0]].bucket
		b := &s.buckets[number]
		b.mu.Lock()
		for len(rows) > 0 && batch.rows[rows[0]].bucket == number {
			r := &batch.rows[rows[0]]
			s.put(b, batch.Data[r.header:r.to], nil)
			s.put(b, batch.Data[r.from:r.header], nil)
			s.put(b, r.rest, nil)
			b.rows++
			rows = rows[1:]
		}
		b.mu.Unlock()
	}
	return s.evict()
}

// AddRow puts a row with a large payload into a bucket: less than 4 GiB, which may come in parts. If
// memory has no room for the payload, it is written to the file without a copy.
func (s *Spill) AddRow(number int, row Row, payload ...[]byte) error {
	size := 0
	for _, part := range payload {
		size += len(part)
	}
	parts := append([][]byte{row.appendHeader(make([]byte, 0, maxHeader), size)}, payload...)
	b := &s.buckets[number]
	if blocks, ok := s.blocksFor(size/s.block + 2); ok {
		b.mu.Lock()
		for _, part := range parts {
			s.put(b, part, &blocks)
		}
		b.rows++
		b.mu.Unlock()
		s.release(blocks)
		return nil
	}
	s.end.Lock()
	b.mu.Lock()
	blocks, from := b.blocks, s.size
	b.blocks = nil
	b.size += len(parts[0]) + size
	b.rows++
	parts = append(slices.Clip(blocks), parts...)
	s.reserve(b, parts)
	b.mu.Unlock()
	file, err := s.open()
	s.end.Unlock()
	if err == nil {
		err = write(file, from, parts)
	}
	s.release(blocks)
	return err
}

// put appends a row, or a part of one, to a bucket that the caller has locked. It takes blocks from
// supply first, if there is one.
func (s *Spill) put(b *bucket, row []byte, supply *[][]byte) {
	b.size += len(row)
	for len(row) > 0 {
		last := len(b.blocks) - 1
		if last < 0 || len(b.blocks[last]) == s.block {
			b.blocks = append(b.blocks, s.newBlock(supply))
			last++
		}
		block := b.blocks[last]
		n := min(len(row), s.block-len(block))
		b.blocks[last] = append(block, row[:n]...)
		row = row[n:]
	}
}

// newBlock returns an empty block, of supply if that has one.
func (s *Spill) newBlock(supply *[][]byte) []byte {
	if supply != nil && len(*supply) > 0 {
		return pop(supply)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) > 0 {
		return pop(&s.free)
	}
	s.spare--
	return make([]byte, 0, s.block)
}

// blocksFor returns n empty blocks, if memory has room for as many.
func (s *Spill) blocksFor(n int) (blocks [][]byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.spare+len(s.free) {
		return nil, false
	}
	for range n {
		if len(s.free) > 0 {
			blocks = append(blocks, pop(&s.free))
			continue
		}
		s.spare--
		blocks = append(blocks, make([]byte, 0, s.block))
	}
	return blocks, true
}

// pop removes the last block.
func pop(blocks *[][]byte) []byte {
	last := len(*blocks) - 1
	block := (*blocks)[last]
	(*blocks)[last] = nil
	*blocks = (*blocks)[:last]
	return block
}

// release gives blocks back.
func (s *Spill) release(blocks [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, block := range blocks {
		if s.spare < 0 {
			s.spare++ // and the block is garbage
			continue
		}
		s.free = append(s.free, block[:0])
	}
}

// full reports whether memory has no room for the next rows.
func (s *Spill) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spare+len(s.free) < s.least/s.block || s.spare < 0
}

// evict moves buckets from memory to the file, one after another, until there is room in memory for
// the next rows. All have their turn, so that each has collected rows for as long as possible; what
// fits into memory stays there.
func (s *Spill) evict() error {
	for s.full() {
		s.end.Lock()
		file, err := s.open()
		if err != nil {
			s.end.Unlock()
			return err
		}
		var blocks [][]byte
		from := s.size
		for range s.buckets {
			b := &s.buckets[s.hand]
			s.hand = (s.hand + 1) % len(s.buckets)
			b.mu.Lock()
			s.reserve(b, b.blocks)
			blocks = append(blocks, b.blocks...)
			b.blocks = nil
			b.mu.Unlock()
			if s.size-from >= int64(s.least) {
				break
			}
		}
		s.end.Unlock()
		if len(blocks) == 0 { // other goroutines are writing all of them
			return nil
		}
		err = write(file, from, blocks)
		s.release(blocks)
		if err != nil {
			return err
		}
	}
	return nil
}

// reserve makes room for parts of a bucket at the end of the file. The caller has locked both.
func (s *Spill) reserve(b *bucket, parts [][]byte) {
	var size int64
	for _, part := range parts {
		size += int64(len(part))
	}
	if size > 0 {
		b.extents = append(b.extents, extent{s.size, size})
		s.size += size
	}
}

// open returns the file, and creates it if there is none. The caller has locked end.
func (s *Spill) open() (File, error) {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return nil, err
		}
		s.file = f
	}
	return s.file, nil
}

// write writes parts to the file, one after another.
func write(file File, offset int64, parts [][]byte) error {
	joined := joins.Get().(*[]byte)
	defer joins.Put(joined)
	buffer := (*joined)[:0]
	put := func(p []byte) error {
		n, err := file.WriteAt(p, offset)
		offset += int64(n)
		return err
	}
	for _, part := range parts {
		if len(buffer)+len(part) > maxJoined || len(part) >= worthWriting {
			if err := put(buffer); err != nil {
				return err
			}
			buffer = buffer[:0]
		}
		if len(part) < worthWriting {
			buffer = append(buffer, part...)
		} else if err := put(part); err != nil {
			return err
		}
	}
	return put(buffer)
}

var joins = sync.Pool{New: func() any { b := make([]byte, 0, maxJoined); return &b }}

// Size returns how many bytes Take of a bucket would give.
func (s *Spill) Size(bucket int) int {
	b := &s.buckets[bucket]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// Rows returns how many rows Take of a bucket would give.
func (s *Spill) Rows(bucket int) int {
	b := &s.buckets[bucket]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows
}

// Take appends the rows of a bucket to dst, and drops them. [Parse] separates them. All rows must
// have been added. Taking the last bucket closes the file.
func (s *Spill) Take(number int, dst []byte) ([]byte, error) {
	b := &s.buckets[number]
	b.mu.Lock()
	extents, blocks, size := b.extents, b.blocks, b.size
	b.extents, b.blocks, b.size, b.rows = nil, nil, 0, 0
	b.mu.Unlock()
	s.end.Lock()
	file := s.file
	s.end.Unlock()
	dst = slices.Grow(dst, size)
	for _, e := range extents {
		part := dst[len(dst) : len(dst)+int(e.size)]
		if _, err := file.ReadAt(part, e.offset); err != nil {
			return nil, err
		}
		dst = dst[:len(dst)+int(e.size)]
	}
	for _, block := range blocks {
		dst = append(dst, block...)
	}
	s.release(blocks)
	s.mu.Lock()
	s.left--
	last := s.left == 0
	s.mu.Unlock()
	if last {
		return dst, s.Close()
	}
	return dst, nil
}

// Close closes the file, if there is one. Callers that do not take all buckets need it.
func (s *Spill) Close() error {
	s.end.Lock()
	defer s.end.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
