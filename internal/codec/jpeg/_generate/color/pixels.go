package main

import (
	"encoding/binary"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// converter writes the conversion of pixels of YCbCr to RGB, 32 at a time with AVX2, or 64 with
// AVX-512. With chroma around 0,
//
//	R = Y + Cr + 13173/32768 Cr, or Y + 22970/32768 (2 Cr)
//	G = Y - (22554 Cb + 46802 Cr + 32768) / 65536
//	B = Y + Cb + 25297/32768 Cb, or Y + 29033/32768 (2 Cb)
//
// For all bytes, the factors of red and blue round as libjpeg's 91881/65536 and 116130/65536 do.
// The factors of green are 512*44 + 26 and 512*91 + 210, so that both parts are sums of products of
// bytes. libjpeg adds 32767 instead of 32768, which gives the same for all bytes.
type converter struct {
	avx512    bool
	high, low VecVirtual
	round     Op
	third     [2]VecVirtual // AVX2: the second of each three bytes, and the third
	mask      [2]OpmaskVirtual
	order     [3]VecVirtual // AVX-512: where bytes of each colour go
	name      string        // of the places
	place     func(pixel int) int
}

// newConverter takes the places, in each 16, of pixels packed from two registers of words.
func newConverter(avx512 bool, name string, place func(pixel int) int) *converter {
	c := &converter{avx512: avx512, name: name, place: place}
	c.round = c.constant("pixelRound", 1<<8)
	c.high, c.low = c.reg(), c.reg()
	c.load(constant("pixelHigh", 91<<8|44), c.high)
	c.load(constant("pixelLow", 210<<8|26), c.low)
	if !avx512 {
		c.third = thirds()
		return c
	}
	for i := range c.mask {
		var mask uint64
		for at := i + 1; at < 64; at += 3 {
			mask |= 1 << at
		}
		c.mask[i] = K()
		r := GP64()
		MOVQ(U64(mask), r)
		KMOVQ(r, c.mask[i])
	}
	for color := range c.order {
		var order [64]byte
		for pixel := range 64 {
			order[(3*pixel+color)%64] = byte(pixel&^15 + place(pixel%16))
		}
		c.order[color] = c.reg()
		VMOVDQU64(table(name+"Order"+string("RGB"[color]), order), c.order[color])
	}
	return c
}

// evenOdd returns the position of a pixel after words of even and of odd pixels have been packed.
func evenOdd(pixel int) int { return pixel%2*8 + pixel/2 }

// tables are the tables in read-only memory, by name.
var tables = map[string]Mem{}

// table puts 64 bytes into read-only memory, unless they are there.
func table(name string, b [64]byte) Mem {
	m, ok := tables[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := 0; i < len(b); i += 8 {
			DATA(i, U64(binary.LittleEndian.Uint64(b[i:])))
		}
		tables[name] = m
	}
	return m
}

// constant is a table of one word.
func constant(name string, word uint16) Mem {
	var b [64]byte
	for i := range b {
		b[i] = byte(word >> (i % 2 * 8))
	}
	return table(name, b)
}

// constant is one word all over a register, or in memory if there are few registers.
func (c *converter) constant(name string, word uint16) Op {
	if !c.avx512 {
		return constant(name, word)
	}
	r := c.reg()
	c.load(constant(name, word), r)
	return r
}

// step returns the number of pixels per step.
func (c *converter) step() uint64 {
	if c.avx512 {
		return 64
	}
	return 32
}

// reg is a register for that many bytes.
func (c *converter) reg() VecVirtual {
	if c.avx512 {
		return ZMM()
	}
	return YMM()
}

func (c *converter) load(from, to Op) {
	if c.avx512 {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// xor and and are of whole registers.
func (c *converter) xor(a, b, to Op) {
	if c.avx512 {
		VPXORD(a, b, to)
	} else {
		VPXOR(a, b, to)
	}
}

func (c *converter) and(a, b, to Op) {
	if c.avx512 {
		VPANDD(a, b, to)
	} else {
		VPAND(a, b, to)
	}
}

// unpack makes words of two registers of bytes: of the first 8 of each 16, and of the others.
func (c *converter) unpack(low, high VecVirtual) (words [2]VecVirtual) {
	words[0], words[1] = c.reg(), c.reg()
	VPUNPCKLBW(high, low, words[0])
	VPUNPCKHBW(high, low, words[1])
	return words
}

// factors are the factors of red and blue, for words of chroma or of twice the chroma.
type factors struct{ red, blue Op }

func (c *converter) onceFactors() factors {
	return factors{c.constant("pixelRed", 13173), c.constant("pixelBlue", 25297)}
}

func (c *converter) twiceFactors() factors {
	return factors{c.constant("pixelRedOfTwice", 22970), c.constant("pixelBlueOfTwice", 29033)}
}

// convert writes pixels of words of luma and bytes of chroma in pairs. scaled gives what to add to
// the luma for red and blue in half i.
func (c *converter) convert(y, pairs [2]VecVirtual, scaled func(i int) (red, blue VecVirtual), dst, x Register) {
	var r, g, b [2]VecVirtual
	for i := range 2 {
		r[i], b[i] = scaled(i)
		VPADDW(y[i], r[i], r[i])
		VPADDW(y[i], b[i], b[i])

		rest := c.reg()
		VPMADDUBSW(pairs[i], c.low, rest)
		VPSRAW(Imm(9), rest, rest)
		VPMADDUBSW(pairs[i], c.high, pairs[i])
		VPADDW(rest, pairs[i], pairs[i])
		VPMULHRSW(c.round, pairs[i], pairs[i])
		g[i] = y[i]
		VPSUBW(pairs[i], y[i], g[i])
	}
	var colors [3]VecVirtual
	for i, p := range [][2]VecVirtual{r, g, b} {
		VPACKUSWB(p[1], p[0], p[0])
		colors[i] = p[0]
	}
	if !c.avx512 {
		storePixels(colors, dst, x, c.third, c.name, c.place)
		return
	}
	to := GP64()
	LEAQ(Mem{Base: x, Index: x, Scale: 2}, to)
	ADDQ(dst, to)
	for i, color := range colors {
		VPERMB(color, c.order[i], color)
	}
	for part := range 3 {
		mixed := c.reg()
		VPBLENDMB(colors[(part+1)%3], colors[part], c.mask[0], mixed)
		VMOVDQU8(colors[(part+2)%3], c.mask[1], mixed)
		VMOVDQU64(mixed, Mem{Base: to, Disp: 64 * part})
	}
}

// suffix names the instructions.
func suffix(avx512 bool) string {
	if avx512 {
		return "AVX512"
	}
	return "AVX2"
}

// convertRow takes chroma of the width of the luma.
func convertRow(avx512 bool) {
	name := "convertRow" + suffix(avx512)
	TEXT(name, NOSPLIT, "func(dst, luma, cb, cr *uint8, n int)")
	if !avx512 {
		Doc(name + " converts n pixels, at least 32, to RGB.")
	} else {
		Doc(name + " converts n pixels, at least 64, to RGB.")
	}
	dst := Load(Param("dst"), GP64())
	var rows [3]Register
	for i, name := range []string{"luma", "cb", "cr"} {
		rows[i] = Load(Param(name), GP64())
	}
	c := newConverter(avx512, "interleave", inOrder)
	by := c.twiceFactors()
	middle := c.constant("pixelMiddle", 128<<8|128)
	zero := c.reg()
	c.xor(zero, zero, zero)
	end := last(c.step())
	x := GP64()
	XORQ(x, x)
	Label("pixels")
	var bytes [3]VecVirtual
	for i, row := range rows {
		bytes[i] = c.reg()
		c.load(Mem{Base: row, Index: x, Scale: 1}, bytes[i])
		if i > 0 {
			c.xor(middle, bytes[i], bytes[i])
		}
	}
	u, v := c.unpack(zero, bytes[1]), c.unpack(zero, bytes[2])
	c.convert(c.unpack(bytes[0], zero), c.unpack(bytes[1], bytes[2]), func(i int) (red, blue VecVirtual) {
		VPSRAW(Imm(7), v[i], v[i])
		VPSRAW(Imm(7), u[i], u[i])
		VPMULHRSW(by.red, v[i], v[i])
		VPMULHRSW(by.blue, u[i], u[i])
		return v[i], u[i]
	}, dst, x)
	next(x, end, c.step(), "pixels")
}

// weighRows makes two rows of words, pitch bytes apart, in between two of n samples, at least 32:
// three parts of the nearer row and one of the other. The first and the last word are repeated.
func (c *converter) weighRows(dst, pitch, near, far, n Register, label string) {
	step := c.step() / 2
	end, x := GP64(), GP64()
	MOVQ(n, end)
	SUBQ(Imm(step), end)
	XORQ(x, x)
	Label(label)
	a, b, sum := c.reg(), c.reg(), c.reg()
	VPMOVZXBW(Mem{Base: near, Index: x, Scale: 1}, a)
	VPMOVZXBW(Mem{Base: far, Index: x, Scale: 1}, b)
	VPADDW(a, b, sum)
	to := GP64()
	LEAQ(Mem{Base: dst, Index: x, Scale: 2}, to)
	for i, row := range []VecVirtual{a, b} {
		VPADDW(row, row, row)
		VPADDW(sum, row, row)
		c.load(row, []Op{Mem{Base: to}, Mem{Base: to, Index: pitch, Scale: 1}}[i])
	}
	advance(x, end, step, label)
	MOVQ(dst, to)
	sample := GP64()
	for i := range 2 {
		MOVW(Mem{Base: to}, sample.As16())
		MOVW(sample.As16(), Mem{Base: to, Disp: -2})
		MOVW(Mem{Base: to, Index: n, Scale: 2, Disp: -2}, sample.As16())
		MOVW(sample.As16(), Mem{Base: to, Index: n, Scale: 2})
		if i == 0 {
			ADDQ(pitch, to)
		}
	}
}

// convertDoubled doubles chroma, as doubleBoth does, and converts.
func convertDoubled(avx512 bool) {
	name := "convertDoubled" + suffix(avx512)
	TEXT(name, NOSPLIT, "func(dst *uint8, stride int, luma *uint8, pitch, n int, cbNear, cbFar, crNear, crFar *uint8, samples int, sums *int16, room int, rounding *int16, rows int)")
	Doc(name+" converts n pixels, an even number, of one row, or of two in between",
		"the same rows of chroma, of so many samples, at least 32: near and far are the other way round",
		"for the second row. sums has room for four rows of words, room bytes apart, and one word before",
		"each. rounding is what to add to sixteen times an even sample less 128, and 32 words later to an",
		"odd one.")
	sums, room := Load(Param("sums"), GP64()), Load(Param("room"), GP64())
	samples := Load(Param("samples"), GP64())
	c := newConverter(avx512, "evenOdd", evenOdd)
	by := c.onceFactors()
	even := c.constant("pixelEven", 255)
	rounding := Load(Param("rounding"), GP64())
	round := [2]Op{Mem{Base: rounding}, Mem{Base: rounding, Disp: 64}}
	if avx512 {
		for i, from := range round {
			r := c.reg()
			c.load(from, r)
			round[i] = r
		}
	}
	planes := [2]Register{sums, GP64()}
	LEAQ(Mem{Base: sums, Index: room, Scale: 2}, planes[1])
	for i, name := range []string{"cb", "cr"} {
		near, far := Load(Param(name+"Near"), GP64()), Load(Param(name+"Far"), GP64())
		c.weighRows(planes[i], room, near, far, samples, name)
	}

	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	luma, pitch := Load(Param("luma"), GP64()), Load(Param("pitch"), GP64())
	rows := Load(Param("rows"), GP64())
	end := last(c.step())
	x := GP64()
	Label("row")
	XORQ(x, x)
	Label("pixels")
	var chroma [2][2]VecVirtual // words of even and of odd pixels
	var packed [2]VecVirtual
	for i, plane := range planes {
		here, even, odd := c.reg(), c.reg(), c.reg()
		c.load(Mem{Base: plane, Index: x, Scale: 1}, here)
		VPADDW(here, here, even)
		VPADDW(here, even, even)
		VPADDW(round[1], even, odd)
		VPADDW(round[0], even, even)
		VPADDW(Mem{Base: plane, Index: x, Scale: 1, Disp: -2}, even, even)
		VPADDW(Mem{Base: plane, Index: x, Scale: 1, Disp: 2}, odd, odd)
		VPSRAW(Imm(4), even, even)
		VPSRAW(Imm(4), odd, odd)
		chroma[i] = [2]VecVirtual{even, odd}
		packed[i] = here
		VPACKSSWB(odd, even, packed[i])
	}
	bytes := c.reg()
	c.load(Mem{Base: luma, Index: x, Scale: 1}, bytes)
	y := [2]VecVirtual{c.reg(), bytes}
	c.and(even, bytes, y[0])
	VPSRLW(Imm(8), bytes, bytes)
	c.convert(y, c.unpack(packed[0], packed[1]), func(i int) (red, blue VecVirtual) {
		u, v := chroma[0][i], chroma[1][i]
		red, blue = c.reg(), c.reg()
		VPMULHRSW(by.red, v, red)
		VPADDW(v, red, red)
		VPMULHRSW(by.blue, u, blue)
		VPADDW(u, blue, blue)
		return red, blue
	}, dst, x)
	advance(x, end, c.step(), "pixels")
	ADDQ(stride, dst)
	ADDQ(pitch, luma)
	for _, plane := range planes {
		ADDQ(room, plane)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
