package jpeg

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// coefficientsJPEG writes a grayscale image, one row of blocks, that has the coefficients
// and the table given, be they such as no encoder makes.
func coefficientsJPEG(coefs []block, quant *[64]uint16) []byte {
	data := []byte{0xFF, 0xD8, 0xFF, markerDQT, 0, 131, 1 << 4}
	for k := range 64 {
		data = binary.BigEndian.AppendUint16(data, quant[naturalOrder[k]])
	}
	data = append(data, 0xFF, 0xC1, 0, 11, 8, 0, 8, 0, byte(8*len(coefs)), 1, 1, 0x11, 0)
	// All runs and sizes have codes, of nine bits.
	for class := range byte(2) {
		symbols := make([]byte, 0, 255)
		for s := range 255 {
			symbols = append(symbols, byte(s))
		}
		if class == 0 {
			symbols = symbols[:16]
		}
		data = append(data, 0xFF, markerDHT, 0, byte(19+len(symbols)), class<<4)
		if class == 1 {
			binary.BigEndian.PutUint16(data[len(data)-3:], uint16(19+len(symbols)))
		}
		var counts [16]byte
		counts[8] = byte(len(symbols))
		data = append(append(data, counts[:]...), symbols...)
	}
	data = append(data, 0xFF, markerSOS, 0, 8, 1, 1, 0, 0, 63, 0)
	var raw []byte
	acc, have := uint64(0), 0
	put := func(v, n int) {
		acc, have = acc<<n|uint64(v)&(1<<n-1), have+n
		for ; have >= 8; have -= 8 {
			raw = append(raw, byte(acc>>(have-8)))
		}
	}
	value := func(run, v int) {
		size := bits.Len(uint(max(v, -v)))
		put(run<<4|size, 9)
		if v < 0 {
			v--
		}
		put(v, size)
	}
	mean := 0
	for i := range coefs {
		value(0, int(coefs[i][0])-mean)
		mean = int(coefs[i][0])
		run := 0
		for k := 1; k < 64; k++ {
			switch v := coefs[i][naturalOrder[k]]; {
			case v != 0:
				for ; run > 15; run -= 16 {
					put(0xF0, 9)
				}
				value(run, int(v))
				run = 0
			default:
				run++
			}
		}
		if run > 0 {
			put(0, 9)
		}
	}
	put(-1, 7)
	return append(appendStuffed(data, raw), 0xFF, markerEOI)
}

// The transforms make of coefficients what libjpeg-turbo does, where those in the first row
// are within what the comment on them says.
func TestIDCTEqual(t *testing.T) {
	reference := theirs(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		var quant [64]uint16
		for j := range quant {
			quant[j] = uint16(1 + r.IntN(1<<r.IntN(16)))
		}
		coefs := randomBlocks(r, 1+i%7, 1+r.UintN(14))
		for j := range coefs {
			for x := range 8 {
				c, q := &coefs[j][x], int(quant[x])
				*c = int16(max(-8192/q, min(int(*c), 8191/q)))
			}
		}
		data := coefficientsJPEG(coefs, &quant)
		h := header(t, data)
		for denom, idct := range map[int]func([]byte, int, []block, *[64]uint16){1: idct8, 2: idct4, 4: idct2, 8: idct1} {
			w, ht := h.Scaled(denom)
			if w*ht == 1 {
				continue // libjpeg-turbo takes a larger one
			}
			got, want := make([]byte, w*ht), make([]byte, w*ht)
			idct(got, w, coefs, &quant)
			if err := reference.decode(want, w, data, h, Request{Format: Gray, Denom: denom}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("1/%d, %d blocks: other samples:\n%v\n%v\nof %v\nby %v", denom, len(coefs), got, want, coefs, quant)
			}
		}
	}
}

// randomBlocks makes blocks whose coefficients have up to the given number of bits, some of them
// flat and most of them sparse.
func randomBlocks(r *rand.Rand, n int, bits uint) [][64]int16 {
	coefs := make([][64]int16, n)
	for i := range coefs {
		count := []int{1, 1, 3, 10, 64}[r.IntN(5)]
		for range count {
			at := 0
			if count > 1 {
				at = r.IntN(64)
			}
			coefs[i][at] = int16(r.Uint32()) >> (16 - bits)
		}
	}
	return coefs
}
