package storage

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// A block of an object is a file:
//
//	"tfrec block 1\n" and two zeros
//	size of the object, number of the block         8 bytes each, little-endian
//	length of the id, length of the version         4 bytes each
//	id, version
//	a hash of each chunk of the data                8 bytes each
//	data
//
// The id is the object's URL after a hash of where its store is. The hashes are XXH3 of 64 bits
// with the place in the object as the seed.
const (
	blockMagic = "tfrec block 1\n\x00\x00"
	// blockSize is the unit of caching. A request of this size takes little longer than one for a
	// record, and returns the records around it, too; it is also the size of the request that opens
	// an object.
	blockSize = firstPart
	// chunkSize is the unit of checksums, and so of reads from a block.
	chunkSize = 16 << 10
	sumSize   = 8
	// maxNames bounds ids and versions together. No store has longer ones.
	maxNames = 4 << 10
	maxHead  = len(blockMagic) + 24 + maxNames
)

// cached is one version of an object, in a cache.
type cached struct {
	cache   *cache
	id      string
	version string
	size    int64
}

// scratchSpace holds the head of a block that should be and the one that is, and data.
type scratchSpace [2*maxHead + blockSize/chunkSize*sumSize + blockSize]byte

var scratch = sync.Pool{New: func() any { return new(scratchSpace) }}

// serverNamer is a Store whose objects are not identified by their URLs alone.
type serverNamer interface {
	// Server differs between stores whose objects have the same URLs.
	Server() string
}

// idOf identifies the object at a location in a store.
func idOf(s Store, l Location) string {
	server := ""
	if p, ok := s.(serverNamer); ok {
		server = p.Server()
	}
	sum := xxh3.HashString128(server).Bytes() // hashed, since it may contain secrets
	return hex.EncodeToString(sum[:]) + " " + l.String()
}

// settled is the minimum age of an object that is versioned by its modification time for it to be
// cached. Such times may have a resolution of a second and come from clocks that disagree, and an
// object may be replaced within one second.
const settled = time.Minute

// in returns the cached view of an object, or nil if it cannot be cached.
func (c *cache) in(id string, is Object) *cached {
	if is.Version == "" || is.Size == 0 || len(id)+len(is.Version) > maxNames ||
		strings.HasPrefix(is.Version, Modified) && time.Since(is.ModTime) < settled {
		return nil
	}
	return &cached{c, id, is.Version, is.Size}
}

// path is where a block is, of whatever version.
func (e *cached) path(block int64) string { return e.cache.path(e.id, block) }

func (c *cache) path(id string, block int64) string {
	name := xxh3.HashString128Seed(id, uint64(block)).Bytes()
	return c.pathOf(name)
}

func (c *cache) pathOf(name [16]byte) string {
	text := hex.EncodeToString(name[:])
	return filepath.Join(c.dir, text[:2], text)
}

// has reports whether there seems to be a block.
func (e *cached) has(block int64) bool {
	_, err := os.Lstat(e.path(block))
	return err == nil
}

// appendHead appends the head of a block, up to the hashes.
func (e *cached) appendHead(dst []byte, block int64) []byte {
	dst = append(dst, blockMagic...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(block))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.id)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.version)))
	return append(append(dst, e.id...), e.version...)
}

// appendSums appends the hashes of a block's data.
func (e *cached) appendSums(dst, data []byte, block int64) []byte {
	for at := 0; at < len(data); at += chunkSize {
		sum := xxh3.HashSeed(data[at:min(at+chunkSize, len(data))], uint64(block*blockSize+int64(at)))
		dst = binary.LittleEndian.AppendUint64(dst, sum)
	}
	return dst
}

// sumsHold compares chunks, the first of which is at off in the object, with their hashes.
func sumsHold(data, sums []byte, off int64) bool {
	for at := 0; at < len(data); at += chunkSize {
		sum := xxh3.HashSeed(data[at:min(at+chunkSize, len(data))], uint64(off+int64(at)))
		if sum != binary.LittleEndian.Uint64(sums[at/chunkSize*sumSize:]) {
			return false
		}
	}
	return true
}

// beginning returns which version of an object the cache has the first block of;
// nil if it has none.
func (c *cache) beginning(id string) *cached {
	f, err := os.Open(c.path(id, 0))
	if err != nil {
		return nil
	}
	defer f.Close()
	var head [maxHead]byte
	n, _ := f.ReadAt(head[:], 0)
	b, ok := strings.CutPrefix(string(head[:n]), blockMagic)
	if !ok || len(b) < 24 {
		return nil
	}
	fixed := []byte(b[:24])
	size, ids, versions := binary.LittleEndian.Uint64(fixed), binary.LittleEndian.Uint32(fixed[16:]), binary.LittleEndian.Uint32(fixed[20:])
	names := b[24:]
	if int64(ids) != int64(len(id)) || int64(ids)+int64(versions) > int64(len(names)) || names[:ids] != id {
		return nil
	}
	return &cached{c, id, names[ids : ids+versions], int64(size)}
}
