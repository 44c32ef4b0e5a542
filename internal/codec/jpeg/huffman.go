package jpeg

import (
	"bytes"
	"encoding/binary"
)

// lookBits is the number of bits that one table lookup decodes. It covers nearly all codes that
// occur, and keeps the tables of two components in the first-level cache.
const lookBits = 10

// An entry of a lookup table packs what reading one symbol takes:
//
//	bits 0-7   bits to skip: the code and the amplitude bits that follow it
//	bits 8-15  how far the coefficient index moves; endOfBlock at an end of block
//	bits 16-23 length of the code
//	bits 24-31 its symbol
type entry = uint32

// unknown is the entry of bits that begin a code longer than lookBits, or none at all. It
// moves the coefficient index further than any other entry.
const unknown entry = 0xFF << 8

// endOfBlock is added to the coefficient index at an end of block: more than any index.
const endOfBlock = 128

// outOfSight marks an entry of pairs.
const outOfSight = 1 << 63

// huffTable is a Huffman table from a DHT segment, and the tables derived from it, which are built
// when a scan first needs them.
type huffTable struct {
	// pairs is for the AC coefficients of sequential scans, up to two an entry, with their
	// values:
	//
	//	bits 0-7   bits to skip
	//	bits 8-15  how far the coefficient index moves, as in one
	//	bits 16-31 the first value
	//	bits 32-47 the last value, which goes before where the index moves to; a single one is there twice
	//	bits 48-63 where the first value goes, from the index on
	//
	// If even one value is not wholly in sight, it is the entry of one symbol and outOfSight.
	pairs [1 << lookBits]uint64
	one   [1 << lookBits]entry // one symbol an entry

	maxCode [17]int32
	offset  [17]int32
	spec    [16 + 256]byte // counts of each length, then symbols
	n       int            // number of symbols
	present bool           // spec holds a table
	derived uint8          // derived tables that are ready: madeDC, madeAC, madePairs
}

const (
	madeDC = 1 << iota
	madeAC
	madePairs
)

// set takes counts and symbols. A table equal to the one already there keeps what was derived.
func (t *huffTable) set(counts, symbols []byte) {
	if t.n == len(symbols) && bytes.Equal(t.spec[:16], counts) && bytes.Equal(t.spec[16:16+t.n], symbols) {
		t.present = true
		return
	}
	copy(t.spec[:16], counts)
	t.n = copy(t.spec[16:], symbols)
	t.derived = 0
	t.present = true
}

// derive makes the lookup tables of a DC or AC table. As in libjpeg, a code of all ones is
// an error, and so is a DC category above 15.
func (t *huffTable) derive(ac bool) error {
	want := uint8(madeDC)
	if ac {
		want = madeAC
	}
	if t.derived&want != 0 {
		return nil
	}
	t.derived = 0
	for i := range t.one {
		t.one[i] = unknown
	}
	code, k := int32(0), int32(0)
	for length := 1; length <= 16; length++ {
		t.offset[length] = k - code
		for range t.spec[length-1] {
			symbol := t.spec[16+k]
			if !ac && symbol > 15 {
				return damagef("a DC Huffman table with category %d", symbol)
			}
			if length <= lookBits {
				t.fill(code, length, symbol, ac)
			}
			code++
			k++
		}
		if code >= 1<<length && t.spec[length-1] > 0 {
			return damagef("a Huffman table with more codes of %d bits than there are", length)
		}
		t.maxCode[length] = code - 1
		if t.spec[length-1] == 0 {
			t.maxCode[length] = -1
		}
		code <<= 1
	}
	t.derived = want
	return nil
}

// fill enters one code into the lookup table, under all the bits that may follow it.
func (t *huffTable) fill(code int32, length int, symbol byte, ac bool) {
	free := lookBits - length
	first := int(code) << free
	if first+1<<free > len(t.one) {
		return // too many codes: derive is about to report them
	}
	e := makeEntry(length, symbol, ac)
	for i := first; i < first+1<<free; i++ {
		t.one[i] = e
	}
}

