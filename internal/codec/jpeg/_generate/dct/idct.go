package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// idct is the frame of an inverse transform over a row of blocks.
type idct struct {
	dst, stride, coefs, quant, left Register
	other                           Register // from the block in the lower lane to that in the upper: 0 for the last one alone
	shelf                           shelf
	size                            int
}

// begin opens a function whose blocks come out so large. What follows makes two
// blocks of coefs, with an end.
func begin(size, shelves int) idct {
	name := fmt.Sprintf("idct%dAsm", size)
	TEXT(name, NOSPLIT, "func(dst *uint8, stride int, coefs *[64]int16, quant *[64]uint16, n int)")
	Doc(fmt.Sprintf("%s makes n neighbouring blocks, at least 1, of %dx%d samples each.", name, size, size))
	t := idct{size: size, other: GP64()}
	t.dst = Load(Param("dst"), GP64())
	t.stride = Load(Param("stride"), GP64())
	t.coefs = Load(Param("coefs"), GP64())
	t.quant = Load(Param("quant"), GP64())
	t.left = Load(Param("n"), GP64())
	if shelves > 0 {
		t.shelf = newShelf(shelves)
	}
	MOVQ(U32(128), t.other)
	CMPQ(t.left, Imm(2))
	JGE(LabelRef("blocks"))
	Label("last")
	XORQ(t.other, t.other)
	Label("blocks")
	return t
}

// end continues with the next blocks.
func (t idct) end() {
	ADDQ(U32(256), t.coefs)
	ADDQ(Imm(uint64(2*t.size)), t.dst)
	SUBQ(Imm(2), t.left)
	CMPQ(t.left, Imm(1))
	JG(LabelRef("blocks"))
	JE(LabelRef("last"))
	VZEROUPPER()
	RET()
}

// row loads a row of both blocks, dequantised.
func (t idct) row(i int) VecVirtual {
	x, q := YMM(), YMM()
	VBROADCASTI128(Mem{Base: t.coefs, Index: t.other, Scale: 1, Disp: 16 * i}, x)
	VINSERTI128(Imm(0), Mem{Base: t.coefs, Disp: 16 * i}, x, x)
	VBROADCASTI128(Mem{Base: t.quant, Disp: 16 * i}, q)
	VPMULLW(q, x, x)
	return x
}

// alone jumps to a label where there is one block only.
func (t idct) alone(label string) {
	TESTQ(t.other, t.other)
	JZ(LabelRef(label))
}

// The constants of the 8-point transform: cosines in 13 bits of fraction, as
// jidctint.c names them.
const (
	fix0_298 = 2446
	fix0_390 = 3196
	fix0_541 = 4433
	fix0_765 = 6270
	fix0_899 = 7373
	fix1_175 = 9633
	fix1_501 = 12299
	fix1_847 = 15137
	fix1_961 = 16069
	fix2_053 = 16819
	fix2_562 = 20995
	fix3_072 = 25172
)

// idct8 is the accurate integer transform of Loeffler, Ligtenberg and Moschytz.
func idct8() {
	t := begin(8, 8)
	t.onlyDC()

	x := transpose(t.pass8(t.row, constBits-passBits))
	x = t.pass8(func(i int) VecVirtual { return x[i] }, constBits+passBits+3)

	// Columns of words become rows of bytes.
	var pairs, fours [4]VecVirtual
	for i := range 2 {
		a, b := YMM(), YMM()
		VPACKSSWB(x[4*i+2], x[4*i], a)
		VPACKSSWB(x[4*i+3], x[4*i+1], b)
		pairs[2*i], pairs[2*i+1] = YMM(), YMM()
		VPUNPCKLBW(b, a, pairs[2*i])
		VPUNPCKHBW(b, a, pairs[2*i+1])
	}
	for i := range 2 {
		a, b := pairs[2*i], pairs[2*i+1]
		fours[2*i], fours[2*i+1] = YMM(), YMM()
		VPUNPCKLWD(b, a, fours[2*i])
		VPUNPCKHWD(b, a, fours[2*i+1])
	}
	var rows [4]VecVirtual
	for i := range 2 {
		rows[2*i], rows[2*i+1] = YMM(), YMM()
		VPUNPCKLDQ(fours[2+i], fours[i], rows[2*i])
		VPUNPCKHDQ(fours[2+i], fours[i], rows[2*i+1])
	}
	middle := table("middle", 1, 128)
	for _, r := range rows {
		VPXOR(middle, r, r)
	}

	at := GP64()
	MOVQ(t.dst, at)
	t.alone("alone")
	for i, r := range rows {
		// Both blocks' halves of a row side by side.
		VPERMQ(Imm(0xd8), r, r)
		VMOVDQU(r.AsX(), Mem{Base: at})
		VEXTRACTI128(Imm(1), r, Mem{Base: at, Index: t.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: at, Index: t.stride, Scale: 2}, at)
		}
	}
	Label("next")
	t.end()

	Label("alone")
	for i, r := range rows {
		VMOVQ(r.AsX(), Mem{Base: at})
		VPEXTRQ(Imm(1), r.AsX(), Mem{Base: at, Index: t.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: at, Index: t.stride, Scale: 2}, at)
		}
	}
	JMP(LabelRef("next"))

	t.flat()
}

