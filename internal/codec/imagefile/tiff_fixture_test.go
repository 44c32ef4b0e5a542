package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/tfrec/tfrec/internal/codec/recolor"
	"github.com/tfrec/tfrec/internal/codec/tiff"
)

// tiffSpec says how a TIFF file for tests is written.
type tiffSpec struct {
	order                          binary.AppendByteOrder
	width, height                  int
	photometric, bits, samples     int
	float                          bool
	alpha                          int // of extra samples, if the file says
	saysAlpha                      bool
	compression                    int
	difference, tiled              bool // the file has the predictor; its data only if they are compressed with one
	blockWidth, blockHeight        int
	palette                        []uint16 // reds, greens, blues
	change                         func(tags map[int][]int)
	shareBlocks, cutShort, badSums bool
}

// testRange is how the codecs of tests take floats.
var testRange = &[2]float64{-25, 200}

// pixel gives the samples of a pixel; of floats, the bits of a float32.
type pixel func(x, y int) []uint32

// sample is one sample of an image, 0 beyond its edges.
func (s *tiffSpec) sample(at pixel, x, y, i int) uint32 {
	if x >= s.width || y >= s.height {
		return 0
	}
	return at(x, y)[i]
}

// block is the rows of a block, before they are compressed.
func (s *tiffSpec) block(at pixel, x0, y0, w, h int) []byte {
	var out []byte
	for y := y0; y < y0+h; y++ {
		var row []byte
		have, acc := 0, uint32(0)
		before := make([]uint32, s.samples)
		for x := x0; x < x0+w; x++ {
			for i := range s.samples {
				v := s.sample(at, x, y, i)
				if s.difference && !s.float && tiff.HasPredictor(s.compression) {
					v, before[i] = (v-before[i])&(1<<s.bits-1), v
				}
				switch s.bits {
				case 64:
					row = s.order.AppendUint64(row, math.Float64bits(float64(math.Float32frombits(v))))
				case 32:
					row = s.order.AppendUint32(row, v)
				case 16:
					row = s.order.AppendUint16(row, uint16(v))
				default:
					acc, have = acc<<s.bits|v, have+s.bits
					if have == 8 {
						row, acc, have = append(row, byte(acc)), 0, 0
					}
				}
			}
		}
		if have > 0 {
			row = append(row, byte(acc<<(8-have)))
		}
		if s.difference && s.float && tiff.HasPredictor(s.compression) {
			row = s.floatDifference(row)
		}
		out = append(out, row...)
	}
	return out
}

// floatDifference is the predictor of floats: the bytes of a row by significance, each as the
// difference from the one of the pixel before it.
func (s *tiffSpec) floatDifference(row []byte) []byte {
	size := s.bits / 8
	out := make([]byte, 0, len(row))
	for i := range size {
		if s.order == binary.AppendByteOrder(binary.LittleEndian) {
			i = size - 1 - i
		}
		for at := i; at < len(row); at += size {
			out = append(out, row[at])
		}
	}
	for i := len(out) - 1; i >= s.samples; i-- {
		out[i] -= out[i-s.samples]
	}
	return out
}

// compress compresses a block.
func (s *tiffSpec) compress(r *rand.Rand, data []byte) []byte {
	var out bytes.Buffer
	switch s.compression {
	case tiff.Deflate, tiff.DeflateOld:
		w := zlib.NewWriter(&out)
		_, _ = w.Write(data)
		_ = w.Close()
		if s.badSums {
			out.Bytes()[out.Len()-1] ^= 1
		}
	case tiff.PackBits:
		for len(data) > 0 {
			n := min(len(data), 1+r.IntN(128))
			same := 1
			for same < n && data[same] == data[0] {
				same++
			}
			switch {
			case r.IntN(9) == 0:
				out.WriteByte(0x80)
			case same > 1:
				out.Write([]byte{byte(1 - same), data[0]})
				data = data[same:]
			default:
				out.WriteByte(byte(n - 1))
				out.Write(data[:n])
				data = data[n:]
			}
		}
	case tiff.LZW: // literals alone, cleared before codes get longer
		var acc uint64
		have := 0
		code := func(c int) {
			acc, have = acc<<9|uint64(c), have+9
			for ; have >= 8; have -= 8 {
				out.WriteByte(byte(acc >> (have - 8)))
			}
		}
		for i, b := range data {
			if i%250 == 0 {
				code(256)
			}
			code(int(b))
		}
		code(257)
		out.WriteByte(byte(acc << (8 - have)))
	default:
		return data
	}
	return out.Bytes()
}

