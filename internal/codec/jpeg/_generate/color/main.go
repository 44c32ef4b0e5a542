// Command color writes the assembly of package jpeg that upsamples chroma and converts colours. It
// is a separate module so that the generator is not a dependency of the package. In the directory
// above this one:
//
//	go run ./color -out ../color_amd64.s -stubs ../color_stubs_amd64.go -pkg jpeg
package main

import (
	"encoding/binary"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	for _, avx512 := range []bool{false, true} {
		convertRow(avx512)
		convertDoubled(avx512)
	}
	convertVideo()
	doubleVideo()
	interleaveRow()
	doubleBoth()
	doubleAcross()
	doubleDown()
	Generate()
}

// words puts a word, or a few in turn, all over 32 bytes of read-only memory.
func words(name string, pattern ...int16) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U16(uint16(pattern[i%len(pattern)])))
	}
	return m
}

// bytes puts a table of 16 bytes, repeated for both lanes, into read-only memory, unless it is there.
func bytes(name string, table [16]uint8) Mem {
	if m, ok := tables[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 32; i += 8 {
		DATA(i, U64(binary.LittleEndian.Uint64(table[i%16:])))
	}
	tables[name] = m
	return m
}

// last is the register with the position of the last step.
func last(step uint64) GPVirtual {
	r := GP64()
	Load(Param("n"), r)
	SUBQ(Imm(step), r)
	return r
}

// next jumps to start with x advanced by step, or with x = last if that is less, so that the last
// step overlaps the one before. After last it returns.
func next(x, last Register, step uint64, start string) {
	advance(x, last, step, start)
	VZEROUPPER()
	RET()
}

// advance is next, except that it falls through after last.
func advance(x, last Register, step uint64, start string) {
	CMPQ(x, last)
	JE(LabelRef(start + "Done"))
	ADDQ(Imm(step), x)
	CMPQ(x, last)
	CMOVQGT(last, x)
	JMP(LabelRef(start))
	Label(start + "Done")
}

// storePixels writes 32 pixels of three colours at position x. place returns the position of a
// pixel in each 16 bytes of a colour, and name identifies this order. 16 bytes of pixels begin with
// red, the next 16 with green, then blue. Each byte of a colour has its own position modulo 16, so
// one shuffle places all of them, and masks of thirds select the bytes of each 16 bytes of pixels.
func storePixels(colors [3]VecVirtual, dst, x Register, thirds [2]VecVirtual, name string, place func(pixel int) int) {
	to := GP64()
	LEAQ(Mem{Base: x, Index: x, Scale: 2}, to)
	ADDQ(dst, to)
	for c, color := range colors {
		var order [16]uint8
		for pixel := range 16 {
			order[(3*pixel+c)%16] = uint8(place(pixel))
		}
		VPSHUFB(bytes(name+string("RGB"[c]), order), color, color)
	}
	for part := range 3 {
		mixed := YMM()
		VPBLENDVB(thirds[0], colors[(part+1)%3], colors[part], mixed)
		VPBLENDVB(thirds[1], colors[(part+2)%3], mixed, mixed)
		VMOVDQU(mixed.AsX(), Mem{Base: to, Disp: 16 * part})
		VEXTRACTI128(Imm(1), mixed, Mem{Base: to, Disp: 48 + 16*part})
	}
}

// thirds are masks of the second of each three bytes, and of the third, in each 16.
func thirds() (masks [2]VecVirtual) {
	for i := range masks {
		var mask [16]uint8
		for at := i + 1; at < 16; at += 3 {
			mask[at] = 255
		}
		masks[i] = YMM()
		VMOVDQU(bytes("third"+string(rune('1'+i)), mask), masks[i])
	}
	return masks
}

// inOrder is the place of pixels that are in order.
func inOrder(pixel int) int { return pixel }

// interleaveRow takes 32 pixels at a time.
func interleaveRow() {
	TEXT("interleaveRowAVX2", NOSPLIT, "func(dst, red, green, blue *uint8, n int)")
	Doc("interleaveRowAVX2 makes n pixels, at least 32, of three colours.")
	dst := Load(Param("dst"), GP64())
	var rows [3]Register
	for i, name := range []string{"red", "green", "blue"} {
		rows[i] = Load(Param(name), GP64())
	}
	masks := thirds()
	end := last(32)
	x := GP64()
	XORQ(x, x)
	Label("pixels")
	var colors [3]VecVirtual
	for i, row := range rows {
		colors[i] = YMM()
		VMOVDQU(Mem{Base: row, Index: x, Scale: 1}, colors[i])
	}
	storePixels(colors, dst, x, masks, "interleave", inOrder)
	next(x, end, 32, "pixels")
}

// convertVideo converts 32 pixels at a time, in words with 6 bits of fraction (libwebp, dsp/yuv.h): the
// high words of products with bytes times 256.
func convertVideo() {
	TEXT("convertVideoAVX2", NOSPLIT, "func(dst, luma, cb, cr *uint8, n int)")
	Doc("convertVideoAVX2 converts n pixels, at least 32, to RGB.")
	dst, luma := Load(Param("dst"), GP64()), Load(Param("luma"), GP64())
	cb, cr := Load(Param("cb"), GP64()), Load(Param("cr"), GP64())
	end := last(32)
	scale := words("videoScale", 19077)
	redCr, greenCr := words("videoRedCr", 26149), words("videoGreenCr", 13320)
	greenCb, blueCb := words("videoGreenCb", 6419), words("videoBlueCb", 33050-1<<16)
	red, green, blue := words("videoRed", 14234), words("videoGreen", 8708), words("videoBlue", 17685)
	masks := thirds()
	zero := YMM()
	VPXOR(zero, zero, zero)

	x := GP64()
	XORQ(x, x)
	Label("pixels")
	y, u, v := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: luma, Index: x, Scale: 1}, y)
	VMOVDQU(Mem{Base: cb, Index: x, Scale: 1}, u)
	VMOVDQU(Mem{Base: cr, Index: x, Scale: 1}, v)
	var colors [3][2]VecVirtual
	for i, unpack := range []func(...Op){
		func(o ...Op) { VPUNPCKLBW(o[0], o[1], o[2]) },
		func(o ...Op) { VPUNPCKHBW(o[0], o[1], o[2]) },
	} {
		ys, us, vs := YMM(), YMM(), YMM()
		unpack(y, zero, ys)
		unpack(u, zero, us)
		unpack(v, zero, vs)
		VPMULHUW(scale, ys, ys)

		r := YMM()
		VPMULHUW(redCr, vs, r)
		VPADDW(ys, r, r)
		VPSUBW(red, r, r)
		VPSRAW(Imm(6), r, r)

		g, t := YMM(), YMM()
		VPADDW(green, ys, g)
		VPMULHUW(greenCb, us, t)
		VPSUBW(t, g, g)
		VPMULHUW(greenCr, vs, t)
		VPSUBW(t, g, g)
		VPSRAW(Imm(6), g, g)

		b := YMM() // without a sign
		VPMULHUW(blueCb, us, b)
		VPADDUSW(ys, b, b)
		VPSUBUSW(blue, b, b)
		VPSRLW(Imm(6), b, b)
		colors[0][i], colors[1][i], colors[2][i] = r, g, b
	}
	var packed [3]VecVirtual
	for c, p := range colors {
		VPACKUSWB(p[1], p[0], p[0])
		packed[c] = p[0]
	}
	storePixels(packed, dst, x, masks, "interleave", inOrder)
	next(x, end, 32, "pixels")
}

