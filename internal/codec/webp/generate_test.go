package webp

import (
	"encoding/binary"
	"math/rand/v2"
)

// This file makes WebP files that encoders do not write: of noise.

// chunkOf makes a chunk.
func chunkOf(id string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body)))
	out = append(out, body...)
	if len(body)&1 != 0 {
		out = append(out, 0)
	}
	return out
}

func noise(r *rand.Rand, n int) []byte {
	p := make([]byte, n)
	mask := byte(255)
	for i := range p {
		if r.IntN(30) == 0 {
			mask = []byte{0, 255, 255, 1, 0x81}[r.IntN(5)]
		}
		p[i] = byte(r.Uint32()) & mask
	}
	return p
}

// generate makes a file that is lossy, or lossless, or has alpha.
func generate(r *rand.Rand, kind int) []byte {
	w, h := 1+r.IntN(70), 1+r.IntN(50)
	var chunks []byte
	switch kind {
	case 0:
		chunks = chunkOf("VP8 ", lossyOf(r, w, h))
	case 1:
		chunks = chunkOf("VP8L", losslessOf(r, w, h, true))
	default:
		size := func(v int) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16)} }
		chunks = chunkOf("VP8X", append(append([]byte{0x10, 0, 0, 0}, size(w-1)...), size(h-1)...))
		filter := byte(r.IntN(4) << 2)
		if r.IntN(2) == 0 {
			chunks = append(chunks, chunkOf("ALPH", append([]byte{filter}, noise(r, w*h)...))...)
		} else {
			chunks = append(chunks, chunkOf("ALPH", append([]byte{filter | 1}, losslessOf(r, w, h, false)...))...)
		}
		chunks = append(chunks, chunkOf("VP8 ", lossyOf(r, w, h))...)
	}
	file := append([]byte("RIFF\x00\x00\x00\x00WEBP"), chunks...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// lossyOf makes a frame. A boolean decoder takes any bytes, so that both partitions are noise.
func lossyOf(r *rand.Rand, w, h int) []byte {
	blocks := (w + 15) / 16 * ((h + 15) / 16)
	first := noise(r, 300+blocks*40)
	first[0] &= 0x7F // no encoder begins with 0xFF
	tag := uint32(1<<4 | len(first)<<5)
	frame := []byte{byte(tag), byte(tag >> 8), byte(tag >> 16), 0x9D, 0x01, 0x2A, byte(w), byte(w >> 8), byte(h), byte(h >> 8)}
	frame = append(frame, first...)
	rest := noise(r, 21+blocks*2000)
	for i := range 7 { // sizes of partitions, if they are read as such
		rest[3*i+2] = 0
		rest[3*i+1] &= byte(len(rest) / 9 >> 8)
	}
	return append(frame, rest...)
}

// bitWriter writes bits as bitReader reads them.
type bitWriter struct {
	*rand.Rand
	out []byte
	n   uint
}

func (b *bitWriter) write(v uint32, k int) {
	for i := range k {
		if b.n&7 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[b.n>>3] |= byte(v>>i&1) << (b.n & 7)
		b.n++
	}
}

// losslessOf makes an image, the header included if it is wanted.
func losslessOf(r *rand.Rand, w, h int, header bool) []byte {
	b := &bitWriter{Rand: r}
	if header {
		b.write(0x2F, 8)
		b.write(uint32(w-1), 14)
		b.write(uint32(h-1), 14)
		b.write(0, 4)
	}
	coded := w
	for _, kind := range r.Perm(4)[:r.IntN(5)] {
		b.write(1, 1)
		b.write(uint32(kind), 2)
		switch kind {
		case predictorTransform, colorTransform:
			bits := uint32(r.IntN(8))
			b.write(bits, 3)
			b.pixels(tiles(coded, bits+2), tiles(h, bits+2), false)
		case paletteTransform:
			n := 1 + r.IntN([]int{2, 4, 16, 256}[r.IntN(4)])
			b.write(uint32(n-1), 8)
			b.pixels(n, 1, false)
			for bits, most := range []int{256, 16, 4, 2} {
				if n <= most && (bits == 3 || n > []int{16, 4, 2}[bits]) {
					coded = tiles(coded, uint32(bits))
				}
			}
		}
	}
	b.write(0, 1)
	b.pixels(coded, h, true)
	return b.out
}

// pixels writes an image: codes, which are complete, and bits for them, which are noise. The image
// itself comes last, so that its noise may be longer; of the others it must be known how many bits
// they take.
func (b *bitWriter) pixels(w, h int, top bool) {
	cacheBits := 0
	if b.IntN(2) == 0 {
		cacheBits = 1 + b.IntN(11)
		b.write(1, 1)
		b.write(uint32(cacheBits), 4)
	} else {
		b.write(0, 1)
	}
	groups := 1
	if top {
		if b.IntN(2) == 0 {
			b.write(1, 1)
			bits := uint32(b.IntN(4))
			b.write(bits, 3)
			// The areas' groups: of one or two, all in green, by the simplest of codes.
			groups = 1 + b.IntN(2)
			b.write(0, 1)
			if groups == 2 {
				b.write(1, 1)
				b.write(1, 1)
				b.write(0, 1)
				b.write(0, 1)
				b.write(1, 8)
			} else {
				b.write(1, 4)
			}
			for range 4 {
				b.write(1, 4)
			}
			b.noise((groups - 1) * tiles(w, bits+2) * tiles(h, bits+2))
		} else {
			b.write(0, 1)
		}
	}
	if !top {
		each := 0
		for code := range 5 {
			if two := b.simple([]int{256, 256, 256, 256, 40}[code]); code < 4 {
				each += two
			}
		}
		b.noise(each * w * h)
		return
	}
	cache := 1 << cacheBits &^ 1
	for range groups {
		b.code(256, 24, cache)
		for range 3 {
			b.code(256, 0, 0)
		}
		b.code(40, 0, 0)
	}
	b.noise(64 * w * h)
}

// simple writes a code of one symbol or two below n, and returns how many bits it takes. The two
// differ: x/image reads a bit for one symbol given twice, for which libwebp reads none.
func (b *bitWriter) simple(n int) int {
	two := b.IntN(2)
	b.write(1, 1)
	b.write(uint32(two), 1)
	b.write(1, 1)
	symbol := b.IntN(n)
	b.write(uint32(symbol), 8)
	if two > 0 {
		b.write(uint32((symbol+1+b.IntN(n-1))%n), 8)
	}
	return two
}

func (b *bitWriter) noise(bits int) {
	for range bits {
		b.write(b.Uint32(), 1)
	}
}

// code writes a complete code over n symbols, of which it takes a few, and with some luck a length
// and colours of a cache.
func (b *bitWriter) code(n, references, cache int) {
	if b.IntN(3) == 0 {
		b.simple(n)
		return
	}
	// Split codes until there are some.
	codes := []int{1, 1}
	for range b.IntN(min(n-2, []int{4, 40, 250}[b.IntN(3)])) {
		if i := b.IntN(len(codes)); codes[i] < maxCodeLength {
			codes[i]++
			codes = append(codes, codes[i])
		}
	}
	lengths := make([]int, n+references+cache)
	symbols := b.Perm(n)[:len(codes)]
	if references > 0 && b.IntN(2) == 0 {
		symbols[0] = n + b.IntN(3)
	}
	if cache > 0 {
		symbols[1] = n + references + b.IntN(cache)
	}
	for i, s := range symbols {
		lengths[s] = codes[i]
	}
	// Lengths of codes take four bits each, or eight: 0 to 14 have codes of four, 15 and a run of
	// zeros of five.
	b.write(0, 1)
	b.write(15, 4)
	for _, symbol := range lengthOrder {
		switch {
		case symbol < 15:
			b.write(4, 3)
		case symbol == 15 || symbol == 18:
			b.write(5, 3)
		default:
			b.write(0, 3)
		}
	}
	b.write(0, 1)
	for i := 0; i < len(lengths); {
		zeros := 0
		for i+zeros < len(lengths) && zeros < 138 && lengths[i+zeros] == 0 {
			zeros++
		}
		switch {
		case zeros >= 11:
			b.write(31, 5)
			b.write(uint32(zeros-11), 7)
			i += zeros
			continue
		case lengths[i] == 15:
			b.write(15, 4)
			b.write(0, 1)
		default:
			b.write(reversed(uint32(lengths[i]), 4), 4)
		}
		i++
	}
}
