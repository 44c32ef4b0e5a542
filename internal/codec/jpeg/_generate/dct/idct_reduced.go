package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The constants of the reduced transforms, as jidctred.c names them.
const (
	fix0_211 = 1730
	fix0_509 = 4176
	fix0_601 = 4926
	fix0_720 = 5906
	fix0_850 = 6967
	fix1_061 = 8697
	fix1_272 = 10426
	fix1_451 = 11893
	fix2_172 = 17799
	fix3_624 = 29692
)

// idct4 is the 8-point transform of which every second sample is left out, so
// that four remain.
func idct4() {
	t := begin(4, 0)
	var x words
	for i := range x {
		if i != 4 {
			x[i] = t.row(i)
		}
	}
	y := t.pass4(x, interleave, constBits-passBits+1)

	// Rows become columns: a and b hold rows 0 and 1, 2 and 3 in pairs.
	a, b := interleave(y[0], y[1]), interleave(y[2], y[3])
	var columns [4]VecVirtual // of two columns each, four words a column
	for i := range 2 {
		columns[2*i], columns[2*i+1] = YMM(), YMM()
		VPUNPCKLDQ(b[i], a[i], columns[2*i])
		VPUNPCKHDQ(b[i], a[i], columns[2*i+1])
	}
	for i := range 4 {
		x[2*i] = columns[i]
		x[2*i+1] = YMM()
		VPSRLDQ(Imm(8), columns[i], x[2*i+1])
	}
	y = t.pass4(x, interleaveLow, constBits+passBits+3+1)

	// Rows of words, four of each lane in use, become rows of bytes.
	a0, a1 := YMM(), YMM()
	VPUNPCKLWD(y[1], y[0], a0)
	VPUNPCKLWD(y[3], y[2], a1)
	low, high := YMM(), YMM()
	VPUNPCKLDQ(a1, a0, low)
	VPUNPCKHDQ(a1, a0, high)
	VPACKSSWB(high, low, low)
	VPXOR(table("middle", 1, 128), low, low)

	at := GP64()
	MOVQ(t.dst, at)
	t.alone("alone")
	// Rows 0 of both, rows 1 of both and so on.
	order := YMM()
	VMOVDQU(table("order", 4, 0, 4, 1, 5, 2, 6, 3, 7), order)
	VPERMD(low, order, low)
	upper := XMM()
	VEXTRACTI128(Imm(1), low, upper)
	for i, r := range []Register{low.AsX(), upper} {
		VMOVQ(r, Mem{Base: at})
		VPEXTRQ(Imm(1), r, Mem{Base: at, Index: t.stride, Scale: 1})
		if i == 0 {
			LEAQ(Mem{Base: at, Index: t.stride, Scale: 2}, at)
		}
	}
	Label("next")
	t.end()

	Label("alone")
	for i := range 4 {
		VPEXTRD(Imm(uint64(i)), low.AsX(), Mem{Base: at})
		if i < 3 {
			ADDQ(t.stride, at)
		}
	}
	JMP(LabelRef("next"))
}

// pass4 transforms columns, the rows in x, of which row 4 has no part.
func (t idct) pass4(x words, pairs func(a, b VecVirtual) wide, bits int) [4]VecVirtual {
	first, second := pairs(x[7], x[5]), pairs(x[3], x[1])
	a := add(weigh(first, -fix0_211, fix1_451), weigh(second, -fix2_172, fix1_061))
	b := add(weigh(first, -fix0_509, -fix0_601), weigh(second, fix0_899, fix2_562))
	c := weigh(pairs(x[2], x[6]), fix1_847, -fix0_765)
	e0, e1 := butterfly(t.lift(x[0], pairs, constBits+1, bits), c)
	var y [4]VecVirtual
	sum, difference := butterfly(e0, b)
	y[0], y[3] = descale(sum, bits), descale(difference, bits)
	sum, difference = butterfly(e1, a)
	y[1], y[2] = descale(sum, bits), descale(difference, bits)
	return y
}

// idct2 leaves two samples of eight.
func idct2() {
	t := begin(2, 0)
	odd := [4]int{7, 5, 3, 1}
	weights := [4]int{-fix0_720, fix0_850, -fix1_272, fix3_624}
	var x words
	for _, i := range append(odd[:], 0) {
		x[i] = t.row(i)
	}
	bits := constBits - passBits + 2
	sum := add(weigh(interleave(x[7], x[5]), weights[0], weights[1]), weigh(interleave(x[3], x[1]), weights[2], weights[3]))
	top, bottom := butterfly(t.lift(x[0], interleave, constBits+2, bits), sum)
	sides := [2]wide{top, bottom} // the first column of which isn't saturated
	rows := [2]VecVirtual{descale(top, bits), descale(bottom, bits)}

	// Each row is weighed as a whole: column 0, lifted, apart from the odd
	// ones. The even ones have weight 0.
	bits = constBits + passBits + 3 + 2
	across := table("across", 2, 0, fix3_624&0xffff, 0, -fix1_272&0xffff, 0, fix0_850&0xffff, 0, -fix0_720&0xffff)
	var sums [2]VecVirtual
	for i, r := range rows {
		odd, turned := YMM(), YMM()
		VPMADDWD(across, r, odd)
		VPSHUFD(Imm(0x4e), odd, turned)
		VPADDD(turned, odd, odd)
		VPSHUFD(Imm(0xb1), odd, turned)
		VPADDD(turned, odd, odd)
		// In the first 32 bits the sum, in the second the difference.
		VPSIGND(table("signs", 4, 1, -1&0xffffffff), odd, odd)
		dc := YMM()
		VPSLLD(Imm(constBits+2), sides[i][0], dc)
		VPSHUFD(Imm(0), dc, dc)
		VPADDD(dwords(1<<(bits-1)), dc, dc)
		VPADDD(dc, odd, odd)
		VPSRAD(Imm(uint64(bits)), odd, odd)
		sums[i] = odd
	}
	// Two samples of row 0, then two of row 1.
	out := YMM()
	VPUNPCKLQDQ(sums[1], sums[0], out)
	VPACKSSDW(out, out, out)
	VPACKSSWB(out, out, out)
	VPXOR(table("middle", 1, 128), out, out)
	t.alone("alone")
	upper := XMM()
	VEXTRACTI128(Imm(1), out, upper)
	VPUNPCKLWD(upper, out.AsX(), out.AsX())
	VMOVD(out.AsX(), Mem{Base: t.dst})
	VPEXTRD(Imm(1), out.AsX(), Mem{Base: t.dst, Index: t.stride, Scale: 1})
	Label("next")
	t.end()

	Label("alone")
	VPEXTRW(Imm(0), out.AsX(), Mem{Base: t.dst})
	VPEXTRW(Imm(1), out.AsX(), Mem{Base: t.dst, Index: t.stride, Scale: 1})
	JMP(LabelRef("next"))
}
