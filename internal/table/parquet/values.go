package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/tfrec/tfrec/internal/table"
)

// maxValue is the length of the longest value in bytes, and maxBatch of all values of a column in a
// page or batch together.
const (
	maxValue = 1 << 30
	maxBatch = math.MaxInt32
)

// page is a decoded page: its levels, and the values that are there. Its memory is reused, unless it is
// shared.
type page struct {
	leaf  *leaf
	kind  table.Kind // of the values, as they are wanted
	n     int        // levels
	rep   []uint32   // empty unless the leaf is a list
	def   []uint32   // empty if all values are there
	there int        // values that are there

	ints   []int64
	floats []float32
	lost   []table.Lost // of ints or floats
	data   []byte
	ends   []int32

	// inPlace has values of bytes as the page does, each after its length; ends are then offsets into it.
	// It is nil if they are in data.
	inPlace []byte

	// dictionary is nil or has the values that are there, by indexes.
	dictionary *page
	indexes    []uint32

	lengths []int64
	plain   []byte // the uncompressed page
}

func (p *page) reset(h *pageHeader) {
	p.n, p.there = int(h.values), int(h.values)
	p.rep, p.def, p.dictionary, p.inPlace = p.rep[:0], p.def[:0], nil, nil
	p.ints, p.floats, p.data, p.ends, p.lost = p.ints[:0], p.floats[:0], p.data[:0], p.ends[:0], p.lost[:0]
}

