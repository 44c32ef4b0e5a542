package main

import (
	neon "github.com/tfrec/tfrec/internal/codec/_neon"
)

// A register holds a row, or a column, of a block as eight words. Results of 32 bits are in two
// registers: first the lower half of the words, then the upper.

// Bits of fraction: of the constants, and of the values between the first pass and the second.
const (
	constBits = 13
	passBits  = 2
)

// The constants of the 8-point transforms: cosines in 13 bits of fraction, as jidctint.c names
// them.
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

// factors are the multipliers of a transform, each a word of the registers from v0 on.
type factors map[int]int

// loadFactors puts the values into read-only memory and into v0, or v0 and v1.
func loadFactors(file *neon.File, f *neon.Func, name string, values ...int) factors {
	for len(values)%8 > 0 {
		values = append(values, 0)
	}
	file.Data16(name, values...)
	f.Address(name, "R19")
	at := factors{}
	for i, v := range values {
		at[v] = i
	}
	for i := range len(values) / 8 {
		f.V("ld1 {v%d.8h}, [x19], #16", i)
	}
	return at
}

// loadFactors8 is loadFactors of the 8-point transforms.
func loadFactors8(file *neon.File, f *neon.Func, name string) factors {
	return loadFactors(file, f, name, fix1_175-fix1_961, fix1_175, fix1_175-fix0_390, fix0_298-fix0_899, -fix0_899, fix1_501-fix0_899,
		fix2_053-fix2_562, -fix2_562, fix3_072-fix2_562, fix0_541, fix0_541-fix1_847, fix0_541+fix0_765)
}

// term is a register of words and the factor of its products.
type term struct{ register, factor int }

// sum adds products to 32 bits of a register, which it sets if it is given no sum to begin with.
func (at factors) sum(f *neon.Func, h half, register int, onto int, terms ...term) {
	operation := "smull"
	if onto >= 0 {
		operation = "smlal"
		if onto != register {
			f.V("mov v%d.16b, v%d.16b", register, onto)
		}
	}
	for _, t := range terms {
		i, ok := at[t.factor]
		if !ok {
			panic("no such factor")
		}
		f.V("%s%s v%d.4s, v%d.%s, v%d.h[%d]", operation, h.suffix, register, t.register, h.words, i/8, i%8)
		operation = "smlal"
	}
}

// transpose makes columns, from v16 on, of rows from v24 on. It uses v2 to v9.
func transpose(f *neon.Func) {
	for i := range 4 {
		f.V("trn1 v%d.8h, v%d.8h, v%d.8h", 2+2*i, 24+2*i, 25+2*i)
		f.V("trn2 v%d.8h, v%d.8h, v%d.8h", 3+2*i, 24+2*i, 25+2*i)
	}
	for _, i := range []int{0, 1, 4, 5} {
		f.V("trn1 v%d.4s, v%d.4s, v%d.4s", 24+i, 2+i, 4+i)
		f.V("trn2 v%d.4s, v%d.4s, v%d.4s", 26+i, 2+i, 4+i)
	}
	for i := range 4 {
		f.V("trn1 v%d.2d, v%d.2d, v%d.2d", 16+i, 24+i, 28+i)
		f.V("trn2 v%d.2d, v%d.2d, v%d.2d", 20+i, 24+i, 28+i)
	}
}

// loadBlock loads the coefficients of a block, dequantised, to registers from v16 on. It uses those
// from v24 on.
func loadBlock(f *neon.Func) {
	f.Op("MOVD R3, R19")
	for i := range 2 {
		at := 4 * i
		f.V("ld1 {v%d.8h, v%d.8h, v%d.8h, v%d.8h}, [x2], #64", 16+at, 17+at, 18+at, 19+at)
		f.V("ld1 {v%d.8h, v%d.8h, v%d.8h, v%d.8h}, [x19], #64", 24+at, 25+at, 26+at, 27+at)
	}
	for i := range 8 {
		f.V("mul v%d.8h, v%d.8h, v%d.8h", 16+i, 16+i, 24+i)
	}
}