// doubleVideo makes two samples from each square of four, in words (libwebp, dsp/upsampling.c).
func doubleVideo() {
	TEXT("doubleVideoAVX2", NOSPLIT, "func(dst, near, far *uint8, n int)")
	Doc("doubleVideoAVX2 makes the samples between each of n, at least 32, and the next in two rows.")
	dst, near, far := Load(Param("dst"), GP64()), Load(Param("near"), GP64()), Load(Param("far"), GP64())
	end := last(32)
	eight := words("videoEight", 8)
	zero := YMM()
	VPXOR(zero, zero, zero)

	x := GP64()
	XORQ(x, x)
	Label("samples")
	var four [4]VecVirtual
	for i, row := range []GPVirtual{near.(GPVirtual), far.(GPVirtual)} {
		for j := range 2 {
			four[2*i+j] = YMM()
			VMOVDQU(Mem{Base: row, Index: x, Scale: 1, Disp: j}, four[2*i+j])
		}
	}
	var even, odd [2]VecVirtual
	for i, unpack := range []func(...Op){
		func(o ...Op) { VPUNPCKLBW(o[0], o[1], o[2]) },
		func(o ...Op) { VPUNPCKHBW(o[0], o[1], o[2]) },
	} {
		var w [4]VecVirtual
		for j, v := range four {
			w[j] = YMM()
			unpack(zero, v, w[j])
		}
		one, other := YMM(), YMM() // sums of the diagonals
		VPADDW(w[1], w[2], one)
		VPADDW(w[0], w[3], other)
		sum := YMM()
		VPADDW(one, other, sum)
		VPADDW(eight, sum, sum)
		for k, diagonal := range []VecVirtual{one, other} {
			VPADDW(diagonal, diagonal, diagonal)
			VPADDW(sum, diagonal, diagonal)
			VPSRLW(Imm(3), diagonal, diagonal)
			VPADDW(w[k], diagonal, diagonal)
			VPSRLW(Imm(1), diagonal, diagonal)
		}
		even[i], odd[i] = one, other
	}
	store(even, odd, Mem{Base: dst, Index: x, Scale: 2})
	next(x, end, 32, "samples")
}

// weigh makes words of bytes of two registers: three of near and one of far.
func weigh(near, far VecVirtual, threeOne Mem) (low, high VecVirtual) {
	low, high = YMM(), YMM()
	VPUNPCKLBW(far, near, low)
	VPUNPCKHBW(far, near, high)
	VPMADDUBSW(threeOne, low, low)
	VPMADDUBSW(threeOne, high, high)
	return low, high
}

