// Command _generate writes the assembly of package recolor. In the
// directory above this one:
//
//	go run rows.go -out ../rows_amd64.s -stubs ../rows_stubs_amd64.go -pkg recolor
package main

import (
	"encoding/binary"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	w := luminanceWeights()
	p := pixelTables()
	luminanceRow(w)
	saturateRow(w, p)
	turnRow(p)
	Generate()
}

const no = 0x80

// table puts a table of bytes into read-only memory.
func table(name string, bytes [32]uint8) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 32; i += 8 {
		DATA(i, U64(binary.LittleEndian.Uint64(bytes[i:])))
	}
	return m
}

// dwords repeats a number of 32 bits.
func dwords(name string, v uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 32; i += 4 {
		DATA(i, U32(v))
	}
	return m
}

// load puts eight pixels of RGB, 24 bytes, into two lanes of four. In the upper lane they begin at
// byte 4, so that nothing after them is read.
func load(row Mem) VecVirtual {
	pixels := YMM()
	VMOVDQU(row, pixels.AsX())
	VINSERTI128(Imm(1), row.Offset(8), pixels, pixels)
	return pixels
}

// channels makes a shuffle that puts one channel into the lower word of each pixel's 32 bits and
// another one, or nothing, into the upper.
func channels(name string, lower, upper int) Mem {
	var bytes [32]uint8
	for i := range bytes {
		bytes[i] = no
	}
	for pixel := range 8 {
		at := 3 * (pixel % 4)
		if pixel >= 4 {
			at += 4
		}
		bytes[4*pixel] = uint8(at + lower)
		if upper >= 0 {
			bytes[4*pixel+2] = uint8(at + upper)
		}
	}
	return table(name, bytes)
}

// pairs puts two words in turn into read-only memory.
func pairs(name string, a, b int16) Mem { return dwords(name, uint32(uint16(a))|uint32(uint16(b))<<16) }

// weights are the luminance weights. Green's does not fit into a word and is split in two parts.
type weights struct{ redGreen, blueGreen, byRedGreen, byBlueGreen, half Mem }

func luminanceWeights() weights {
	return weights{
		channels("redGreen", 0, 1), channels("blueGreen", 2, 1),
		pairs("byRedGreen", 19595, 38470-32767), pairs("byBlueGreen", 7471, 32767), dwords("luminanceHalf", 1<<15),
	}
}

// luminance returns the luminance of eight pixels, 32 bits each.
func (w weights) luminance(pixels VecVirtual) VecVirtual {
	gray, t := YMM(), YMM()
	VPSHUFB(w.redGreen, pixels, gray)
	VPMADDWD(w.byRedGreen, gray, gray)
	VPSHUFB(w.blueGreen, pixels, t)
	VPMADDWD(w.byBlueGreen, t, t)
	VPADDD(t, gray, gray)
	VPADDD(w.half, gray, gray)
	VPSRLD(Imm(16), gray, gray)
	return gray
}

