package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The sentinels that every error about an image wraps.
var (
	// ErrDamaged means that an image is not whole: data are missing, surplus or contradictory.
	ErrDamaged = errors.New("damaged image")
	// ErrUnsupported means that an image may be whole, but no available decoder reads its coding.
	ErrUnsupported = errors.New("unsupported image")
)

// damagef makes an error that wraps [ErrDamaged].
func damagef(format string, args ...any) error {
	return fmt.Errorf("%w: JPEG: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// unsupportedf makes an error that wraps [ErrUnsupported].
func unsupportedf(format string, args ...any) error {
	return fmt.Errorf("%w: JPEG: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// Marker codes, the byte after FF (ITU-T T.81, table B.1).
const (
	markerTEM  = 0x01
	markerSOF0 = 0xC0
	markerSOF1 = 0xC1
	markerSOF2 = 0xC2
	markerDHT  = 0xC4
	markerJPG  = 0xC8
	markerDAC  = 0xCC
	markerRST0 = 0xD0
	markerRST7 = 0xD7
	markerSOI  = 0xD8
	markerEOI  = 0xD9
	markerSOS  = 0xDA
	markerDQT  = 0xDB
	markerDNL  = 0xDC
	markerDRI  = 0xDD
	markerDHP  = 0xDE
	markerEXP  = 0xDF
	markerAPP0 = 0xE0
	markerAPP1 = 0xE1
	markerAPPE = 0xEE
	markerAPPF = 0xEF
	markerCOM  = 0xFE
)

// ColorSpace is the meaning of the components of an image.
type ColorSpace uint8

// The colour spaces, detected as libjpeg does: by the number of components, the JFIF and Adobe
// markers, and the component identifiers.
const (
	ColorGray  ColorSpace = iota // one component
	ColorYCbCr                   // three
	ColorRGB                     // three, stored without a transform
	ColorCMYK                    // four, taken as inverted, as Adobe stores them and Pillow reads them
	ColorYCCK                    // four, the first three transformed
	ColorOther                   // any other number of components
)

// Component is one plane of an image, as the frame header describes it.
type Component struct {
	ID   byte // as scans name it
	H, V int  // sampling factors, 1 to 4
	Tq   int  // quantisation table, 0 to 3
}

// Header describes a JPEG by the segments before its first scan.
type Header struct {
	Width, Height int  // in pixels, as stored; neither is 0
	Precision     int  // bits a sample
	SOF           byte // the frame's marker: C0 baseline, C1 extended, C2 progressive, C3 lossless, C9 and CA arithmetic
	N             int  // number of components
	Components    [4]Component
	ColorSpace    ColorSpace
	JFIF          bool
	Adobe         int    // the Adobe marker's transform, -1 without such a marker
	Restart       int    // restart interval in MCUs, 0 when there is none
	WideTables    bool   // a quantisation table has 16-bit entries
	NoTables      bool   // sequential without any Huffman table before the first scan, as frames of motion JPEG are: the standard ones are meant
	FirstScan     int    // number of components in the first scan
	Odd           bool   // has features that libjpeg ignores and stricter decoders reject: a number of lines before the first scan, or a sequential scan that is not of all coefficients
	Exif          []byte // the first EXIF block (a TIFF structure), nil without one; aliases the input
}

// Progressive reports whether the image is coded in several passes over its coefficients.
func (h *Header) Progressive() bool { return h.SOF == 0xC2 || h.SOF == 0xCA }

// Huffman reports whether the image's coding is one that [Check] can follow.
func (h *Header) Huffman() bool { return h.SOF <= markerSOF2 && h.Precision == 8 }

// Arithmetic reports whether the image is in arithmetic coding, of the kinds that libjpeg-turbo
// reads.
func (h *Header) Arithmetic() bool { return (h.SOF == 0xC9 || h.SOF == 0xCA) && h.Precision == 8 }

// Channels returns the channels of the image as stored: 1 for grayscale and 3 for colour.
func (h *Header) Channels() int {
	if h.ColorSpace == ColorGray {
		return 1
	}
	return 3
}

// blocks returns the number of blocks of the components, padded to whole MCUs.
func (h *Header) blocks() (n int64) {
	hmax, vmax := h.maxSampling()
	mcus := int64(ceilDiv(h.Width, 8*hmax)) * int64(ceilDiv(h.Height, 8*vmax))
	for _, c := range h.Components[:h.N] {
		n += mcus * int64(c.H*c.V)
	}
	return n
}

// Memory is the most bytes that decoding at full size needs in addition to the result: samples,
// converted pixels and, for progressive images and arithmetic ones of several scans, coefficients.
func (h *Header) Memory() int64 {
	perBlock := int64(64)
	if h.Progressive() || h.Arithmetic() {
		perBlock += 128 + 8
	}
	n := h.blocks() * perBlock
	if h.ColorSpace != ColorYCbCr {
		n += int64(h.Width) * int64(h.Height) * int64(h.N)
	}
	return n
}

// Plausible reports whether n bytes can hold the image in Huffman coding, where the first
// coefficient of each block takes at least one bit. If not, the caller need not allocate pixels:
// [Check] reports the missing data. For arithmetic coding, [Check] decides.
func (h *Header) Plausible(n int) bool {
	hmax, vmax := h.maxSampling()
	for _, c := range h.Components[:h.N] {
		if ceilDiv(ceilDiv(h.Width*c.H, hmax), 8)*ceilDiv(ceilDiv(h.Height*c.V, vmax), 8) > 8*n {
			return false
		}
	}
	return true
}

// Scaled is the size of the image when it is decoded at 1/denom: each side rounded up.
func (h *Header) Scaled(denom int) (w, ht int) {
	return (h.Width + denom - 1) / denom, (h.Height + denom - 1) / denom
}

// coding describes an image's coding in words, for errors.
func (h *Header) coding() string {
	kind := fmt.Sprintf("SOF%d", h.SOF-markerSOF0)
	switch h.SOF {
	case 0xC0, 0xC1:
		kind = "sequential"
	case 0xC2:
		kind = "progressive"
	case 0xC3:
		kind = "lossless"
	case 0xC9, 0xCA:
		kind = "arithmetic"
	}
	s := fmt.Sprintf("%s coding with %d bits and sampling", kind, h.Precision)
	for _, c := range h.Components[:h.N] {
		s += fmt.Sprintf(" %dx%d", c.H, c.V)
	}
	return s
}

// maxSampling gives the largest horizontal and vertical sampling factors.
func (h *Header) maxSampling() (hmax, vmax int) {
	for _, c := range h.Components[:h.N] {
		hmax, vmax = max(hmax, c.H), max(vmax, c.V)
	}
	return hmax, vmax
}

// IsJPEG reports whether data begins as a JPEG does.
func IsJPEG(data []byte) bool {
	return len(data) >= 3 && data[0] == 0xFF && data[1] == markerSOI && data[2] == 0xFF
}

// ParseHeader reads the segments up to the first scan's header. It reads no further and allocates
// nothing; callers must check limits on the size. The error wraps [ErrDamaged] or [ErrUnsupported].
func ParseHeader(data []byte) (Header, error) {
	h := Header{Adobe: -1}
	noTables := true
	if !IsJPEG(data) {
		return h, damagef("no start of image at byte 0")
	}
	pos := 2
	for {
		m, seg, next, err := segment(data, pos)
		if err != nil {
			return h, err
		}
		switch {
		case m == markerEOI:
			return h, damagef("the image ends at byte %d without any scan", pos)
		case m == markerSOI:
			return h, damagef("a second start of image at byte %d", pos)
		case isSOF(m):
			if h.SOF != 0 {
				return h, damagef("a second frame header at byte %d", pos)
			}
			if err := h.frame(m, seg, pos); err != nil {
				return h, err
			}
		case m == markerSOS:
			if h.SOF == 0 {
				return h, damagef("a scan at byte %d before any frame header", pos)
			}
			if len(seg) < 1 || seg[0] < 1 || seg[0] > 4 {
				return h, damagef("a scan header at byte %d that names no components", pos)
			}
			h.FirstScan = int(seg[0])
			h.Odd = h.Odd || h.SOF <= markerSOF1 && !bytes.HasSuffix(seg, []byte{0, 63, 0})
			h.NoTables = noTables && h.SOF <= markerSOF1
			h.ColorSpace = h.colorSpace()
			return h, nil
		case m == markerDRI:
			if len(seg) != 2 {
				return h, damagef("a restart interval of %d bytes at byte %d", len(seg), pos)
			}
			h.Restart = int(binary.BigEndian.Uint16(seg))
		case m == markerDNL:
			h.Odd = true
		case m == markerDHT:
			noTables = false
		case m == markerDQT:
			h.WideTables = h.WideTables || wideTables(seg)
		default:
			h.application(m, seg)
		}
		pos = next
	}
}

// isSOF reports whether m begins a frame: C0 to CF without DHT, JPG and DAC.
func isSOF(m byte) bool {
	return m&0xF0 == 0xC0 && m != markerDHT && m != markerJPG && m != markerDAC
}

// segment reads the marker at pos, which may follow fill bytes, and its parameters. Markers without
// parameters give a nil segment. Restart markers are not segments: the caller finds them only where
// they do not belong.
func segment(data []byte, pos int) (m byte, seg []byte, next int, err error) {
	start := pos
	if pos >= len(data) {
		return 0, nil, 0, damagef("the file ends at byte %d where a marker should be", pos)
	}
	if data[pos] != 0xFF {
		return 0, nil, 0, damagef("byte %d is %02X where a marker should be", pos, data[pos])
	}
	for pos < len(data) && data[pos] == 0xFF {
		pos++
	}
	if pos >= len(data) {
		return 0, nil, 0, damagef("the file ends at byte %d inside a marker", pos)
	}
	m = data[pos]
	pos++
	switch {
	case m == 0 || m >= markerRST0 && m <= markerRST7:
		return 0, nil, 0, damagef("marker %02X at byte %d, where none such belongs", m, start)
	case m == markerSOI || m == markerEOI || m == markerTEM:
		return m, nil, pos, nil
	case m < markerSOF0, m == markerJPG, m == markerDHP, m == markerEXP, m > markerAPPF && m != markerCOM:
		return 0, nil, 0, damagef("marker %02X at byte %d, which has no meaning", m, start)
	}
	if len(data)-pos < 2 {
		return 0, nil, 0, damagef("the file ends inside the segment at byte %d", start)
	}
	n := int(binary.BigEndian.Uint16(data[pos:]))
	if n < 2 {
		return 0, nil, 0, damagef("segment %02X at byte %d says that it has %d bytes", m, start, n)
	}
	if n > len(data)-pos {
		return 0, nil, 0, damagef("segment %02X at byte %d runs past the end of the file", m, start)
	}
	return m, data[pos+2 : pos+n], pos + n, nil
}

// frame reads a frame header.
func (h *Header) frame(m byte, seg []byte, pos int) error {
	if len(seg) < 6 || len(seg) != 6+3*int(seg[5]) {
		return damagef("frame header of %d bytes at byte %d", len(seg), pos)
	}
	h.SOF = m
	h.Precision = int(seg[0])
	h.Height = int(binary.BigEndian.Uint16(seg[1:]))
	h.Width = int(binary.BigEndian.Uint16(seg[3:]))
	n := int(seg[5])
	switch {
	case h.Width == 0 || n == 0:
		return damagef("a frame of %dx%d with %d components", h.Width, h.Height, n)
	case h.Height == 0:
		return unsupportedf("its height is given after the first scan (DNL), or not at all")
	case n > 4:
		return unsupportedf("%d components", n)
	}
	h.N = n
	for i := range h.Components[:n] {
		p := seg[6+3*i:]
		c := Component{ID: p[0], H: int(p[1] >> 4), V: int(p[1] & 15), Tq: int(p[2])}
		if c.H < 1 || c.H > 4 || c.V < 1 || c.V > 4 || c.Tq > 3 {
			return damagef("component %d has sampling %dx%d and quantisation table %d", i, c.H, c.V, c.Tq)
		}
		for _, d := range h.Components[:i] {
			if d.ID == c.ID {
				return damagef("two components are both called %d", c.ID)
			}
		}
		h.Components[i] = c
	}
	if n == 1 { // a single component is never interleaved: its factors mean nothing
		h.Components[0].H, h.Components[0].V = 1, 1
	}
	return nil
}

// application reads what matters of the APP0, APP1 and APP14 segments, and as libjpeg does
// (jdmarker.c) takes no notice of a JFIF or Adobe segment that is cut short.
func (h *Header) application(m byte, seg []byte) {
	switch m {
	case markerAPP0:
		h.JFIF = h.JFIF || bytes.HasPrefix(seg, []byte("JFIF\x00")) && len(seg) >= 14
	case markerAPP1:
		if h.Exif == nil && bytes.HasPrefix(seg, []byte("Exif\x00")) && len(seg) > 6 {
			h.Exif = seg[6:]
		}
	case markerAPPE:
		if bytes.HasPrefix(seg, []byte("Adobe")) && len(seg) >= 12 {
			h.Adobe = int(seg[11])
		}
	}
}

// colorSpace follows libjpeg's default_decompress_parms.
func (h *Header) colorSpace() ColorSpace {
	c := &h.Components
	switch h.N {
	case 1:
		return ColorGray
	case 3:
		switch {
		case h.JFIF:
			return ColorYCbCr
		case h.Adobe == 0:
			return ColorRGB
		case h.Adobe < 0 && c[0].ID == 'R' && c[1].ID == 'G' && c[2].ID == 'B':
			return ColorRGB
		}
		return ColorYCbCr
	case 4:
		if h.Adobe > 0 {
			return ColorYCCK
		}
		return ColorCMYK
	}
	return ColorOther
}

// wideTables reports whether a DQT segment has a table of 16-bit entries.
func wideTables(seg []byte) bool {
	for len(seg) > 0 {
		if seg[0]>>4 != 0 {
			return true
		}
		seg = seg[min(len(seg), 65):]
	}
	return false
}