// makeEntry packs the entry of a single symbol.
func makeEntry(length int, symbol byte, ac bool) entry {
	skip, advance := length+int(symbol), 0
	if ac {
		run, size := int(symbol>>4), int(symbol&15)
		skip = length + size
		switch {
		case size != 0 || run == 15:
			advance = run + 1
		default: // also the end-of-band runs, which sequential scans do not have
			advance = endOfBlock
		}
	}
	return entry(skip) | entry(advance)<<8 | entry(length)<<16 | entry(symbol)<<24
}

// pair makes the pairs from the table of one symbol an entry.
func (t *huffTable) pair() {
	if t.derived&madePairs != 0 {
		return
	}
	// Each symbol with its value as the second of two: what it adds to the entry. Out of sight
	// it skips more than there is room for.
	var second [1 << lookBits]uint64
	for i, e := range t.one {
		second[i] = lookBits + 1
		if skip := e & 0xFF; e != unknown && skip <= lookBits {
			v := amplitude(uint64(i)<<(64-lookBits)<<(e>>16&63), uint(e>>24&15))
			second[i] = uint64(e&0xFFFF) | uint64(uint16(v))<<32
		}
	}
	for i := range t.pairs {
		s := second[i]
		skip, advance, v := s&0xFF, s>>8&0xFF, s>>32
		switch {
		case skip > lookBits:
			if t.pairs[i] = uint64(t.one[i]); t.one[i] != unknown {
				t.pairs[i] |= outOfSight
			}
			continue
		case advance != endOfBlock:
			if s := second[i<<skip&(1<<lookBits-1)]; skip+s&0xFF <= lookBits {
				t.pairs[i] = (skip | advance<<8 | v<<16 | (advance-1)<<48) + s
				continue
			}
		}
		t.pairs[i] = s | v<<16 | (advance-1)<<48
	}
	t.derived |= madePairs
}

// long finds a code longer than lookBits in the 16 bits given and returns its entry, or unknown if
// none matches.
func (t *huffTable) long(bits int32, ac bool) entry {
	for length := lookBits + 1; length <= 16; length++ {
		if code := bits >> (16 - length); code <= t.maxCode[length] {
			return makeEntry(length, t.spec[16+code+t.offset[length]], ac)
		}
	}
	return unknown
}

// standardTables are the tables of ITU-T T.81, annex K.3, which frames of motion JPEG leave out: DC
// and AC of luminance, DC and AC of chrominance, each as the body of a DHT segment.
var standardTables = [2][2][]byte{
	{standardDC("\x00\x01\x05\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00"), standardAC(
		"\x00\x02\x01\x03\x03\x02\x04\x03\x05\x05\x04\x04\x00\x00\x01\x7d",
		"\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0\x24\x33\x62\x72\x82\x09\x0a")},
	{standardDC("\x00\x03\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00"), standardAC(
		"\x00\x02\x01\x02\x04\x04\x03\x04\x07\x05\x04\x04\x00\x01\x02\x77",
		"\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1")},
}

// standardDHT is the DHT segment with all four.
var standardDHT = func() []byte {
	seg := []byte{0xFF, markerDHT, 0, 0}
	for id, tables := range standardTables {
		for class, table := range tables {
			seg = append(append(seg, byte(class<<4|id)), table...)
		}
	}
	binary.BigEndian.PutUint16(seg[2:], uint16(len(seg)-2))
	return seg
}()

// standardDC appends the twelve categories in order, as both standard DC tables have them.
func standardDC(counts string) []byte {
	return append([]byte(counts), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
}

// standardAC appends to the symbols given those that have codes of 16 bits: the rest, ascending.
func standardAC(counts, symbols string) []byte {
	table := []byte(counts + symbols)
	for run := range byte(16) {
		for size := byte(1); size <= 10; size++ {
			if s := run<<4 | size; !bytes.Contains([]byte(symbols), []byte{s}) {
				table = append(table, s)
			}
		}
	}
	return table
}