func luminanceRow(w weights) {
	TEXT("luminanceRowAVX2", NOSPLIT, "func(dst, src *uint8, n int)")
	Doc("luminanceRowAVX2 makes n levels of gray, a multiple of 16, of pixels of RGB. dst may be src.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	left := Load(Param("n"), GP64())

	Label("pixels")
	front := w.luminance(load(Mem{Base: src}))
	back := w.luminance(load(Mem{Base: src, Disp: 24}))
	// Of the first eight levels and the second, four each are in a lane.
	VPACKSSDW(back, front, front)
	VPACKUSWB(front, front, front)
	upper := XMM()
	VEXTRACTI128(Imm(1), front, upper)
	VPUNPCKLDQ(upper, front.AsX(), front.AsX())
	VMOVDQU(front.AsX(), Mem{Base: dst})
	ADDQ(Imm(16), dst)
	ADDQ(Imm(48), src)
	SUBQ(Imm(16), left)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// saturateRow follows blender.mix in float32: the product rounded, then the sum, the fraction cut
// off, the rest clipped.
func saturateRow(w weights, p pixel) {
	TEXT("saturateRowAVX2", NOSPLIT, "func(dst, src *uint8, factor float32, n int)")
	Doc("saturateRowAVX2 mixes n pixels of RGB, a multiple of 8, with their luminance. dst may be src.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	factor := YMM()
	f, _ := Param("factor").Resolve()
	VBROADCASTSS(f.Addr, factor)
	left := Load(Param("n"), GP64())

	x := GP64()
	XORQ(x, x)
	Label("pixels")
	pixels := load(Mem{Base: src, Index: x, Scale: 1})
	gray := w.luminance(pixels)
	level := YMM()
	VCVTDQ2PS(gray, level)
	var mixed [3]VecVirtual
	for c := range mixed {
		v := YMM()
		mixed[c] = v
		VPSHUFB(p.channel[c], pixels, v)
		VPSUBD(gray, v, v)
		VCVTDQ2PS(v, v)
		VMULPS(factor, v, v)
		VADDPS(level, v, v)
		VCVTTPS2DQ(v, v)
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	VPACKSSDW(mixed[1], mixed[0], mixed[0]) // RRRR GGGG in each lane
	VPACKSSDW(zero, mixed[2], mixed[2])     // BBBB
	VPACKUSWB(mixed[2], mixed[0], mixed[0]) // RRRR GGGG BBBB
	VPSHUFB(p.planes, mixed[0], mixed[0])
	store(mixed[0], Mem{Base: dst, Index: x, Scale: 1})
	ADDQ(Imm(24), x)
	SUBQ(Imm(8), left)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// pixel are the shuffles to and from pixels of RGB.
type pixel struct {
	channel [3]Mem // 32 bits for each pixel, of four in each lane, from what load makes
	planes  Mem    // to pixels from four levels of red, green and blue in each lane
	words   Mem    // to pixels from 32 bits each
}

func pixelTables() (p pixel) {
	for c := range p.channel {
		p.channel[c] = channels("channel"+string("RGB"[c]), c, -1)
	}
	var planes, words [32]uint8
	for i := range planes {
		planes[i], words[i] = no, no
		if at := i % 16; at < 12 {
			planes[i], words[i] = uint8(at%3*4+at/3), uint8(at/3*4+at%3)
		}
	}
	p.planes, p.words = table("fromPlanes", planes), table("fromWords", words)
	return p
}

// store writes the first 12 bytes of each lane.
func store(pixels VecVirtual, row Mem) {
	upper := XMM()
	VEXTRACTI128(Imm(1), pixels, upper)
	VMOVQ(pixels.AsX(), row)
	VPEXTRD(Imm(2), pixels.AsX(), row.Offset(8))
	VMOVQ(upper, row.Offset(12))
	VPEXTRD(Imm(2), upper, row.Offset(20))
}

// quads puts a number of 64 bits into read-only memory four times.
func quads(name string, v float64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 32; i += 8 {
		DATA(i, F64(v))
	}
	return m
}

// gather looks 32 bits up for each of eight indices, in steps of scale bytes.
func gather(base Register, index VecVirtual, scale uint8) VecVirtual {
	mask, v := YMM(), YMM()
	VPCMPEQD(mask, mask, mask)
	VPGATHERDD(mask, Mem{Base: base, Index: index, Scale: scale}, v)
	return v
}

// turnRow follows turnRowPlain: what it looks up is looked up, and the levels are computed in
// float64. Rounding adds a half: the one number that this is wrong for doesn't occur.
func turnRow(p pixel) {
	TEXT("turnRowAVX2", NOSPLIT, "func(dst, src, place, saturation *uint8, at *float32, spokes *uint32, turn uint32, n int)")
	Doc("turnRowAVX2 turns the hues of n pixels of RGB, a multiple of 8. dst may be src.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	place, saturation := Load(Param("place"), GP64()), Load(Param("saturation"), GP64())
	at, spokes := Load(Param("at"), GP64()), Load(Param("spokes"), GP64())
	turn := YMM()
	VMOVD(Load(Param("turn"), GP32()), turn.AsX())
	VPBROADCASTD(turn.AsX(), turn)
	left := Load(Param("n"), GP64())

	sixths := GLOBL("sixths", RODATA|NOPTR)
	for i, v := range []uint32{0, 2, 1, 0, 0, 3, 4, 5} {
		DATA(4*i, U32(v))
	}
	// Where in its lane the levels of each pixel are, for the bytes that choose among them.
	lanes := GLOBL("lanes", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(uint32(i%4)*0x040404))
	}
	one, two, four, low := dwords("one", 1), dwords("two", 2), dwords("four", 4), dwords("low", 255)
	scale := dwords("levels", math.Float32bits(255))
	unit, half := quads("unit", 1), quads("half", 0.5)

	Label("pixels")
	pixels := load(Mem{Base: src})
	var c [3]VecVirtual
	for i := range c {
		c[i] = YMM()
		VPSHUFB(p.channel[i], pixels, c[i])
	}
	red, green, blue := c[0], c[1], c[2]

	index, t := YMM(), YMM()
	VPCMPGTD(red, green, index) // green > red
	VPAND(one, index, index)
	VPCMPGTD(green, blue, t)
	VPAND(two, t, t)
	VPOR(t, index, index)
	VPCMPGTD(red, blue, t)
	VPAND(four, t, t)
	VPOR(t, index, index)
	VPERMD(sixths, index, index)

	most, spread := YMM(), YMM()
	VPMAXSD(green, red, most)
	VPMAXSD(blue, most, most)
	least := YMM()
	VPMINSD(green, red, least)
	VPMINSD(blue, least, least)
	VPSUBD(least, most, spread)
	// The largest level minus the middle one, which is the sum minus the other two levels.
	below := YMM()
	VPADDD(most, most, below)
	VPADDD(least, below, below)
	VPSUBD(red, below, below)
	VPSUBD(green, below, below)
	VPSUBD(blue, below, below)

	VPSLLD(Imm(16), index, index)
	VPSLLD(Imm(8), spread, t)
	VPOR(t, index, index)
	VPOR(below, index, index)
	hue := gather(place, index, 1)
	VPADDD(turn, hue, hue)
	VPAND(low, hue, hue)

	VPSLLD(Imm(8), most, t)
	VPOR(spread, t, t)
	part := gather(saturation, t, 1)
	VPAND(low, part, part)
	VCVTDQ2PS(part, part)
	VDIVPS(scale, part, part)

	into := gather(at, hue, 4)
	choice := gather(spokes, hue, 4)
	VPADDD(lanes, choice, choice)

	// The part of the distance to the largest level, for four of the eight pixels at a time, in 64
	// bits each.
	product := YMM()
	VMULPS(into, part, product)
	var v [2]VecVirtual
	for h := range v {
		v[h] = widen(most, h, func(x, y Op) { VCVTDQ2PD(x, y) })
	}
	float := func(x, y Op) { VCVTPS2PD(x, y) }
	for i, less := range []func(h int) VecVirtual{
		func(h int) VecVirtual { return widen(part, h, float) },
		func(h int) VecVirtual { return widen(product, h, float) },
		func(h int) VecVirtual {
			rise := widen(into, h, float)
			VSUBPD(rise, loaded(unit), rise)
			VMULPD(widen(part, h, float), rise, rise)
			return rise
		},
	} {
		var level [2]VecVirtual
		for h := range level {
			l := less(h)
			VSUBPD(l, loaded(unit), l)
			VMULPD(l, v[h], l)
			VADDPD(half, l, l)
			level[h] = XMM()
			VCVTTPD2DQY(l, level[h])
		}
		both := YMM()
		VINSERTI128(Imm(1), level[1], level[0].AsY(), both)
		VPSLLD(Imm(uint64(8+8*i)), both, both)
		VPOR(both, most, most)
	}
	VPSHUFB(choice, most, most)
	VPSHUFB(p.words, most, most)
	store(most, Mem{Base: dst})
	ADDQ(Imm(24), src)
	ADDQ(Imm(24), dst)
	SUBQ(Imm(8), left)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// widen converts the first or the second four of eight to 64 bits each.
func widen(v VecVirtual, half int, convert func(x, y Op)) VecVirtual {
	wide := YMM()
	if half == 0 {
		convert(v.AsX(), wide)
		return wide
	}
	upper := XMM()
	VEXTRACTI128(Imm(1), v, upper)
	convert(upper, wide)
	return wide
}

// loaded puts a constant into a register.
func loaded(m Mem) VecVirtual {
	v := YMM()
	VMOVUPD(m, v)
	return v
}
