// Package pngtest makes PNG files for tests, from the standard and not from package png.
package pngtest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
)

// The colour types.
const (
	Gray      = 0
	RGB       = 2
	Palette   = 3
	GrayAlpha = 4
	RGBA      = 6
)

// samples is the number of samples in a pixel, by colour type.
var samples = [...]int{Gray: 1, RGB: 3, Palette: 1, GrayAlpha: 2, RGBA: 4}

// depths are the allowed bits of a sample, by colour type.
var depths = map[int][]int{Gray: {1, 2, 4, 8, 16}, RGB: {8, 16}, Palette: {1, 2, 4, 8}, GrayAlpha: {8, 16}, RGBA: {8, 16}}

// passes are the first column and row of each pass of Adam7, and the steps between its pixels.
var passes = [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// Spec is a PNG whose samples, filters, palette, compression and chunks are drawn at random.
type Spec struct {
	Width, Height int
	Depth         int // bits of a sample
	Color         int // type
	Interlaced    bool
	Transparent   bool // has tRNS
	Noisy         bool // its samples are noise, not nearly smooth
}

// appendChunk appends a chunk to a file.
func appendChunk(file []byte, name string, body []byte) []byte {
	file = binary.BigEndian.AppendUint32(file, uint32(len(body)))
	at := len(file)
	file = append(append(file, name...), body...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[at:]))
}

// rows are the widths of the rows, pass by pass.
func (s *Spec) rows() (widths []int) {
	if !s.Interlaced {
		for range s.Height {
			widths = append(widths, s.Width)
		}
		return widths
	}
	for _, p := range passes {
		for y := p[1]; y < s.Height && p[0] < s.Width; y += p[3] {
			widths = append(widths, (s.Width-p[0]+p[2]-1)/p[2])
		}
	}
	return widths
}

// Encode returns the file. Rows of a pass follow one another with the width of the pass.
func (s *Spec) Encode(r *rand.Rand) []byte {
	bits := s.Depth * samples[s.Color]
	bpp := max(1, bits/8)
	var content []byte
	var above []byte
	for _, w := range s.rows() {
		row := make([]byte, (w*bits+7)/8)
		if len(above) != len(row) { // another pass, or nearly: the filter of its first row is none or sub
			above = nil
		}
		for i := range row {
			switch {
			case s.Noisy || i < bpp || above == nil:
				row[i] = byte(r.Uint32())
			default:
				row[i] = row[i-bpp] + byte(r.IntN(5)) - 2
			}
		}
		filter := byte(r.IntN(5))
		if above == nil {
			filter = byte(r.IntN(2))
		}
		content = append(content, filter)
		content = append(content, ApplyFilter(filter, row, above, bpp)...)
		above = row
	}
	var packed bytes.Buffer
	z, _ := zlib.NewWriterLevel(&packed, []int{0, 1, 6, -2}[r.IntN(4)])
	z.Write(content)
	z.Close()

	file := []byte("\x89PNG\r\n\x1a\n")
	header := binary.BigEndian.AppendUint32(nil, uint32(s.Width))
	header = binary.BigEndian.AppendUint32(header, uint32(s.Height))
	interlace := byte(0)
	if s.Interlaced {
		interlace = 1
	}
	file = appendChunk(file, "IHDR", append(header, byte(s.Depth), byte(s.Color), 0, 0, interlace))
	if r.IntN(2) == 0 {
		file = appendChunk(file, "tEXt", []byte("Comment\x00nothing"))
	}
	colors := 0
	if s.Color == Palette {
		colors = 1 + r.IntN(1<<s.Depth)
		palette := make([]byte, 3*colors)
		for i := range palette {
			palette[i] = byte(r.Uint32())
		}
		file = appendChunk(file, "PLTE", palette)
	}
	if s.Transparent {
		trns := make([]byte, 2*samples[s.Color])
		if s.Color == Palette {
			trns = make([]byte, r.IntN(min(256, colors+2)+1))
		}
		for i := range trns {
			if trns[i] = byte(r.Uint32()); s.Depth < 8 {
				trns[i] &= 1
			}
		}
		if s.Color != Palette && r.IntN(2) == 0 && s.Depth >= 8 { // the key of the first pixel
			first := content[1:]
			for i := range samples[s.Color] {
				if s.Depth == 16 {
					copy(trns[2*i:], first[2*i:2*i+2])
				} else {
					trns[2*i+1] = first[i]
				}
			}
		}
		file = appendChunk(file, "tRNS", trns)
	}
	for rest := packed.Bytes(); ; {
		n := min(len(rest), []int{0, 1, 50, 8192, 1 << 30}[r.IntN(5)])
		file = appendChunk(file, "IDAT", rest[:n])
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
	}
	return appendChunk(file, "IEND", nil)
}

// ApplyFilter filters a row of pixels of bpp bytes, or a byte if they have fewer bits. above is nil for
// the first row of a pass.
func ApplyFilter(filter byte, row, above []byte, bpp int) []byte {
	out := make([]byte, len(row))
	at := func(row []byte, i int) int {
		if i < 0 || row == nil {
			return 0
		}
		return int(row[i])
	}
	for i, v := range row {
		a, b, c := at(row, i-bpp), at(above, i), at(above, i-bpp)
		switch filter {
		case 0:
			out[i] = v
		case 1:
			out[i] = v - byte(a)
		case 2:
			out[i] = v - byte(b)
		case 3:
			out[i] = v - byte((a+b)/2)
		default:
			p := a + b - c
			pa, pb, pc := max(p-a, a-p), max(p-b, b-p), max(p-c, c-p)
			switch {
			case pa <= pb && pa <= pc:
				out[i] = v - byte(a)
			case pb <= pc:
				out[i] = v - byte(b)
			default:
				out[i] = v - byte(c)
			}
		}
	}
	return out
}

// All are files of all colour types and depths, interlaced or not, transparent or not.
func All(size func() (w, h int)) (list []Spec) {
	for _, color := range []int{Gray, RGB, Palette, GrayAlpha, RGBA} {
		for _, depth := range depths[color] {
			for i := range 8 {
				w, h := size()
				transparent := i&4 != 0 && color != GrayAlpha && color != RGBA
				list = append(list, Spec{w, h, depth, color, i&1 != 0, transparent, i&2 != 0})
			}
		}
	}
	return list
}