// decode reads a data page.
func (p *page) decode(h *pageHeader, codec int, src []byte, dictionary *page) (err error) {
	p.reset(h)
	maxRep := 0
	if p.leaf.list {
		maxRep = 1
	}
	var values []byte
	if h.kind == pageDataV2 {
		if maxRep > 0 {
			if p.rep, err = appendHybrid(p.rep, src[:h.repBytes], 1, p.n); err != nil {
				return fmt.Errorf("repetition levels: %w", err)
			}
		}
		if p.leaf.def > 0 {
			if p.def, err = appendHybrid(p.def, src[h.repBytes:h.repBytes+h.defBytes], bits.Len(uint(p.leaf.def)), p.n); err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
		levels := h.repBytes + h.defBytes
		values = src[levels:]
		if !h.plain {
			if values, err = decompress(codec, p.plain, values, h.uncompressed-levels); err != nil {
				return fmt.Errorf("decompressing: %w", err)
			}
		}
	} else {
		if values, err = decompress(codec, p.plain, src, h.uncompressed); err != nil {
			return fmt.Errorf("decompressing: %w", err)
		}
	}
	if codec != codecNone && !h.plain {
		p.plain = values[:0]
	}
	if h.kind == pageData {
		if maxRep > 0 {
			if p.rep, values, err = appendLevels(p.rep, values, h.repEncoding, maxRep, p.n); err != nil {
				return fmt.Errorf("repetition levels: %w", err)
			}
		}
		if p.leaf.def > 0 {
			if p.def, values, err = appendLevels(p.def, values, h.defEncoding, p.leaf.def, p.n); err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
	}
	if len(p.def) > 0 {
		p.there = 0
		for _, d := range p.def {
			if d > uint32(p.leaf.def) {
				return fmt.Errorf("a definition level of %d: at most %d", d, p.leaf.def)
			}
			if d == uint32(p.leaf.def) {
				p.there++
			}
		}
	}
	switch {
	case p.there == 0:
		return nil
	case p.leaf.form == formNull:
		return errors.New("values in a column of nulls")
	}
	if err := p.values(h.encoding, values, dictionary); err != nil {
		return fmt.Errorf("values: %w", err)
	}
	return nil
}

// values decodes the values that are there.
func (p *page) values(encoding int, src []byte, dictionary *page) error {
	n := p.there
	switch encoding {
	case encodingPlain:
		return p.plainValues(src, n)
	case encodingDictionary, encodingPlainDictionary:
		if dictionary == nil {
			return errors.New("indexes of a dictionary that is missing")
		}
		if len(src) == 0 {
			return errShort
		}
		var err error
		if p.indexes, err = appendHybrid(p.indexes[:0], src[1:], int(src[0]), n); err != nil {
			return err
		}
		for _, i := range p.indexes {
			if int64(i) >= int64(dictionary.there) {
				return fmt.Errorf("index %d of a dictionary of %d values", i, dictionary.there)
			}
		}
		p.dictionary = dictionary
		return nil
	case encodingRLE:
		if p.leaf.physical != typeBoolean || len(src) < 4 {
			break
		}
		var err error
		if p.indexes, err = appendHybrid(p.indexes[:0], src[4:], 1, n); err != nil {
			return err
		}
		for _, v := range p.indexes {
			p.appendInt(int64(v))
		}
		return nil
	case encodingDelta:
		if p.leaf.physical != typeInt32 && p.leaf.physical != typeInt64 {
			break
		}
		v, _, err := deltas(p.lengths[:0], src, n)
		if err != nil {
			return err
		}
		p.lengths = v
		for _, v := range v {
			if p.leaf.physical == typeInt32 {
				v = int64(int32(v))
			}
			p.appendInt(v)
		}
		return nil
	case encodingDeltaLength:
		if p.leaf.physical == typeBytes {
			return p.deltaLengths(src, n)
		}
	case encodingDeltaBytes:
		if p.leaf.physical == typeBytes || p.leaf.physical == typeFixed {
			return p.deltaBytes(src, n)
		}
	case encodingSplit:
		size := p.leaf.fixedSize()
		if size == 0 || p.leaf.physical == typeInt96 {
			break
		}
		if len(src) < n*size {
			return errShort
		}
		// Byte i of all values, then byte i+1.
		joined := make([]byte, n*size)
		stride := len(src) / size
		for i := range size {
			for j := range n {
				joined[j*size+i] = src[i*stride+j]
			}
		}
		return p.plainValues(joined, n)
	}
	return fmt.Errorf("encoding %d of physical type %d", encoding, p.leaf.physical)
}

// fixedSize returns how many bytes each value has in the plain encoding, 0 if that differs.
func (l *leaf) fixedSize() int {
	switch l.physical {
	case typeInt32, typeFloat:
		return 4
	case typeInt64, typeDouble:
		return 8
	case typeInt96:
		return 12
	case typeFixed:
		return l.size
	}
	return 0
}

// plainValues decodes n values in the plain encoding.
func (p *page) plainValues(src []byte, n int) error {
	if size := p.leaf.fixedSize(); size > 0 && len(src)/size < n {
		return errShort
	}
	switch p.leaf.physical {
	case typeBoolean:
		if len(src) < (n+7)/8 {
			return errShort
		}
		for i := range n {
			p.appendInt(int64(src[i/8] >> (i % 8) & 1))
		}
	case typeInt32:
		for i := range n {
			p.appendInt(int64(int32(binary.LittleEndian.Uint32(src[4*i:]))))
		}
	case typeInt64:
		for i := range n {
			p.appendInt(int64(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case typeInt96:
		for i := range n {
			v, problem := nanoseconds(src[12*i:])
			if problem != "" {
				p.lost = append(p.lost, table.Lost{Value: p.len(), Reason: problem})
			}
			p.appendInt(v)
		}
	case typeFloat:
		for i := range n {
			p.floats = append(p.floats, math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case typeDouble:
		for i := range n {
			p.appendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case typeBytes:
		at := 0
		for range n {
			if len(src)-at < lengthSize {
				return errShort
			}
			size := binary.LittleEndian.Uint32(src[at:])
			if at += lengthSize; uint64(size) > uint64(len(src)-at) {
				return errShort
			}
			value := src[at : at+int(size)]
			if at += int(size); p.leaf.form != formDecimal {
				p.ends = append(p.ends, int32(at))
			} else if err := p.appendBytes(value); err != nil {
				return err
			}
		}
		if p.leaf.form != formDecimal {
			p.inPlace = src[:at]
		}
	case typeFixed:
		for i := range n {
			if err := p.appendBytes(src[i*p.leaf.size : (i+1)*p.leaf.size]); err != nil {
				return err
			}
		}
	}
	return nil
}

// lengthSize is the size of the length before each value of bytes in the plain encoding.
const lengthSize = 4

// value returns a value of bytes. It is valid as long as the page.
func (p *page) value(i int) []byte {
	from := int32(0)
	if i > 0 {
		from = p.ends[i-1]
	}
	if p.inPlace != nil {
		return p.inPlace[from+lengthSize : p.ends[i]]
	}
	return p.data[from:p.ends[i]]
}

// len returns the number of values of the wanted kind.
func (p *page) len() int { return max(len(p.ints), len(p.floats), len(p.ends)) }

// nanoseconds returns an INT96 timestamp as nanoseconds since 1970, or why that is impossible.
func nanoseconds(b []byte) (v int64, problem string) {
	const epoch, day = 2440588, int64(86400 * 1e9)
	of, days := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint32(b[8:]))-epoch
	if days > math.MaxInt64/day-1 || days < math.MinInt64/day+1 || of < -day || of > day {
		return 0, fmt.Sprintf("an INT96 timestamp %d days and %d ns after 1970 does not fit 64 bits", days, of)
	}
	return days*day + of, ""
}