// beginIDCT begins an inverse transform: R0 to R4 are its parameters.
func beginIDCT(file *neon.File, size string) *neon.Func {
	name := "idct" + size + "Asm"
	f := file.Func(name, name+" makes n neighbouring blocks, at least 1, of "+size+"x"+size+" samples each.", "dst *uint8, stride int, coefs *[64]int16, quant *[64]uint16, n int")
	f.Load("dst", "stride", "coefs", "quant", "n")
	return f
}

// endIDCT continues with the next block.
func endIDCT(f *neon.Func, size int) {
	f.Op("ADD $%d, R0", size)
	f.Op("SUBS $1, R4, R4")
	f.Op("BNE blocks")
	f.Op("RET")
}

// idct8 is the accurate integer transform of Loeffler, Ligtenberg and Moschytz.
func idct8(file *neon.File) {
	f := beginIDCT(file, "8")
	at := loadFactors8(file, f, "inverse8")

	f.Label("blocks")
	// Does the block have a coefficient after the first? R5 has its non-zero coefficients.
	f.V("ld1 {v16.8h, v17.8h, v18.8h, v19.8h}, [x2], #64")
	f.V("ld1 {v20.8h, v21.8h, v22.8h, v23.8h}, [x2], #64")
	f.V("orr v2.16b, v17.16b, v18.16b")
	f.V("orr v3.16b, v19.16b, v20.16b")
	f.V("orr v4.16b, v21.16b, v22.16b")
	f.V("orr v2.16b, v2.16b, v23.16b")
	f.V("orr v3.16b, v3.16b, v4.16b")
	f.V("orr v2.16b, v2.16b, v3.16b")
	f.Op("VMOV V2.D[0], R5")
	f.Op("VMOV V2.D[1], R6")
	f.Op("VMOV V16.D[0], R7")
	f.Op("VMOV V16.D[1], R8")
	f.Op("ORR R6, R5")
	f.Op("ORR R8, R5")
	f.Op("ORR R7>>16, R5")
	f.Op("CBZ R5, flat")
	f.Op("MOVD R3, R19")
	f.V("ld1 {v24.8h, v25.8h, v26.8h, v27.8h}, [x19], #64")
	f.V("ld1 {v28.8h, v29.8h, v30.8h, v31.8h}, [x19], #64")
	for i := range 8 {
		f.V("mul v%d.8h, v%d.8h, v%d.8h", 16+i, 16+i, 24+i)
	}

	at.pass8(f, func(to int, h half, a, b int, add bool) {
		operation := "add"
		if !add {
			operation = "sub"
		}
		f.V("%s v12.4s, v%d.4s, v%d.4s", operation, a, b)
		f.V("sqrshrn%s v%d.%s, v12.4s, #%d", h.suffix, to, h.words, constBits-passBits)
	})
	transpose(f)
	at.pass8(f, func(to int, h half, a, b int, add bool) {
		operation := "addhn"
		if !add {
			operation = "subhn"
		}
		f.V("%s%s v%d.%s, v%d.4s, v%d.4s", operation, h.suffix, to, h.words, a, b)
	})
	// The upper 16 bits have two fraction bits left. To turn columns into rows, interleave the
	// bytes of the first two of four registers with the bytes of the last two, three times.
	for i := range 4 {
		f.V("sqrshrn v%d.8b, v%d.8h, #%d", 2+i, 24+2*i, passBits+constBits+3-16)
		f.V("sqrshrn2 v%d.16b, v%d.8h, #%d", 2+i, 25+2*i, passBits+constBits+3-16)
	}
	for _, r := range [][2]int{{2, 16}, {16, 2}, {2, 16}} {
		for i := range 2 {
			f.V("zip1 v%d.16b, v%d.16b, v%d.16b", r[1]+2*i, r[0]+i, r[0]+2+i)
			f.V("zip2 v%d.16b, v%d.16b, v%d.16b", r[1]+2*i+1, r[0]+i, r[0]+2+i)
		}
	}
	constant(f, 6, "16b", 128)
	f.Op("MOVD R0, R5")
	for i := range 4 {
		f.V("eor v%d.16b, v%d.16b, v6.16b", 16+i, 16+i)
		f.V("st1 {v%d.d}[0], [x5]", 16+i)
		f.Op("ADD R1, R5")
		f.V("st1 {v%d.d}[1], [x5]", 16+i)
		f.Op("ADD R1, R5")
	}
	f.Label("next")
	endIDCT(f, 8)

	f.Label("flat")
	f.V("ldr q24, [x3]")
	f.V("mul v16.8h, v16.8h, v24.8h")
	f.V("dup v16.8h, v16.h[0]")
	for range passBits {
		f.V("sqadd v16.8h, v16.8h, v16.8h")
	}
	f.V("sqrshrn v16.8b, v16.8h, #%d", passBits+3)
	constant(f, 6, "16b", 128)
	f.V("eor v16.16b, v16.16b, v6.16b")
	f.Op("MOVD R0, R5")
	for range 8 {
		f.V("str d16, [x5]")
		f.Op("ADD R1, R5")
	}
	f.Op("B next")
}

