package deflate

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/inflate"
	"github.com/tfrec/tfrec/internal/swar"
)

const (
	window     = 32 << 10 // that distances reach back
	chunk      = 256 << 10
	minMatch   = 6
	maxMatch   = 258
	blockItems = 16 << 10 // literals and matches of a block, at most

	hashBits = 16
	hashed   = 8 // bytes that a hash reads

	maxChain  = 4  // earlier strings that are compared
	goodMatch = 32 // that no later one is looked for
	niceMatch = 128
	// insertMost is how many strings at the beginning of a match, and at its end, are entered.
	insertMost = 16
)

// Writer compresses one stream at a time. Its zero value is ready for [Writer.Reset].
type Writer struct {
	bits     bitWriter
	checksum uint32

	buffer [window + chunk]byte
	filled int
	done   int // how far the buffer is compressed
	from   int // where the block begins in it

	head  [1 << hashBits]int32 // the last string of each hash, plus 1; 0: none
	prev  [window]int32        // by the place of a string, modulo the window: the one before, plus 1
	items []uint32             // of the block
	lit   [maxLit]uint32       // how often each symbol is in it
	dist  [maxDist]uint32
	codes codes
}

// Reset begins a stream, which is appended to dst. The memory of the last one is reused.
func (w *Writer) Reset(dst []byte) {
	w.bits = bitWriter{out: append(dst, 0x78, 0x9C)} // a window of 32 KB, the default level
	w.checksum = 1
	w.filled, w.done, w.from = 0, 0, 0
	clear(w.head[:])
	w.begin()
}

// begin begins a block.
func (w *Writer) begin() {
	w.from = w.done
	w.items = w.items[:0]
	clear(w.lit[:])
	clear(w.dist[:])
}

// Write compresses data, now or later.
func (w *Writer) Write(data []byte) {
	for len(data) > 0 {
		if w.filled == len(w.buffer) {
			w.compress(false)
			w.slide()
		}
		n := copy(w.buffer[w.filled:], data)
		w.filled += n
		data = data[n:]
	}
}

// Close ends the stream and returns it, after what was there before.
func (w *Writer) Close() []byte {
	w.compress(true)
	out := binary.BigEndian.AppendUint32(w.bits.end(), w.checksum)
	w.bits.out = nil
	return out
}

// slide drops what distances cannot reach any more.
func (w *Writer) slide() {
	by := w.filled - window
	copy(w.buffer[:], w.buffer[by:w.filled])
	w.filled, w.done, w.from = window, window, window
	for i, p := range w.head {
		w.head[i] = max(0, p-int32(by))
	}
	for i, p := range w.prev { // by is a multiple of the window: places stay
		w.prev[i] = max(0, p-int32(by))
	}
}

// compress compresses what is in the buffer, and ends a block with it.
func (w *Writer) compress(last bool) {
	w.checksum = inflate.Adler(w.checksum, w.buffer[w.done:w.filled])
	data := w.buffer[:w.filled]
	pos := w.done
	for pos < len(data) {
		length, distance := w.find(data, pos, minMatch-1)
		if length < minMatch {
			w.literal(data[pos])
			pos++
		} else {
			for length < goodMatch {
				longer, further := w.find(data, pos+1, length)
				if longer <= length {
					break
				}
				w.literal(data[pos])
				pos++
				length, distance = longer, further
			}
			w.match(length, distance)
			w.insert(data, pos+1, pos+min(length, insertMost))
			w.insert(data, max(pos+insertMost, pos+length-insertMost), pos+length)
			pos += length
		}
		if len(w.items) >= blockItems && pos < len(data) {
			w.done = pos
			w.block(false)
			w.begin()
		}
	}
	w.done = pos
	if len(w.items) > 0 || last {
		w.block(last)
		w.begin()
	}
}

func hash(v uint64) uint32 { return uint32(v << 16 * 0x9E3779B97F4A7C15 >> (64 - hashBits)) }

// find enters the string at pos and returns the longest of the earlier ones that has more than so
// many bytes in common with it, and how far back it is; no more bytes than that if there is none.
func (w *Writer) find(data []byte, pos, longest int) (length, distance int) {
	if pos+hashed > len(data) {
		return longest, 0
	}
	v := binary.LittleEndian.Uint64(data[pos:])
	at := w.enter(v, pos)
	most := min(maxMatch, len(data)-pos)
	for chain := maxChain; at >= 0 && pos-at <= window && chain > 0; chain-- {
		if (binary.LittleEndian.Uint64(data[at:])^v)<<16 == 0 && longest < most && data[at+longest] == data[pos+longest] {
			if n := swar.Common(data[at:at+most], data[pos:pos+most]); n > longest {
				longest, distance = n, pos-at
				if n >= niceMatch {
					break
				}
			}
		}
		before := int(w.prev[at%window]) - 1
		if before >= at {
			break
		}
		at = before
	}
	return longest, distance
}

// insert enters the strings from one place to before another.
func (w *Writer) insert(data []byte, from, to int) {
	for pos := from; pos < min(to, len(data)-hashed+1); pos++ {
		w.enter(binary.LittleEndian.Uint64(data[pos:]), pos)
	}
}

// enter enters the string v at pos, and returns where the last one of its hash is; -1 if there is none.
func (w *Writer) enter(v uint64, pos int) (before int) {
	h := &w.head[hash(v)]
	before = int(*h) - 1
	w.prev[pos%window] = *h
	*h = int32(pos + 1)
	return before
}

func (w *Writer) literal(b byte) {
	w.items = append(w.items, uint32(b))
	w.lit[b]++
}

func (w *Writer) match(length, distance int) {
	w.items = append(w.items, isMatch|uint32(length-3)<<16|uint32(distance-1))
	w.lit[lengthSymbol(length)]++
	w.dist[distanceSymbol(distance)]++
}