// onlyDC jumps to flat where both blocks have nothing else.
func (t idct) onlyDC() {
	rest := YMM()
	VMOVDQU(Mem{Base: t.coefs}, rest)
	VPOR(Mem{Base: t.coefs, Index: t.other, Scale: 1}, rest, rest)
	ac := GLOBL("exceptDC", RODATA|NOPTR)
	for i := range 16 {
		mask := uint16(0xffff)
		if i == 0 {
			mask = 0
		}
		DATA(2*i, U16(mask))
	}
	VPAND(ac, rest, rest)
	for i := 32; i < 128; i += 32 {
		VPOR(Mem{Base: t.coefs, Disp: i}, rest, rest)
		VPOR(Mem{Base: t.coefs, Index: t.other, Scale: 1, Disp: i}, rest, rest)
	}
	VPTEST(rest, rest)
	JZ(LabelRef("flat"))
}

// flat fills two blocks with the value to which the transform maps a single DC coefficient.
func (t idct) flat() {
	Label("flat")
	dc, q := YMM(), YMM()
	VPBROADCASTW(Mem{Base: t.coefs, Index: t.other, Scale: 1}, dc)
	VPBROADCASTW(Mem{Base: t.coefs}, q)
	VINSERTI128(Imm(0), q.AsX(), dc, dc)
	VPBROADCASTW(Mem{Base: t.quant}, q)
	VPMULLW(q, dc, dc)
	for range passBits {
		VPADDSW(dc, dc, dc)
	}
	VPADDSW(table("half", 2, 1<<(passBits+2)), dc, dc)
	VPSRAW(Imm(passBits+3), dc, dc)
	VPACKSSWB(dc, dc, dc)
	VPXOR(table("middle", 1, 128), dc, dc)
	VPERMQ(Imm(0x08), dc, dc)
	at := GP64()
	MOVQ(t.dst, at)
	t.alone("flatAlone")
	for i := range 4 {
		VMOVDQU(dc.AsX(), Mem{Base: at})
		VMOVDQU(dc.AsX(), Mem{Base: at, Index: t.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: at, Index: t.stride, Scale: 2}, at)
		}
	}
	JMP(LabelRef("next"))
	Label("flatAlone")
	for i := range 4 {
		VMOVQ(dc.AsX(), Mem{Base: at})
		VMOVQ(dc.AsX(), Mem{Base: at, Index: t.stride, Scale: 1})
		if i < 3 {
			LEAQ(Mem{Base: at, Index: t.stride, Scale: 2}, at)
		}
	}
	JMP(LabelRef("next"))
}

// pass8 transforms eight columns at a time, of which row gives the rows: the odd
// ones first, and each once.
func (t idct) pass8(row func(i int) VecVirtual, bits int) words {
	x1, x3, x5, x7 := row(1), row(3), row(5), row(7)
	z3, z4 := YMM(), YMM()
	VPADDW(x7, x3, z3)
	VPADDW(x5, x1, z4)
	z := interleave(z3, z4)
	a := weigh(z, fix1_175-fix1_961, fix1_175)
	b := weigh(z, fix1_175, fix1_175-fix0_390)
	outer := interleave(x7, x1)
	t.shelf.put(6, add(weigh(outer, fix0_298-fix0_899, -fix0_899), a))
	t.shelf.put(0, add(weigh(outer, -fix0_899, fix1_501-fix0_899), b))
	inner := interleave(x5, x3)
	t.shelf.put(4, add(weigh(inner, fix2_053-fix2_562, -fix2_562), b))
	t.shelf.put(2, add(weigh(inner, -fix2_562, fix3_072-fix2_562), a))

	pairs := interleave(row(2), row(6))
	c := weigh(pairs, fix0_541, fix0_541-fix1_847)
	d := weigh(pairs, fix0_541+fix0_765, fix0_541)
	x0, x4 := row(0), row(4)
	sum, difference := YMM(), YMM()
	VPADDW(x4, x0, sum)
	VPSUBW(x4, x0, difference)
	e0, e3 := butterfly(t.lift(sum, interleave, constBits, bits), d)
	e1, e2 := butterfly(t.lift(difference, interleave, constBits, bits), c)
	var y words
	for i, even := range []wide{e0, e1, e2, e3} {
		y[i], y[7-i] = t.finish(even, i, bits)
	}
	return y
}

// lift gives words that many bits of fraction and adds what rounds when the
// others are dropped.
func (t idct) lift(x VecVirtual, pairs func(a, b VecVirtual) wide, fraction, bits int) wide {
	zero := YMM()
	VPXOR(zero, zero, zero)
	w := pairs(zero, x)
	for i := range w {
		VPSRAD(Imm(uint64(16-fraction)), w[i], w[i])
		VPADDD(dwords(1<<(bits-1)), w[i], w[i])
	}
	return w
}

// finish is the sum and the difference of the even part and the odd part i, which is on the shelf.
func (t idct) finish(even wide, i, bits int) (sum, difference VecVirtual) {
	a, b := wide{YMM(), YMM()}, wide{YMM(), YMM()}
	for j := range even {
		VPADDD(t.shelf.at(2*i+j), even[j], a[j])
		VPSUBD(t.shelf.at(2*i+j), even[j], b[j])
	}
	return descale(a, bits), descale(b, bits)
}
