// Command _generate writes the assembly of package resample. In this directory:
//
//	go run weigh.go -out ../weigh_amd64.s -stubs ../weigh_stubs_amd64.go -pkg resample
//
// It is a module of its own so that what generates is not a dependency of the package.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// These are the package's own: a sum has precision bits of fraction, and a
// weight is taken apart into its lowest lowBits and the rest, each small enough
// for the 16-bit multiplications of VPMADDWD.
const (
	precision = 22
	lowBits   = 12
)

func main() {
	ConstraintExpr("!noasm")
	weighRows()
	weighGray()
	weighGrayNear()
	weighRGB("weighRGBAVX2", "weighRGBAVX2 makes n pixels, at least 4, of each of two rows of RGB from 4 times blocks source pixels each.", 2)
	weighRGB("weighRGBFiveAVX2", "weighRGBFiveAVX2 is weighRGBAVX2 with five source pixels for each.", 3)
	Generate()
}

// bytes puts a table of bytes, repeated for both lanes, into read-only memory.
func bytes(name string, table []uint8) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(table[i%16]))
	}
	return m
}

// rounding is half of 1<<precision in each 32 bits.
func rounding() VecVirtual {
	half := YMM()
	VPCMPEQD(half, half, half)
	VPSRLD(Imm(31), half, half)
	VPSLLD(Imm(precision-1), half, half)
	return half
}

// weighRows weighs 32 samples at a time, two rows at a time: the samples of both are interleaved as
// words, and a multiplication gives their sum.
func weighRows() {
	TEXT("weighRowsAVX2", NOSPLIT, "func(dst, src *uint8, stride int, weights *int32, count, n int)")
	Doc("weighRowsAVX2 makes n samples, at least 32, from count rows.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	stride := Load(Param("stride"), GP64())
	weights := Load(Param("weights"), GP64())
	count := Load(Param("count"), GP64())
	last := Load(Param("n"), GP64())
	SUBQ(Imm(32), last)
	half := rounding()
	zero := YMM()
	VPXOR(zero, zero, zero)

	x := GP64()
	XORQ(x, x)
	Label("samples")
	var low, high [4]VecVirtual
	for i := range low {
		low[i], high[i] = YMM(), YMM()
		VMOVDQA(half, low[i])
		VPXOR(high[i], high[i], high[i])
	}
	row, w, left := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: src, Index: x, Scale: 1}, row)
	MOVQ(weights, w)
	MOVQ(count, left)

	// add weighs two rows; with one alone the other is zero.
	add := func(a VecVirtual, b VecVirtual) {
		front, back := YMM(), YMM()
		VPUNPCKLBW(b, a, front)
		VPUNPCKHBW(b, a, back)
		kl, kh, words, product := YMM(), YMM(), YMM(), YMM()
		VPBROADCASTD(Mem{Base: w}, kl)
		VPBROADCASTD(Mem{Base: w, Disp: 4}, kh)
		for i := range low {
			from := front
			if i >= 2 {
				from = back
			}
			if i%2 == 0 {
				VPUNPCKLBW(zero, from, words)
			} else {
				VPUNPCKHBW(zero, from, words)
			}
			VPMADDWD(kl, words, product)
			VPADDD(product, low[i], low[i])
			VPMADDWD(kh, words, product)
			VPADDD(product, high[i], high[i])
		}
	}

	SUBQ(Imm(2), left)
	JL(LabelRef("odd"))
	Label("pair")
	a, b := YMM(), YMM()
	VMOVDQU(Mem{Base: row}, a)
	VMOVDQU(Mem{Base: row, Index: stride, Scale: 1}, b)
	add(a, b)
	LEAQ(Mem{Base: row, Index: stride, Scale: 2}, row)
	ADDQ(Imm(8), w)
	SUBQ(Imm(2), left)
	JGE(LabelRef("pair"))
	Label("odd")
	ADDQ(Imm(2), left)
	JZ(LabelRef("finish"))
	alone := YMM()
	VMOVDQU(Mem{Base: row}, alone)
	add(alone, zero)

	Label("finish")
	for i := range low {
		VPSLLD(Imm(lowBits), high[i], high[i])
		VPADDD(high[i], low[i], low[i])
		VPSRAD(Imm(precision), low[i], low[i])
	}
	VPACKSSDW(low[1], low[0], low[0])
	VPACKSSDW(low[3], low[2], low[2])
	VPACKUSWB(low[2], low[0], low[0])
	VMOVDQU(low[0], Mem{Base: dst, Index: x, Scale: 1})

	next(x, last, 32, "samples")
	VZEROUPPER()
	RET()
}

// next jumps to start with i advanced by step, or with i = last if that is less, so that the last
// step overlaps the one before. After last it falls through.
func next(i, last Register, step uint64, start string) {
	CMPQ(i, last)
	JE(LabelRef("done"))
	ADDQ(Imm(step), i)
	CMPQ(i, last)
	CMOVQGT(last, i)
	JMP(LabelRef(start))
	Label("done")
}