// store writes 64 samples. even and odd hold the words of the samples with even and odd index: in
// each lane first from the first 16 of its 32 samples, then from the others.
func store(even, odd [2]VecVirtual, dst Mem) {
	for i := range even {
		VPSLLW(Imm(8), odd[i], odd[i])
		VPOR(odd[i], even[i], even[i])
	}
	front, back := YMM(), YMM()
	VPERM2I128(Imm(0x20), even[1], even[0], front)
	VPERM2I128(Imm(0x31), even[1], even[0], back)
	VMOVDQU(front, dst)
	VMOVDQU(back, dst.Offset(32))
}

// doubleBoth weighs rows first, for the samples to the left, in the middle and to the right.
func doubleBoth() {
	TEXT("doubleBothAsm", NOSPLIT, "func(dst, near, far *uint8, n int)")
	Doc("doubleBothAsm makes 2n samples of n, at least 32, in between two rows; it reads one to each side.")
	dst, near, far := Load(Param("dst"), GP64()), Load(Param("near"), GP64()), Load(Param("far"), GP64())
	end := last(32)
	threeOne := GLOBL("threeOne", RODATA|NOPTR)
	for i := 0; i < 32; i += 2 {
		DATA(i, U16(1<<8|3))
	}
	seven, eight := words("seven", 7), words("eight", 8)

	x := GP64()
	XORQ(x, x)
	Label("samples")
	var sums [3][2]VecVirtual
	for i := range sums {
		n, f := YMM(), YMM()
		VMOVDQU(Mem{Base: near, Index: x, Scale: 1, Disp: i - 1}, n)
		VMOVDQU(Mem{Base: far, Index: x, Scale: 1, Disp: i - 1}, f)
		sums[i][0], sums[i][1] = weigh(n, f, threeOne)
	}
	for i := range 2 {
		before, here, after := sums[0][i], sums[1][i], sums[2][i]
		three := YMM()
		VPADDW(here, here, three)
		VPADDW(here, three, three)
		VPADDW(three, before, before)
		VPADDW(eight, before, before)
		VPSRLW(Imm(4), before, before)
		VPADDW(three, after, after)
		VPADDW(seven, after, after)
		VPSRLW(Imm(4), after, after)
	}
	store(sums[0], sums[2], Mem{Base: dst, Index: x, Scale: 2})
	next(x, end, 32, "samples")
}

func doubleAcross() {
	TEXT("doubleAcrossAsm", NOSPLIT, "func(dst, src *uint8, n int)")
	Doc("doubleAcrossAsm makes 2n samples of n, at least 32; it reads one to each side.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	end := last(32)
	threeOne := Mem{Symbol: Symbol{Name: "threeOne", Static: true}, Base: StaticBase}
	one, two := words("acrossOne", 1), words("acrossTwo", 2)

	x := GP64()
	XORQ(x, x)
	Label("samples")
	before, here, after := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: src, Index: x, Scale: 1, Disp: -1}, before)
	VMOVDQU(Mem{Base: src, Index: x, Scale: 1}, here)
	VMOVDQU(Mem{Base: src, Index: x, Scale: 1, Disp: 1}, after)
	var even, odd [2]VecVirtual
	even[0], even[1] = weigh(here, before, threeOne)
	odd[0], odd[1] = weigh(here, after, threeOne)
	for i := range 2 {
		VPADDW(one, even[i], even[i])
		VPSRLW(Imm(2), even[i], even[i])
		VPADDW(two, odd[i], odd[i])
		VPSRLW(Imm(2), odd[i], odd[i])
	}
	store(even, odd, Mem{Base: dst, Index: x, Scale: 2})
	next(x, end, 32, "samples")
}

func doubleDown() {
	TEXT("doubleDownAsm", NOSPLIT, "func(dst, near, far *uint8, bias, n int)")
	Doc("doubleDownAsm makes n samples, at least 32, in between two rows.")
	dst, near, far := Load(Param("dst"), GP64()), Load(Param("near"), GP64()), Load(Param("far"), GP64())
	bias := YMM()
	b := Load(Param("bias"), GP64())
	VMOVD(b.(GPVirtual).As32(), bias.AsX())
	VPBROADCASTW(bias.AsX(), bias)
	end := last(32)
	threeOne := Mem{Symbol: Symbol{Name: "threeOne", Static: true}, Base: StaticBase}

	x := GP64()
	XORQ(x, x)
	Label("samples")
	n, f := YMM(), YMM()
	VMOVDQU(Mem{Base: near, Index: x, Scale: 1}, n)
	VMOVDQU(Mem{Base: far, Index: x, Scale: 1}, f)
	low, high := weigh(n, f, threeOne)
	for _, sum := range []VecVirtual{low, high} {
		VPADDW(bias, sum, sum)
		VPSRLW(Imm(2), sum, sum)
	}
	VPACKUSWB(high, low, low)
	VMOVDQU(low, Mem{Base: dst, Index: x, Scale: 1})
	next(x, end, 32, "samples")
}
