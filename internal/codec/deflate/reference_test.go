package deflate

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/codec/inflate"
	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/internal/dev/torture"
)

// reference finds the matches that Writer must find, by lists of places. Places count from the
// beginning of the stream.
type reference struct {
	data   []byte
	chains [1 << 16]chain // by hash
}

// chain is the latest places of a hash, the latest first.
type chain struct {
	places [4]int
	n      int
}

func (r *reference) enter(pos, end int) (earlier chain) {
	if pos+hashed > end {
		return chain{}
	}
	h := binary.LittleEndian.Uint64(r.data[pos:]) << 16 * 0x9E3779B97F4A7C15 >> 48
	earlier = r.chains[h]
	now := chain{n: 1}
	if earlier.n == 0 || earlier.places[0] != pos { // otherwise it ends its chain
		now.n = 1 + copy(now.places[1:], earlier.places[:earlier.n])
	}
	now.places[0] = pos
	r.chains[h] = now
	return earlier
}

func (r *reference) insert(from, to, end int) {
	for pos := from; pos < to; pos++ {
		r.enter(pos, end)
	}
}

func (r *reference) find(pos, end, longest int) (length, distance int) {
	length = longest
	earlier := r.enter(pos, end)
	for _, at := range earlier.places[:earlier.n] {
		n := 0
		if pos-at > 32<<10 {
			break
		}
		for n < min(258, end-pos) && r.data[at+n] == r.data[pos+n] {
			n++
		}
		if n > length {
			if length, distance = n, pos-at; n >= 128 {
				break
			}
		}
	}
	return length, distance
}

// compress compresses data. Only what makes blocks of matches is the Writer's.
func (r *reference) compress(data []byte) []byte {
	r.data = data
	clear(r.chains[:])
	var w Writer
	w.Reset(nil)
	pos := 0
	for start := 0; ; {
		end := min(len(data), start+window+chunk)
		w.filled = copy(w.buffer[:], data[start:end])
		w.done = pos - start
		w.begin()
		flush := func(last bool) {
			w.done = pos - start
			w.block(last)
			w.begin()
		}
		for pos < end {
			length, distance := r.find(pos, end, 5)
			if length < 6 {
				w.literal(data[pos : pos+1])
				pos++
			} else {
				for length < 32 {
					longer, further := r.find(pos+1, end, length)
					if longer == length {
						break
					}
					w.literal(data[pos : pos+1])
					pos++
					length, distance = longer, further
				}
				w.match(length, distance)
				r.insert(pos+1, pos+min(length, 16), end)
				r.insert(pos+max(16, length-16), pos+length, end)
				pos += length
			}
			if w.items >= blockItems && pos < end {
				flush(false)
			}
		}
		if w.items > 0 || end == len(data) {
			flush(end == len(data))
		}
		if end == len(data) {
			return binary.BigEndian.AppendUint32(w.bits.end(), inflate.Adler(1, data))
		}
		start = end - window
	}
}

// TestReference: a Writer that has compressed other streams makes the bytes that the reference
// implementation makes.
func TestReference(t *testing.T) {
	race.Skip(t)
	r := torture.Rand(t)
	cases := slices.Collect(maps.Values(contents(r)))
	cases = append(cases, slices.Concat(cases...)) // of over a megabyte
	for range 200 {                                // of few values, and strings from elsewhere
		data := make([]byte, 1+r.IntN(1<<r.IntN(18)))
		spread := 0.2 + 3*r.Float64()
		for i := range data {
			data[i] = byte(int(r.NormFloat64() * spread))
		}
		for range r.IntN(40) {
			from := data[r.IntN(len(data)):]
			copy(data[r.IntN(len(data)):], from[:r.IntN(min(len(from), 300))])
		}
		cases = append(cases, data)
	}
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for _, n := range []int{window - 1, window, window + 1} { // the farthest matches
		far := noise(n)
		cases = append(cases, append(far, far...))
	}
	var lengths []byte // those at which something changes
	for range 300 {
		text := noise(300)
		for range 2 + r.IntN(5) {
			n := []int{6, goodMatch, niceMatch, maxMatch}[r.IntN(4)] + r.IntN(3) - 1
			lengths = slices.Concat(lengths, text[:n], noise(1+r.IntN(9)))
		}
	}
	cases = append(cases, lengths)
	var w Writer
	var reference reference
	for i, data := range cases {
		if i%4 == 0 { // places soon move to the beginning
			w.chains = chains{base: placesMost - r.IntN(2*chunk)}
		}
		if got, want := compress(&w, r, data)[6:], reference.compress(data); !bytes.Equal(got, want) {
			t.Errorf("%d: %d bytes make %d bytes, want %d, or others", i, len(data), len(got), len(want))
		}
	}
}