// weighRGB weighs two rows at a time, one in each lane, and two source pixels at a time: their
// three channels are interleaved as words.
func weighRGB(name, doc string, pairs int) {
	blocks := ", blocks"
	if pairs == 3 {
		blocks = ""
	}
	TEXT(name, NOSPLIT, "func(dstA, dstB, srcA, srcB *uint8, first, weights *int32"+blocks+", n int)")
	Doc(doc)
	dstA := Load(Param("dstA"), GP64())
	dstB := Load(Param("dstB"), GP64())
	srcA := Load(Param("srcA"), GP64())
	srcB := Load(Param("srcB"), GP64())
	first := Load(Param("first"), GP64())
	weights := Load(Param("weights"), GP64())
	last := Load(Param("n"), GP64())
	SUBQ(Imm(4), last)

	const no = 0x80
	var shuffles []VecVirtual
	for i, table := range [][]uint8{
		{0, no, 3, no, 1, no, 4, no, 2, no, 5, no, no, no, no, no},
		{6, no, 9, no, 7, no, 10, no, 8, no, 11, no, no, no, no, no},
		{12, no, no, no, 13, no, no, no, 14, no, no, no, no, no, no, no},
	}[:pairs] {
		s := YMM()
		VMOVDQU(bytes(name+"Pair"+string(rune('0'+i)), table), s)
		shuffles = append(shuffles, s)
	}
	together := YMM()
	VMOVDQU(bytes(name+"Together", []uint8{0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, no, no, no, no}), together)
	half := rounding()

	i, at, w := GP64(), GP64(), GP64()
	XORQ(i, i)
	Label("pixels")
	// The weights of a pixel take as many bytes as its blocks.
	MOVQ(i, w)
	if pairs == 3 {
		IMUL3Q(Imm(8*3), w, w)
	} else {
		blocks := GP64()
		Load(Param("blocks"), blocks)
		SHLQ(Imm(4), blocks)
		IMULQ(blocks, w)
	}
	ADDQ(weights, w)

	var out [4]VecVirtual
	for p := range out {
		low, high := YMM(), YMM()
		VMOVDQA(half, low)
		VPXOR(high, high, high)
		out[p] = low
		MOVLQSX(Mem{Base: first, Index: i, Scale: 4, Disp: 4 * p}, at)
		LEAQ(Mem{Base: at, Index: at, Scale: 2}, at)

		block := name + "block" + string(rune('0'+p))
		left := GP64()
		if pairs == 2 {
			Load(Param("blocks"), left)
			Label(block)
		}
		both, words, product, k := YMM(), YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: srcA, Index: at, Scale: 1}, both.AsX())
		VINSERTI128(Imm(1), Mem{Base: srcB, Index: at, Scale: 1}, both, both)
		for j, s := range shuffles {
			VPSHUFB(s, both, words)
			VPBROADCASTD(Mem{Base: w, Disp: 8 * j}, k)
			VPMADDWD(k, words, product)
			VPADDD(product, low, low)
			VPBROADCASTD(Mem{Base: w, Disp: 8*j + 4}, k)
			VPMADDWD(k, words, product)
			VPADDD(product, high, high)
		}
		ADDQ(Imm(uint64(8*pairs)), w)
		if pairs == 2 {
			ADDQ(Imm(12), at)
			DECQ(left)
			JNZ(LabelRef(block))
		}
		VPSLLD(Imm(lowBits), high, high)
		VPADDD(high, low, low)
		VPSRAD(Imm(precision), low, low)
	}
	VPACKSSDW(out[1], out[0], out[0])
	VPACKSSDW(out[3], out[2], out[2])
	VPACKUSWB(out[2], out[0], out[0])
	VPSHUFB(together, out[0], out[0])
	upper := XMM()
	VEXTRACTI128(Imm(1), out[0], upper)
	LEAQ(Mem{Base: i, Index: i, Scale: 2}, at)
	VMOVQ(out[0].AsX(), Mem{Base: dstA, Index: at, Scale: 1})
	VPEXTRD(Imm(2), out[0].AsX(), Mem{Base: dstA, Index: at, Scale: 1, Disp: 8})
	VMOVQ(upper, Mem{Base: dstB, Index: at, Scale: 1})
	VPEXTRD(Imm(2), upper, Mem{Base: dstB, Index: at, Scale: 1, Disp: 8})

	next(i, last, 4, "pixels")
	VZEROUPPER()
	RET()
}

