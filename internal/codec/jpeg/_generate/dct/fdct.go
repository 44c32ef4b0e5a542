package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// fdct transforms blocks, quantises them and puts them into zigzag order.
func fdct() {
	TEXT("fdctAsm", NOSPLIT, "func(coefs *[64]int16, nonzero *uint64, between, step int, src *uint8, stride int, divisors *uint16, n int)")
	Doc("fdctAsm makes the quantised coefficients, in zigzag order, of n neighbouring blocks, at least 1.",
		"The second of two blocks is stored between blocks after the first, the next two step blocks further.",
		"nonzero gets a bit for each coefficient that is not 0. It reads 16 bytes of each row for the last block, too.")
	coefs := Load(Param("coefs"), GP64())
	nonzero := Load(Param("nonzero"), GP64())
	between := Load(Param("between"), GP64())
	src := Load(Param("src"), GP64())
	stride := Load(Param("stride"), GP64())
	divisors := Load(Param("divisors"), GP64())
	left := Load(Param("n"), GP64())
	CMPQ(left, Imm(2))
	JGE(LabelRef("blocks"))
	Label("last")
	// The block after the last one is first written where the last one goes.
	XORQ(between, between)
	Label("blocks")

	var x words
	row := GP64()
	MOVQ(src, row)
	for i := 0; i < 8; i += 2 {
		x[i], x[i+1] = YMM(), YMM()
		VPMOVZXBW(Mem{Base: row}, x[i])
		VPMOVZXBW(Mem{Base: row, Index: stride, Scale: 1}, x[i+1])
		if i < 6 {
			LEAQ(Mem{Base: row, Index: stride, Scale: 2}, row)
		}
	}
	x = transpose(x)
	x = forward(x, constBits-passBits, func(x VecVirtual) { VPSLLW(Imm(passBits), x, x) })
	// The samples have not been centred around zero: that shows in the sums alone.
	VPSUBW(table("center", 2, 8*128<<passBits), x[0], x[0])
	x = transpose(x)
	x = forward(x, constBits+passBits, func(x VecVirtual) {
		VPADDW(table("rounding", 2, 1<<(passBits-1)), x, x)
		VPSRAW(Imm(passBits), x, x)
	})

	// Division by multiplication with the reciprocal in two steps.
	for i, v := range x {
		q := YMM()
		VPABSW(v, q)
		VPADDW(Mem{Base: divisors, Disp: 32 * i}, q, q)
		VPMULHUW(Mem{Base: divisors, Disp: 32 * (8 + i)}, q, q)
		VPMULHUW(Mem{Base: divisors, Disp: 32 * (16 + i)}, q, q)
		VPSIGNW(v, q, q)
		x[i] = q
	}

	second := GP64()
	MOVQ(between, second)
	SHLQ(Imm(7), second)
	order := zigzag()
	var bytes [4]VecVirtual
	for i := 0; i < 8; i += 2 {
		var eight [2]VecVirtual
		for j := range eight {
			eight[j] = gather(x, i+j, order[8*(i+j):][:8])
			VEXTRACTI128(Imm(1), eight[j], Mem{Base: coefs, Index: second, Scale: 1, Disp: 16 * (i + j)})
		}
		for j := range eight {
			VMOVDQU(eight[j].AsX(), Mem{Base: coefs, Disp: 16 * (i + j)})
		}
		bytes[i/2] = YMM()
		VPACKSSWB(eight[1], eight[0], bytes[i/2])
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	halves := [2]uint64{0x31, 0x20} // the second block's first
	for i, half := range halves {
		var bits [2]Register
		for j := range bits {
			all := YMM()
			VPERM2I128(Imm(half), bytes[2*j+1], bytes[2*j], all)
			VPCMPEQB(zero, all, all)
			bits[j] = GP64()
			VPMOVMSKB(all, bits[j].(GPVirtual).As32())
		}
		SHLQ(Imm(32), bits[1])
		ORQ(bits[1], bits[0])
		NOTQ(bits[0])
		if i == 0 {
			MOVQ(bits[0], Mem{Base: nonzero, Index: between, Scale: 8})
		} else {
			MOVQ(bits[0], Mem{Base: nonzero})
		}
	}

	step := GP64()
	Load(Param("step"), step)
	LEAQ(Mem{Base: nonzero, Index: step, Scale: 8}, nonzero)
	SHLQ(Imm(7), step)
	ADDQ(step, coefs)
	ADDQ(Imm(16), src)
	SUBQ(Imm(2), left)
	CMPQ(left, Imm(1))
	JG(LabelRef("blocks"))
	JE(LabelRef("last"))
	VZEROUPPER()
	RET()
}

// forward transforms eight columns at a time, the rows in x. scale gives the sums, which need no
// multiplication, the fraction of the others, from which bits are dropped.
func forward(x words, bits int, scale func(VecVirtual)) words {
	var sum, difference [4]VecVirtual
	for i := range sum {
		sum[i], difference[i] = YMM(), YMM()
		VPADDW(x[7-i], x[i], sum[i])
		VPSUBW(x[7-i], x[i], difference[i])
	}
	t10, t11, t12, t13 := YMM(), YMM(), YMM(), YMM()
	VPADDW(sum[3], sum[0], t10)
	VPSUBW(sum[3], sum[0], t13)
	VPADDW(sum[2], sum[1], t11)
	VPSUBW(sum[2], sum[1], t12)
	var y words
	y[0], y[4] = YMM(), YMM()
	VPADDW(t11, t10, y[0])
	VPSUBW(t11, t10, y[4])
	scale(y[0])
	scale(y[4])
	half := dwords(1 << (bits - 1))
	round := func(w wide) wide {
		for _, v := range w {
			VPADDD(half, v, v)
		}
		return w
	}
	pairs := interleave(t13, t12)
	y[2] = descale(round(weigh(pairs, fix0_541+fix0_765, fix0_541)), bits)
	y[6] = descale(round(weigh(pairs, fix0_541, fix0_541-fix1_847)), bits)

	t7, t6, t5, t4 := difference[0], difference[1], difference[2], difference[3]
	z3, z4 := YMM(), YMM()
	VPADDW(t6, t4, z3)
	VPADDW(t7, t5, z4)
	z := interleave(z3, z4)
	a := round(weigh(z, fix1_175-fix1_961, fix1_175))
	b := round(weigh(z, fix1_175, fix1_175-fix0_390))
	outer := interleave(t4, t7)
	y[7] = descale(add(weigh(outer, fix0_298-fix0_899, -fix0_899), a), bits)
	y[1] = descale(add(weigh(outer, -fix0_899, fix1_501-fix0_899), b), bits)
	inner := interleave(t5, t6)
	y[5] = descale(add(weigh(inner, fix2_053-fix2_562, -fix2_562), b), bits)
	y[3] = descale(add(weigh(inner, -fix2_562, fix3_072-fix2_562), a), bits)
	return y
}

// gather makes a register of eight words of each lane, of those at the given
// places in rows.
func gather(rows words, n int, places []int) VecVirtual {
	var out VecVirtual
	for i, row := range rows {
		shuffle := make([]int, 16)
		used := false
		for j, p := range places {
			shuffle[2*j], shuffle[2*j+1] = 0x80, 0x80
			if p/8 == i {
				shuffle[2*j], shuffle[2*j+1] = 2*(p%8), 2*(p%8)+1
				used = true
			}
		}
		if !used {
			continue
		}
		some := YMM()
		VPSHUFB(table(fmt.Sprintf("zigzag%dof%d", n, i), 1, shuffle...), row, some)
		if out == nil {
			out = some
		} else {
			VPOR(some, out, out)
		}
	}
	return out
}

// zigzag is the place of each coefficient in order of frequency.
func zigzag() []int {
	var order []int
	for sum := range 15 {
		for i := range sum + 1 {
			row, column := i, sum-i
			if sum%2 == 0 {
				row, column = column, row
			}
			if row < 8 && column < 8 {
				order = append(order, 8*row+column)
			}
		}
	}
	return order
}