// write makes the file.
func (s *tiffSpec) write(r *rand.Rand, at pixel) []byte {
	head := "II*\x00"
	if s.order == binary.AppendByteOrder(binary.BigEndian) {
		head = "MM\x00*"
	}
	file := append([]byte(head), 0, 0, 0, 0)
	w, h := s.width, s.height
	if s.blockHeight > 0 {
		h = s.blockHeight
	}
	if s.tiled {
		w = s.blockWidth
	}
	var offsets, sizes []int
	for y := 0; y < s.height; y += h {
		for x := 0; x < s.width; x += w {
			high := h
			if !s.tiled {
				high = min(h, s.height-y)
			}
			if !s.shareBlocks || len(offsets) == 0 {
				data := s.compress(r, s.block(at, x, y, w, high))
				if s.cutShort {
					data = data[:len(data)*2/3]
				}
				offsets, sizes = append(offsets, len(file)), append(sizes, len(data))
				file = append(file, data...)
				continue
			}
			offsets, sizes = append(offsets, offsets[0]), append(sizes, sizes[0])
		}
	}
	bits, formats := make([]int, s.samples), make([]int, s.samples)
	for i := range bits {
		if bits[i], formats[i] = s.bits, tiff.Whole; s.float {
			formats[i] = tiff.Float
		}
	}
	tags := map[int][]int{
		tiff.TagWidth: {s.width}, tiff.TagHeight: {s.height}, tiff.TagBits: bits, tiff.TagCompression: {s.compression}, tiff.TagPhotometric: {s.photometric},
		tiff.TagSamples: {s.samples}, tiff.TagPlanar: {1}, tiff.TagFormat: formats,
	}
	switch {
	case s.difference && s.float:
		tags[tiff.TagPredictor] = []int{tiff.FloatDifference}
	case s.difference:
		tags[tiff.TagPredictor] = []int{tiff.Difference}
	}
	if s.saysAlpha {
		tags[tiff.TagExtra] = []int{s.alpha}
	}
	if s.palette != nil {
		for _, v := range s.palette {
			tags[tiff.TagColorMap] = append(tags[tiff.TagColorMap], int(v))
		}
	}
	if s.tiled {
		tags[tiff.TagTileWidth], tags[tiff.TagTileHeight], tags[tiff.TagTileOffsets], tags[tiff.TagTileSizes] = []int{w}, []int{h}, offsets, sizes
	} else {
		tags[tiff.TagStripRows], tags[tiff.TagStripOffsets], tags[tiff.TagStripSizes] = []int{h}, offsets, sizes
	}
	if s.change != nil {
		s.change(tags)
	}
	return s.directory(file, tags)
}

// directory appends the directory and enters it in the head of the file.
func (s *tiffSpec) directory(file []byte, tags map[int][]int) []byte {
	var entries []byte
	for tag := range 400 { // in order
		values, ok := tags[tag]
		if !ok {
			continue
		}
		kind, packed := 4, []byte(nil)
		for _, v := range values {
			packed = s.order.AppendUint32(packed, uint32(v))
		}
		if tag == tiff.TagColorMap || tag == tiff.TagBits || tag == tiff.TagCompression || tag == tiff.TagFormat { // readers want these short
			kind, packed = 3, nil
			for _, v := range values {
				packed = s.order.AppendUint16(packed, uint16(v))
			}
		}
		entries = s.order.AppendUint16(entries, uint16(tag))
		entries = s.order.AppendUint16(entries, uint16(kind))
		entries = s.order.AppendUint32(entries, uint32(len(values)))
		if len(packed) > 4 {
			entries = s.order.AppendUint32(entries, uint32(len(file)))
			file = append(file, packed...)
		} else {
			entries = append(append(entries, packed...), make([]byte, 4-len(packed))...)
		}
	}
	copy(file[4:], s.order.AppendUint32(nil, uint32(len(file))))
	file = s.order.AppendUint16(file, uint16(len(entries)/12))
	return append(append(file, entries...), 0, 0, 0, 0)
}

