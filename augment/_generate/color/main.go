// Command color writes the assembly of package augment that changes the colours of rows. In the
// folder above this one:
//
//	go run ./color -out ../color_amd64.s -stubs ../color_stubs_amd64.go -pkg augment
package main

import (
	"encoding/binary"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	w := luminanceWeights()
	luminanceRow(w)
	saturateRow(w)
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

// load puts eight pixels of RGB, 24 bytes, into two lanes of four. In the upper lane they begin
// at byte 4, so that nothing behind them is read.
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

// weights are those of luminance, that of green, which is too large for a word, in two parts.
type weights struct{ redGreen, blueGreen, byRedGreen, byBlueGreen, half Mem }

func luminanceWeights() weights {
	return weights{
		channels("redGreen", 0, 1), channels("blueGreen", 2, 1),
		pairs("byRedGreen", 19595, 38470-32767), pairs("byBlueGreen", 7471, 32767), dwords("luminanceHalf", 1<<15),
	}
}

// luminance is that of eight pixels, 32 bits each.
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
	// Of the first eight levels and the second, four each lie in a lane.
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
func saturateRow(w weights) {
	TEXT("saturateRowAVX2", NOSPLIT, "func(dst, src *uint8, factor float32, n int)")
	Doc("saturateRowAVX2 mixes n pixels of RGB, a multiple of 8, with their luminance. dst may be src.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	factor := YMM()
	f, _ := Param("factor").Resolve()
	VBROADCASTSS(f.Addr, factor)
	left := Load(Param("n"), GP64())
	var each [3]Mem
	for c := range each {
		each[c] = channels("channel"+string("RGB"[c]), c, -1)
	}

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
		VPSHUFB(each[c], pixels, v)
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
	VPSHUFB(planar(), mixed[0], mixed[0])
	upper := XMM()
	VEXTRACTI128(Imm(1), mixed[0], upper)
	VMOVQ(mixed[0].AsX(), Mem{Base: dst, Index: x, Scale: 1})
	VPEXTRD(Imm(2), mixed[0].AsX(), Mem{Base: dst, Index: x, Scale: 1, Disp: 8})
	VMOVQ(upper, Mem{Base: dst, Index: x, Scale: 1, Disp: 12})
	VPEXTRD(Imm(2), upper, Mem{Base: dst, Index: x, Scale: 1, Disp: 20})
	ADDQ(Imm(24), x)
	SUBQ(Imm(8), left)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// planar interleaves the four levels of red, of green and of blue in each lane.
func planar() Mem {
	var bytes [32]uint8
	for i := range bytes {
		bytes[i] = no
		if at := i % 16; at < 12 {
			bytes[i] = uint8(at%3*4 + at/3)
		}
	}
	return table("interleave", bytes)
}