// weighGray weighs two rows at a time, one in each lane, and eight source
// pixels of each at a time.
func weighGray() {
	TEXT("weighGrayAVX2", NOSPLIT, "func(dstA, dstB, srcA, srcB *uint8, first, weights *int32, blocks, n int)")
	Doc("weighGrayAVX2 makes n pixels, at least 4, of each of two gray rows from 8 times blocks source pixels each.")
	dstA := Load(Param("dstA"), GP64())
	dstB := Load(Param("dstB"), GP64())
	srcA := Load(Param("srcA"), GP64())
	srcB := Load(Param("srcB"), GP64())
	first := Load(Param("first"), GP64())
	weights := Load(Param("weights"), GP64())
	blocks := Load(Param("blocks"), GP64())
	last := Load(Param("n"), GP64())
	SUBQ(Imm(4), last)
	half := rounding()

	i, at, w, left := GP64(), GP64(), GP64(), GP64()
	XORQ(i, i)
	Label("pixels")
	// The weights of a pixel take 32 bytes a block.
	MOVQ(i, w)
	IMULQ(blocks, w)
	SHLQ(Imm(5), w)
	ADDQ(weights, w)

	var out [4]VecVirtual
	for p := range out {
		low, high := YMM(), YMM()
		VPXOR(low, low, low)
		VPXOR(high, high, high)
		out[p] = low
		MOVLQSX(Mem{Base: first, Index: i, Scale: 4, Disp: 4 * p}, at)
		MOVQ(blocks, left)
		block := "block" + string(rune('0'+p))
		Label(block)
		both, product := YMM(), YMM()
		VMOVQ(Mem{Base: srcA, Index: at, Scale: 1}, both.AsX())
		VPINSRQ(Imm(1), Mem{Base: srcB, Index: at, Scale: 1}, both.AsX(), both.AsX())
		VPMOVZXBW(both.AsX(), both)
		VBROADCASTI128(Mem{Base: w}, product)
		VPMADDWD(both, product, product)
		VPADDD(product, low, low)
		VBROADCASTI128(Mem{Base: w, Disp: 16}, product)
		VPMADDWD(both, product, product)
		VPADDD(product, high, high)
		ADDQ(Imm(32), w)
		ADDQ(Imm(8), at)
		DECQ(left)
		JNZ(LabelRef(block))
		VPSLLD(Imm(lowBits), high, high)
		VPADDD(high, low, low)
	}
	VPHADDD(out[1], out[0], out[0])
	VPHADDD(out[3], out[2], out[2])
	VPHADDD(out[2], out[0], out[0])
	VPADDD(half, out[0], out[0])
	VPSRAD(Imm(precision), out[0], out[0])
	VPACKSSDW(out[0], out[0], out[0])
	VPACKUSWB(out[0], out[0], out[0])
	upper := XMM()
	VEXTRACTI128(Imm(1), out[0], upper)
	VMOVD(out[0].AsX(), Mem{Base: dstA, Index: i, Scale: 1})
	VMOVD(upper, Mem{Base: dstB, Index: i, Scale: 1})

	next(i, last, 4, "pixels")
	VZEROUPPER()
	RET()
}

// weighGrayNear weighs eight pixels at a time. Each four of them, in a lane, need no more than 16
// source pixels, of which a shuffle for every two weights gives each of the four its own two.
func weighGrayNear() {
	TEXT("weighGrayNearAVX2", NOSPLIT, "func(dst, src *uint8, starts *int32, tables *uint8, pairs, n int)")
	Doc("weighGrayNearAVX2 makes n pixels, at least 8, of a gray row: of each four the source pixels begin at one of starts, and tables has for each eight their pairs of weights as shuffles, lower parts and higher parts.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	starts := Load(Param("starts"), GP64())
	tables := Load(Param("tables"), GP64())
	pairs := Load(Param("pairs"), GP64())
	last := Load(Param("n"), GP64())
	SUBQ(Imm(8), last)
	half := rounding()

	i, at, left := GP64(), GP64(), GP64()
	XORQ(i, i)
	Label("pixels")
	both, low, high, words, product := YMM(), YMM(), YMM(), YMM(), YMM()
	MOVLQSX(Mem{Base: starts}, at)
	VMOVDQU(Mem{Base: src, Index: at, Scale: 1}, both.AsX())
	MOVLQSX(Mem{Base: starts, Disp: 4}, at)
	VINSERTI128(Imm(1), Mem{Base: src, Index: at, Scale: 1}, both, both)
	ADDQ(Imm(8), starts)
	VMOVDQA(half, low)
	VPXOR(high, high, high)
	MOVQ(pairs, left)
	Label("pair")
	VPSHUFB(Mem{Base: tables}, both, words)
	VPMADDWD(Mem{Base: tables, Disp: 32}, words, product)
	VPADDD(product, low, low)
	VPMADDWD(Mem{Base: tables, Disp: 64}, words, product)
	VPADDD(product, high, high)
	ADDQ(Imm(96), tables)
	DECQ(left)
	JNZ(LabelRef("pair"))
	VPSLLD(Imm(lowBits), high, high)
	VPADDD(high, low, low)
	VPSRAD(Imm(precision), low, low)
	VPACKSSDW(low, low, low)
	VPACKUSWB(low, low, low)
	upper := XMM()
	VEXTRACTI128(Imm(1), low, upper)
	VMOVD(low.AsX(), Mem{Base: dst, Index: i, Scale: 1})
	VMOVD(upper, Mem{Base: dst, Index: i, Scale: 1, Disp: 4})

	next(i, last, 8, "pixels")
	VZEROUPPER()
	RET()
}