// pass8 transforms eight columns, the rows from v16 on, to registers from v24 on. finish makes half
// a register of the sum or the difference of two.
func (at factors) pass8(f *neon.Func, finish func(to int, h half, a, b int, add bool)) {
	const z3, z4, sum, difference = 2, 3, 4, 5
	x := func(i int) int { return 16 + i }
	f.V("add v%d.8h, v%d.8h, v%d.8h", z3, x(7), x(3))
	f.V("add v%d.8h, v%d.8h, v%d.8h", z4, x(5), x(1))
	f.V("add v%d.8h, v%d.8h, v%d.8h", sum, x(0), x(4))
	f.V("sub v%d.8h, v%d.8h, v%d.8h", difference, x(0), x(4))
	for _, h := range halves {
		const o0, o1, o2, o3, c, d = 9, 6, 7, 8, 12, 13
		at.sum(f, h, o1, -1, term{z3, fix1_175 - fix1_961}, term{z4, fix1_175})
		at.sum(f, h, o2, -1, term{z3, fix1_175}, term{z4, fix1_175 - fix0_390})
		at.sum(f, h, o3, o1, term{x(7), fix0_298 - fix0_899}, term{x(1), -fix0_899})
		at.sum(f, h, o0, o2, term{x(1), fix1_501 - fix0_899}, term{x(7), -fix0_899})
		at.sum(f, h, o2, o2, term{x(5), fix2_053 - fix2_562}, term{x(3), -fix2_562})
		at.sum(f, h, o1, o1, term{x(3), fix3_072 - fix2_562}, term{x(5), -fix2_562})
		at.sum(f, h, c, -1, term{x(2), fix0_541}, term{x(6), fix0_541 - fix1_847})
		at.sum(f, h, d, -1, term{x(2), fix0_541 + fix0_765}, term{x(6), fix0_541})
		f.V("sshll%s v14.4s, v%d.%s, #%d", h.suffix, sum, h.words, constBits)
		f.V("sshll%s v15.4s, v%d.%s, #%d", h.suffix, difference, h.words, constBits)
		const e0, e1, e2, e3 = 10, 11, 15, 14
		f.V("add v%d.4s, v14.4s, v%d.4s", e0, d)
		f.V("add v%d.4s, v15.4s, v%d.4s", e1, c)
		f.V("sub v%d.4s, v14.4s, v%d.4s", e3, d)
		f.V("sub v%d.4s, v15.4s, v%d.4s", e2, c)
		for i, p := range [][2]int{{e0, o0}, {e1, o1}, {e2, o2}, {e3, o3}} {
			finish(24+i, h, p[0], p[1], true)
			finish(31-i, h, p[0], p[1], false)
		}
	}
}

