package webp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// segmentHeader describes the differences of segments (RFC 6386, 9.3).
type segmentHeader struct {
	on, mapped bool
	relative   bool
	quantizer  [4]int8
	strength   [4]int8
	probs      [3]uint8
}

// filterHeader is the strength of the loop filter (RFC 6386, 9.6).
type filterHeader struct {
	simple    bool
	level     int8
	sharpness uint8
	deltas    bool
	intra     int8 // the change of intra macroblocks
	subblocks int8 // and of intra macroblocks whose subblocks are predicted separately
}

// quantizer are the steps of a segment, for DC and for the other coefficients.
type quantizer struct{ y1, y2, uv [2]uint16 }

// vp8Header is the size of the frame's header before the first partition.
const vp8Header = 10

// header reads the size of the frame.
func (d *vp8) header(body []byte) error {
	if len(body) < vp8Header {
		return errShort
	}
	if body[0]&1 != 0 || body[3] != 0x9D || body[4] != 0x01 || body[5] != 0x2A {
		return errFormat
	}
	if version, shown := body[0]>>1&7, body[0]>>4&1 != 0; version > 3 || !shown {
		return fmt.Errorf("%w: version %d, shown: %t", errStrict, version, shown)
	}
	d.width = int(binary.LittleEndian.Uint16(body[6:])) & 0x3FFF
	d.height = int(binary.LittleEndian.Uint16(body[8:])) & 0x3FFF
	if d.width == 0 || d.height == 0 {
		return errFormat
	}
	d.mbw, d.mbh = (d.width+15)/16, (d.height+15)/16
	return nil
}

// otherHeaders reads everything before the modes of macroblocks. No memory is allocated before it
// has succeeded.
func (d *vp8) otherHeaders(body []byte) error {
	size := int(body[0])>>5 | int(body[1])<<3 | int(body[2])<<11
	body = body[vp8Header:]
	if size > len(body) {
		return errShort
	}
	r := &d.first
	r.init(body[:size])
	r.literal(2) // the colour space, and whether samples may need clamping: always done
	d.readSegments(r)
	d.readFilter(r)
	if err := d.readPartitions(r, body[size:]); err != nil {
		return err
	}
	d.readSteps(r)
	r.bit(even) // whether probabilities are kept for the next frame: there is none
	d.readTokenProbs(r)
	d.skips, d.skipProb = r.bit(even), 0
	if d.skips {
		d.skipProb = uint8(r.literal(8))
	}
	if r.end {
		return errShort
	}
	return nil
}

func (d *vp8) readSegments(r *boolReader) {
	s := &d.segments
	*s = segmentHeader{probs: [3]uint8{255, 255, 255}}
	if s.on = r.bit(even); !s.on {
		return
	}
	s.mapped = r.bit(even)
	if r.bit(even) {
		s.relative = !r.bit(even)
		for i := range s.quantizer {
			s.quantizer[i] = int8(r.optional(7))
		}
		for i := range s.strength {
			s.strength[i] = int8(r.optional(6))
		}
	}
	if s.mapped {
		for i := range s.probs {
			if r.bit(even) {
				s.probs[i] = uint8(r.literal(8))
			}
		}
	}
}

func (d *vp8) readFilter(r *boolReader) {
	f := &d.filter
	*f = filterHeader{simple: r.bit(even), level: int8(r.literal(6)), sharpness: uint8(r.literal(3)), deltas: r.bit(even)}
	if f.deltas && r.bit(even) {
		var deltas [8]int8 // of four reference frames, the first being none, and of four modes
		for i := range deltas {
			deltas[i] = int8(r.optional(6))
		}
		f.intra, f.subblocks = deltas[0], deltas[4]
	}
	for segment := range d.levels {
		// Levels wrap around at 8 bits as x/image's do; no encoder comes near.
		level := f.level
		if d.segments.on {
			level = d.segments.strength[segment]
			if d.segments.relative {
				level += f.level
			}
		}
		if f.deltas {
			level += f.intra
		}
		d.levels[segment][0].set(level, f.sharpness)
		if f.deltas {
			level += f.subblocks
		}
		d.levels[segment][1].set(level, f.sharpness)
	}
}

// readPartitions divides the rest of the data into the partitions of coefficients (RFC 6386, 9.5).
func (d *vp8) readPartitions(r *boolReader, data []byte) error {
	d.nParts = 1 << r.literal(2)
	sizes := 3 * (d.nParts - 1)
	if sizes > len(data) {
		return errShort
	}
	rest := data[sizes:]
	for i := range d.nParts - 1 {
		n := int(data[3*i]) | int(data[3*i+1])<<8 | int(data[3*i+2])<<16
		if n > len(rest) {
			return errShort
		}
		d.parts[i].init(rest[:n])
		rest = rest[n:]
	}
	if len(rest) >= 1<<24 {
		return errors.New("a partition of 16 MiB or more")
	}
	d.parts[d.nParts-1].init(rest)
	return nil
}

// readSteps reads the quantisation (RFC 6386, 9.6 and 14.1).
func (d *vp8) readSteps(r *boolReader) {
	base := r.literal(7)
	var deltas [5]int // of the DC of luma, DC and AC of its DC, DC and AC of chroma
	for i := range deltas {
		deltas[i] = r.optional(4)
	}
	for i := range d.steps {
		q := base
		if d.segments.on {
			q = int(d.segments.quantizer[i])
			if d.segments.relative {
				q += base
			}
		}
		at := func(delta, most int) int { return min(max(q+delta, 0), most) }
		d.steps[i] = quantizer{
			y1: [2]uint16{dcSteps[at(deltas[0], 127)], acSteps[at(0, 127)]},
			y2: [2]uint16{2 * dcSteps[at(deltas[1], 127)], max(8, uint16(uint32(acSteps[at(deltas[2], 127)])*155/100))},
			uv: [2]uint16{dcSteps[at(deltas[3], 117)], acSteps[at(deltas[4], 127)]},
		}
	}
}
