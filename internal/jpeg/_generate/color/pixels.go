package main

import (
	"encoding/binary"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// converter writes the conversion of pixels of YCbCr to RGB, 32 at a time with AVX2, or 64 with
// AVX-512. Words hold every other pixel. With chroma around 0,
//
//	R = Y + Cr + 13173/32768 Cr
//	G = Y - (22554 Cb + 46802 Cr + 32767) / 65536
//	B = Y + Cb + 25297/32768 Cb
//
// where 13173 and 25297 round as libjpeg's 26345/65536 and 50594/65536 do, for all bytes, and
// those of green are 512*44 + 26 and 512*91 + 210, of which each part is a sum of products of bytes.
type converter struct {
	avx512              bool
	red, blue           Op
	high, low           VecVirtual
	half, middle, bytes Op
	order               [3]VecVirtual // AVX-512: where parts of pixels have red and green from
	third               [3]OpmaskVirtual
}

func newConverter(avx512 bool) *converter {
	c := &converter{avx512: avx512}
	c.red, c.blue = c.constant("pixelRed", 13173), c.constant("pixelBlue", 25297)
	c.half, c.middle, c.bytes = c.constant("pixelHalf", 1<<15-1), c.constant("pixelMiddle", 128), c.constant("pixelBytes", 255)
	c.high, c.low = c.reg(), c.reg()
	c.load(constant("pixelHigh", 91<<8|44), c.high)
	c.load(constant("pixelLow", 210<<8|26), c.low)
	if !avx512 {
		return c
	}
	for part := range c.order {
		var order [64]byte
		var third uint64
		for i := range order {
			at := 64*part + i
			if order[i] = byte(packed(at / 3)); at%3 == 1 {
				order[i] += 64
			} else if at%3 == 2 {
				third |= 1 << i
			}
		}
		c.order[part], c.third[part] = c.reg(), K()
		VMOVDQU64(table("pixelOrder"+string(rune('0'+part)), order), c.order[part])
		r := GP64()
		MOVQ(U64(third), r)
		KMOVQ(r, c.third[part])
	}
	return c
}

// packed is where a pixel is when words of even and of odd ones have been packed: within 16 bytes.
func packed(pixel int) int { return pixel&^15 + pixel%2*8 + pixel%16/2 }

// tables are those of 64 bytes in read-only memory, by name.
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

// step is how many pixels there are at a time.
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

func (c *converter) and(a, b, to Op) {
	if c.avx512 {
		VPANDD(a, b, to)
	} else {
		VPAND(a, b, to)
	}
}

// split makes words of bytes: of the even ones and of the odd ones.
func (c *converter) split(b VecVirtual) (words [2]VecVirtual) {
	words[0], words[1] = c.reg(), b
	c.and(c.bytes, b, words[0])
	VPSRLW(Imm(8), b, b)
	return words
}

// convert writes pixels.
func (c *converter) convert(y, u, v [2]VecVirtual, dst, x Register) {
	var r, g, b [2]VecVirtual
	for i := range 2 {
		r[i], b[i] = c.reg(), c.reg()
		VPMULHRSW(c.red, v[i], r[i])
		VPADDW(v[i], r[i], r[i])
		VPADDW(y[i], r[i], r[i])
		VPMULHRSW(c.blue, u[i], b[i])
		VPADDW(u[i], b[i], b[i])
		VPADDW(y[i], b[i], b[i])

		VPSLLW(Imm(8), v[i], v[i])
		c.and(c.bytes, u[i], u[i])
		pairs, rest := u[i], v[i]
		if c.avx512 {
			VPORD(v[i], u[i], pairs)
		} else {
			VPOR(v[i], u[i], pairs)
		}
		VPMADDUBSW(pairs, c.low, rest)
		VPMADDUBSW(pairs, c.high, pairs)
		VPADDW(c.half, rest, rest)
		VPSRLW(Imm(9), rest, rest)
		VPADDW(rest, pairs, pairs)
		VPSRAW(Imm(7), pairs, pairs)
		g[i] = y[i]
		VPSUBW(pairs, y[i], g[i])
	}
	var colors [3]VecVirtual
	for i, p := range [][2]VecVirtual{r, g, b} {
		VPACKUSWB(p[1], p[0], p[0])
		colors[i] = p[0]
	}
	if !c.avx512 {
		storePixels(colors, dst, x, "packed", packed)
		return
	}
	to := GP64()
	LEAQ(Mem{Base: x, Index: x, Scale: 2}, to)
	ADDQ(dst, to)
	for part, order := range c.order {
		mixed := c.reg()
		VMOVDQA64(order, mixed)
		VPERMI2B(colors[1], colors[0], mixed)
		VPERMB(colors[2], order, c.third[part], mixed)
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
	c := newConverter(avx512)
	end := last(c.step())
	x := GP64()
	XORQ(x, x)
	Label("pixels")
	var words [3][2]VecVirtual
	for i, row := range rows {
		bytes := c.reg()
		c.load(Mem{Base: row, Index: x, Scale: 1}, bytes)
		words[i] = c.split(bytes)
		if i > 0 {
			VPSUBW(c.middle, words[i][0], words[i][0])
			VPSUBW(c.middle, words[i][1], words[i][1])
		}
	}
	c.convert(words[0], words[1], words[2], dst, x)
	next(x, end, c.step(), "pixels")
}

// weighRows is the first half of doubling both ways.
func weighRows(avx512 bool) {
	name := "weighRows" + suffix(avx512)
	TEXT(name, NOSPLIT, "func(dst *int16, near, far *uint8, n int)")
	Doc(name + " adds three parts of near and one of far: n samples, at least 32.")
	dst, near, far := Load(Param("dst"), GP64()), Load(Param("near"), GP64()), Load(Param("far"), GP64())
	c := &converter{avx512: avx512}
	end := last(c.step() / 2)
	x := GP64()
	XORQ(x, x)
	Label("samples")
	n, f, sum := c.reg(), c.reg(), c.reg()
	VPMOVZXBW(Mem{Base: near, Index: x, Scale: 1}, n)
	VPMOVZXBW(Mem{Base: far, Index: x, Scale: 1}, f)
	VPADDW(n, n, sum)
	VPADDW(n, f, f)
	VPADDW(f, sum, sum)
	c.load(sum, Mem{Base: dst, Index: x, Scale: 2})
	next(x, end, c.step()/2, "samples")
}

// convertDoubled doubles the width of chroma, as doubleBoth does, and converts.
func convertDoubled(avx512 bool) {
	name := "convertDoubled" + suffix(avx512)
	TEXT(name, NOSPLIT, "func(dst, luma *uint8, cb, cr, rounding *int16, n int)")
	Doc(name+" converts n pixels to RGB, an even number, at least 64. cb and cr are half as many samples",
		"as weighRows leaves them, with one more to each side. rounding is what to add to sixteen times",
		"an even sample less 128, and 32 words later to an odd one.")
	dst, luma := Load(Param("dst"), GP64()), Load(Param("luma"), GP64())
	planes := [2]Register{Load(Param("cb"), GP64()), Load(Param("cr"), GP64())}
	rounding := Load(Param("rounding"), GP64())
	c := newConverter(avx512)
	round := [2]Op{Mem{Base: rounding}, Mem{Base: rounding, Disp: 64}}
	if avx512 {
		for i, from := range round {
			r := c.reg()
			c.load(from, r)
			round[i] = r
		}
	}
	end := last(c.step())
	x := GP64()
	XORQ(x, x)
	Label("pixels")
	var chroma [2][2]VecVirtual
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
	}
	y := c.reg()
	c.load(Mem{Base: luma, Index: x, Scale: 1}, y)
	c.convert(c.split(y), chroma[0], chroma[1], dst, x)
	next(x, end, c.step(), "pixels")
}