// fdct transforms blocks, quantises them and puts them into zigzag order.
func fdct(file *neon.File) {
	f := file.Func("fdctAsm", "fdctAsm makes the quantised coefficients, in zigzag order, of n neighbouring blocks, at least 1.\n"+
		"The second of two blocks is stored between blocks after the first, the next two step blocks further.\n"+
		"nonzero gets a bit for each coefficient that is not 0.",
		"coefs *[64]int16, nonzero *uint64, between, step int, src *uint8, stride int, divisors *uint16, n int")
	f.Load("coefs", "nonzero", "between", "step", "src", "stride", "divisors", "n")
	at := loadFactors8(file, f, "forward8")
	tables, shuffles := zigzag()
	file.Data("zigzag", tables)
	file.Data("bitOfByte", []byte{1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128})
	f.Op("SUB R2, R3, R3") // from the second of two blocks to the next

	f.Label("blocks")
	f.Op("MOVD R4, R8")
	for i := range 8 {
		f.V("ldr d%d, [x8]", 24+i)
		f.Op("ADD R5, R8")
	}
	for i := range 8 {
		f.V("ushll v%d.8h, v%d.8b, #0", 24+i, 24+i)
	}
	transpose(f)
	at.forward(f, constBits-passBits)
	f.V("shl v24.8h, v24.8h, #%d", passBits)
	f.V("shl v28.8h, v28.8h, #%d", passBits)
	// The samples have not been centred around zero: that shows in the sums alone.
	constant(f, 2, "8h", 8*128<<passBits)
	f.V("sub v24.8h, v24.8h, v2.8h")
	transpose(f)
	at.forward(f, constBits+passBits)
	f.V("srshr v24.8h, v24.8h, #%d", passBits)
	f.V("srshr v28.8h, v28.8h, #%d", passBits)

	// Division by multiplication with the reciprocal in two steps.
	for i := range 8 {
		v := 24 + i
		f.V("abs v2.8h, v%d.8h", v)
		f.V("ldr q3, [x6, #%d]", 32*i)
		f.V("add v2.8h, v2.8h, v3.8h")
		for part := range 2 {
			f.V("ldr q3, [x6, #%d]", 32*(8*(part+1)+i))
			f.V("umull v4.4s, v2.4h, v3.4h")
			f.V("umull2 v5.4s, v2.8h, v3.8h")
			f.V("uzp2 v2.8h, v4.8h, v5.8h")
		}
		f.V("cmlt v3.8h, v%d.8h, #0", v)
		f.V("eor v2.16b, v2.16b, v3.16b")
		f.V("sub v%d.8h, v2.8h, v3.8h", v)
	}

	f.Address("zigzag", "R8")
	f.Address("bitOfByte", "R9")
	f.V("ldr q15, [x9]")
	f.Op("MOVD R0, R9")
	for i, s := range shuffles {
		operation := "tbl"
		for part, at := range s {
			if at < 0 {
				continue
			}
			f.V("ldr q3, [x8, #%d]", at)
			from := 24 + 4*part
			f.V("%s v2.16b, {v%d.16b, v%d.16b, v%d.16b, v%d.16b}, v3.16b", operation, from, from+1, from+2, from+3)
			operation = "tbx"
		}
		f.V("st1 {v2.8h}, [x9], #16")
		f.V("cmtst v%d.8h, v2.8h, v2.8h", 16+i)
	}
	for i := range 4 {
		f.V("uzp1 v%d.16b, v%d.16b, v%d.16b", 4+i, 16+2*i, 17+2*i)
		f.V("and v%d.16b, v%d.16b, v15.16b", 4+i, 4+i)
	}
	f.V("addp v4.16b, v4.16b, v5.16b")
	f.V("addp v6.16b, v6.16b, v7.16b")
	f.V("addp v4.16b, v4.16b, v6.16b")
	f.V("addp v4.16b, v4.16b, v4.16b")
	f.V("str d4, [x1]")

	f.Op("ADD R2<<7, R0, R0")
	f.Op("ADD R2<<3, R1, R1")
	f.Op("MOVD R2, R8")
	f.Op("MOVD R3, R2")
	f.Op("MOVD R8, R3")
	f.Op("ADD $8, R4")
	f.Op("SUBS $1, R7, R7")
	f.Op("BNE blocks")
	f.Op("RET")
}