// rgb is what a pixel of the file is in RGB, and whether that is for sure: alpha divides with
// rounding, which other tests look at.
func (s *tiffSpec) rgb(p []uint32) [3]byte {
	upper := func(v uint32) byte {
		if s.bits == 16 {
			return byte(v >> 8)
		}
		return byte(v)
	}
	if s.float {
		var levels [3]byte
		for i := range levels {
			v := (float64(math.Float32frombits(p[i%s.samples])) - testRange[0]) / (testRange[1] - testRange[0])
			levels[i] = byte(math.Round(255 * max(0, min(v, 1))))
			if s.photometric == tiff.WhiteIsZero {
				levels[i] = 255 - levels[i]
			}
		}
		return levels
	}
	switch s.photometric {
	case tiff.RGB:
		row := []byte{upper(p[0]), upper(p[1]), upper(p[2]), 255}
		if s.alpha == tiff.Associated {
			row[3] = upper(p[3])
			recolor.Unmultiply(row)
		}
		return [3]byte(row)
	case tiff.Palette:
		n := len(s.palette) / 3
		return [3]byte{byte(s.palette[p[0]] >> 8), byte(s.palette[n+int(p[0])] >> 8), byte(s.palette[2*n+int(p[0])] >> 8)}
	case tiff.CMYK:
		white := 255 - p[3]
		return [3]byte{recolor.LessInk(white, byte(p[0])), recolor.LessInk(white, byte(p[1])), recolor.LessInk(white, byte(p[2]))}
	}
	v := p[0]
	switch {
	case s.samples == 2:
		row := []byte{upper(v), upper(v), upper(v), upper(p[1])}
		if s.alpha == tiff.Associated {
			recolor.Unmultiply(row)
		}
		return [3]byte(row)
	case s.bits == 16:
		v >>= 8
	default:
		v = v * 255 / (1<<s.bits - 1)
	}
	if s.photometric == tiff.WhiteIsZero {
		v = 255 - v
	}
	return [3]byte{byte(v), byte(v), byte(v)}
}

// deepRGB is what a pixel of the file is with 16 bits a sample.
func (s *tiffSpec) deepRGB(p []uint32) (c [3]uint16) {
	for i := range c {
		v := p[0]
		if s.photometric == tiff.RGB {
			v = p[i]
		}
		switch alpha := p[s.samples-1]; {
		case s.photometric == tiff.WhiteIsZero:
			v = 65535 - v
		case s.alpha == tiff.Associated && alpha != 0:
			v = min(v*65535/alpha, 65535)
		}
		c[i] = uint16(v)
	}
	return c
}

// randomTIFF makes up how a file is written, and its pixels.
func randomTIFF(r *rand.Rand) (tiffSpec, pixel) {
	s := tiffSpec{
		order: binary.LittleEndian, width: 1 + r.IntN(60), height: 1 + r.IntN(60), samples: 1,
		compression: []int{tiff.None, tiff.LZW, tiff.Deflate, tiff.DeflateOld, tiff.PackBits}[r.IntN(5)],
	}
	if r.IntN(2) == 0 {
		s.order = binary.BigEndian
	}
	switch r.IntN(7) {
	case 0, 1:
		s.photometric, s.bits = r.IntN(2), []int{1, 2, 4, 8, 16}[r.IntN(5)]
		if s.photometric == tiff.BlackIsZero && s.bits >= 8 {
			s.samples += r.IntN(2)
		}
	case 2:
		s.photometric, s.bits, s.float = r.IntN(3), 32<<r.IntN(2), true
		s.samples += s.photometric / tiff.RGB * 2
	case 3, 4:
		s.photometric, s.samples, s.bits = tiff.RGB, 3+r.IntN(2), 8+8*r.IntN(2)
	case 5:
		s.photometric, s.bits = tiff.Palette, []int{1, 2, 4, 8}[r.IntN(4)]
		for range 3 << s.bits {
			s.palette = append(s.palette, uint16(r.Uint32()))
		}
	case 6:
		s.photometric, s.samples, s.bits = tiff.CMYK, 4, 8
	}
	if s.samples == 2 || s.samples == 4 && s.photometric == tiff.RGB {
		s.alpha, s.saysAlpha = r.IntN(3), true
		if s.alpha == tiff.Unassociated {
			s.saysAlpha = r.IntN(2) == 0
		}
	}
	s.difference = (s.bits == 8 || s.bits == 16 || s.float) && r.IntN(2) == 0
	switch r.IntN(3) {
	case 0:
		s.blockHeight = 1 + r.IntN(s.height)
	case 1:
		s.tiled, s.blockWidth, s.blockHeight = true, 16*(1+r.IntN(3)), 16*(1+r.IntN(3))
	}
	values := make([]uint32, s.width*s.height*s.samples)
	for i := range values {
		if s.float {
			values[i] = math.Float32bits(float32(r.IntN(40000))/100 - 50)
		} else {
			values[i] = r.Uint32() >> (32 - s.bits)
		}
		if i > 0 && r.IntN(2) == 0 {
			values[i] = values[i-1]
		}
	}
	return s, func(x, y int) []uint32 { return values[(y*s.width+x)*s.samples:][:s.samples] }
}
