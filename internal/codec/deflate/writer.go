package deflate

import (
	"encoding/binary"

	"github.com/tfrec/tfrec/internal/codec/inflate"
)

const (
	window     = 32 << 10 // that distances reach back
	chunk      = 256 << 10
	minMatch   = 6
	maxMatch   = 258
	blockItems = 16 << 10 // literals and matches of a block, at most

	goodMatch = 32 // that no later one is looked for
	niceMatch = 128
	// insertMost is the maximum number of strings that are entered at the beginning of a match, and
	// at its end.
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

	chains   chains
	tokens   []token        // of the block
	literals int            // after the last token
	items    int            // literals and matches of the block
	lit      [maxLit]uint32 // how often each symbol is in it
	dist     [maxDist]uint32
	codes    codes
}

// token is literals and the match after them.
type token struct {
	literals uint16
	length   uint16
	distance uint16 // less 1
}

// Reset begins a stream, which is appended to dst. The memory of the last one is reused.
func (w *Writer) Reset(dst []byte) {
	w.bits = bitWriter{out: append(dst, 0x78, 0x9C)} // a window of 32 KB, the default level
	w.checksum = 1
	w.chains.forget(w.filled)
	w.filled, w.done, w.from = 0, 0, 0
	w.begin()
}

// begin begins a block.
func (w *Writer) begin() {
	w.from = w.done
	w.tokens, w.literals, w.items = w.tokens[:0], 0, 0
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
	w.chains.slide(by)
}

// compress compresses the data in the buffer, and ends a block with it.
func (w *Writer) compress(last bool) {
	w.checksum = inflate.Adler(w.checksum, w.buffer[w.done:w.filled])
	data := w.buffer[:w.filled]
	for pos := w.done; pos < len(data); {
		next, entry, same := w.chains.skip(data, pos, min(len(data), pos+blockItems-w.items))
		w.literal(data[pos:next])
		pos = next
		if same != 0 {
			length, distance := w.chains.longest(data, pos, minMatch-1, entry, same)
			if length < minMatch {
				w.literal(data[pos : pos+1])
				pos++
			} else {
				pos = w.lazy(data, pos, length, distance)
			}
		}
		w.done = pos
		if w.items >= blockItems && pos < len(data) {
			w.block(false)
			w.begin()
		}
	}
	if w.items > 0 || last {
		w.block(last)
		w.begin()
	}
}

// lazy adds the match at pos, or literals and a longer match after them, and returns where it ends.
func (w *Writer) lazy(data []byte, pos, length, distance int) (end int) {
	for length < goodMatch {
		longer, further := w.chains.find(data, pos+1, length)
		if longer <= length {
			break
		}
		w.literal(data[pos : pos+1])
		pos++
		length, distance = longer, further
	}
	w.match(length, distance)
	w.chains.insert(data, pos+1, pos+min(length, insertMost))
	w.chains.insert(data, max(pos+insertMost, pos+length-insertMost), pos+length)
	return pos + length
}

func (w *Writer) literal(data []byte) {
	for _, b := range data {
		w.lit[b]++
	}
	w.literals += len(data)
	w.items += len(data)
}

func (w *Writer) match(length, distance int) {
	w.tokens = append(w.tokens, token{uint16(w.literals), uint16(length), uint16(distance - 1)})
	w.literals = 0
	w.items++
	w.lit[lengthSymbol(length)]++
	w.dist[distanceSymbol(distance)]++
}