// forward transforms eight columns, the rows from v16 on, to registers from v24 on, with bits
// dropped from all but the sums, rows 0 and 4, which have no fraction.
func (at factors) forward(f *neon.Func, bits int) {
	const t7, t6, t5, t4, t10, t13, t11, t12, z3, z4 = 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	for i := range 4 {
		f.V("add v%d.8h, v%d.8h, v%d.8h", 2+i, 16+i, 23-i)
		f.V("sub v%d.8h, v%d.8h, v%d.8h", 6+i, 16+i, 23-i)
	}
	f.V("add v%d.8h, v2.8h, v5.8h", t10)
	f.V("sub v%d.8h, v2.8h, v5.8h", t13)
	f.V("add v%d.8h, v3.8h, v4.8h", t11)
	f.V("sub v%d.8h, v3.8h, v4.8h", t12)
	f.V("add v24.8h, v%d.8h, v%d.8h", t10, t11)
	f.V("sub v28.8h, v%d.8h, v%d.8h", t10, t11)
	f.V("add v%d.8h, v%d.8h, v%d.8h", z3, t4, t6)
	f.V("add v%d.8h, v%d.8h, v%d.8h", z4, t5, t7)
	for _, h := range halves {
		const y1, y2, y3, y5, y6, y7 = 19, 20, 16, 17, 21, 18
		at.sum(f, h, y3, -1, term{z3, fix1_175 - fix1_961}, term{z4, fix1_175})
		at.sum(f, h, y5, -1, term{z3, fix1_175}, term{z4, fix1_175 - fix0_390})
		at.sum(f, h, y7, y3, term{t4, fix0_298 - fix0_899}, term{t7, -fix0_899})
		at.sum(f, h, y1, y5, term{t7, fix1_501 - fix0_899}, term{t4, -fix0_899})
		at.sum(f, h, y5, y5, term{t5, fix2_053 - fix2_562}, term{t6, -fix2_562})
		at.sum(f, h, y3, y3, term{t6, fix3_072 - fix2_562}, term{t5, -fix2_562})
		at.sum(f, h, y2, -1, term{t13, fix0_541 + fix0_765}, term{t12, fix0_541})
		at.sum(f, h, y6, -1, term{t13, fix0_541}, term{t12, fix0_541 - fix1_847})
		for _, y := range [][2]int{{1, y1}, {2, y2}, {3, y3}, {5, y5}, {6, y6}, {7, y7}} {
			f.V("rshrn%s v%d.%s, v%d.4s, #%d", h.suffix, 24+y[0], h.words, y[1], bits)
		}
	}
}

// zigzag is the shuffles that put a block into zigzag order: where in tables those are that take
// eight coefficients from the upper four rows and from the lower ones, or -1.
func zigzag() (tables []byte, shuffles [8][2]int) {
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
	for i := range shuffles {
		for part := range 2 {
			shuffles[i][part] = -1
			var table []byte
			for _, place := range order[8*i : 8*i+8] {
				if place/32 == part {
					shuffles[i][part] = len(tables)
					table = append(table, byte(2*(place%32)), byte(2*(place%32)+1))
				} else {
					table = append(table, 0xff, 0xff)
				}
			}
			if shuffles[i][part] >= 0 {
				tables = append(tables, table...)
			}
		}
	}
	return tables, shuffles
}
