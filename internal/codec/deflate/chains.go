package deflate

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/swar"
)

const (
	hashBits = 16
	hashed   = 8 // bytes that a hash reads; six of them count
	maxChain = 4 // earlier strings that are compared

	placeBits  = 24
	placeMask  = 1<<placeBits - 1
	placesMost = placeMask - window - chunk // of the beginning of the buffer
	tagBits    = 10
	eachTag    = 1<<(3*tagBits) | 1<<(2*tagBits) | 1<<tagBits | 1 // the lowest bits of maxChain tags
)

// chains finds earlier strings of six bytes and more. Strings with the same hash form a chain, the
// latest first. A place counts bytes over several buffers and streams, so that the chains of one
// stream need not be cleared for the next.
type chains struct {
	// last has by hash the place of the latest string, plus 1, in its lowest 24 bits; 0: none.
	// Above are the tags of the latest four strings, 10 more bits of the hash, the latest one's
	// lowest: they exclude most strings that differ, without reading prev and the data.
	last [1 << hashBits]uint64
	// prev has by place, modulo the window, the place of the string before it in the chain, plus 1.
	// A string that is entered twice precedes itself, and ends its chain.
	prev [window]uint32
	base int // the place of the buffer's first byte
}

// forget empties the chains, after a buffer with n bytes.
func (c *chains) forget(n int) {
	if c.base += n; c.base > placesMost {
		clear(c.last[:])
		c.base = 0
	}
}

// slide drops n bytes from the beginning of the buffer.
func (c *chains) slide(n int) {
	if c.base += n; c.base <= placesMost {
		return
	}
	by := c.base &^ (window - 1) // a multiple of the window: prev does not change
	for i, e := range c.last {
		c.last[i] = e&^placeMask | uint64(max(0, int(e&placeMask)-by))
	}
	for i, p := range c.prev {
		c.prev[i] = uint32(max(0, int(p)-by))
	}
	c.base -= by
}

// enter enters the string v at a place, and returns what last had for its hash, and its tag.
func (c *chains) enter(v, place uint64) (last, tag uint64) {
	h := v << 16 * 0x9E3779B97F4A7C15
	e := &c.last[h>>(64-hashBits)]
	last = *e
	tag = h >> (64 - hashBits - tagBits) & (1<<tagBits - 1)
	c.prev[place%window] = uint32(last & placeMask)
	*e = last&^placeMask<<tagBits | (tag<<placeBits | (place + 1))
	return last, tag
}

// sameTags returns which strings of a chain have the tag: for each the highest bit of its tag. It may
// name those after one that has it, too.
func sameTags(last, tag uint64) uint64 {
	x := last>>placeBits ^ tag*eachTag
	return (x - eachTag) &^ x & (1 << (tagBits - 1) * eachTag)
}

// skip enters strings from pos on until one whose tag earlier ones have, and returns where it is, what
// last had for it, and which these are: none if it came to end.
func (c *chains) skip(data []byte, pos, end int) (next int, last, same uint64) {
	base := uint64(c.base)
	for stop := min(end, len(data)-hashed+1); pos < stop; pos++ {
		last, tag := c.enter(binary.LittleEndian.Uint64(data[pos:]), base+uint64(pos))
		if same := sameTags(last, tag); same != 0 {
			return pos, last, same
		}
	}
	return end, 0, 0
}

// find enters the string at pos and looks for an earlier one, as longest does.
func (c *chains) find(data []byte, pos, longest int) (length, distance int) {
	if pos+hashed > len(data) {
		return longest, 0
	}
	last, tag := c.enter(binary.LittleEndian.Uint64(data[pos:]), uint64(c.base+pos))
	same := sameTags(last, tag)
	if same == 0 {
		return longest, 0
	}
	return c.longest(data, pos, longest, last, same)
}

// longest returns the length of the longest match of an earlier string with the string at pos, if
// it is longer than length, and its distance. Otherwise it returns length and 0. It compares only
// strings of the chain that have the same tag. length must be at least five.
func (c *chains) longest(data []byte, pos, length int, last, same uint64) (longest, distance int) {
	here := data[pos:min(len(data), pos+maxMatch)]
	for p := last & placeMask; length < len(here); p = uint64(c.prev[(p-1)%window]) {
		at := int(p) - 1 - c.base
		if at < 0 || pos-at > window {
			break
		}
		if same>>(tagBits-1)&1 != 0 && data[at+length] == here[length] {
			if n := swar.Common(data[at:at+len(here)], here); n > length {
				length, distance = n, pos-at
				if n >= niceMatch {
					break
				}
			}
		}
		if same >>= tagBits; same == 0 {
			break
		}
	}
	return length, distance
}

// insert enters the strings from one place to before another.
func (c *chains) insert(data []byte, from, to int) {
	for pos := from; pos < min(to, len(data)-hashed+1); pos++ {
		c.enter(binary.LittleEndian.Uint64(data[pos:]), uint64(c.base+pos))
	}
}
