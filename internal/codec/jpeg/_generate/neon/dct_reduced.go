package main

import (
	neon "github.com/tfrec/tfrec/internal/codec/_neon"
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

// idct4 is the 8-point transform of which every second sample is left out, so that four remain.
func idct4(file *neon.File) {
	f := beginIDCT(file, "4")
	at := loadFactors(file, f, "inverse4", -fix0_211, fix1_451, -fix2_172, fix1_061, -fix0_509, -fix0_601, fix0_899, fix2_562, fix1_847, -fix0_765)
	var order []byte
	for i := range 16 {
		order = append(order, byte(i%4*4+i/4))
	}
	file.Data("columnsToRows", order)
	f.Address("columnsToRows", "R5")
	f.V("ldr q2, [x5]")
	constant(f, 3, "16b", 128)
	constant(f, 4, "4s", 1<<(constBits-passBits))
	constant(f, 5, "4s", 1<<(constBits+passBits+3))

	f.Label("blocks")
	loadBlock(f)
	var rows [8]operand
	for _, h := range halves {
		for i := range rows {
			rows[i] = operand{16 + i, h}
		}
		at.points4(f, rows, 4)
		for i, y := range []int{9, 11, 12, 10} {
			f.V("sqshrn%s v%d.%s, v%d.4s, #%d", h.suffix, 24+i, h.words, y, constBits-passBits+1)
		}
	}
	// Rows become columns of four words each, two in a register.
	for i, zip := range []string{"zip1", "zip2"} {
		f.V("%s v6.8h, v24.8h, v26.8h", zip)
		f.V("%s v7.8h, v25.8h, v27.8h", zip)
		f.V("zip1 v%d.8h, v6.8h, v7.8h", 16+2*i)
		f.V("zip2 v%d.8h, v6.8h, v7.8h", 17+2*i)
	}
	for i := range rows {
		rows[i] = operand{16 + i/2, halves[i%2]}
	}
	at.points4(f, rows, 5)
	// The upper 16 bits are left to be shifted; v9 and v11, v12 and v10 are columns.
	f.V("shrn v6.4h, v9.4s, #16")
	f.V("shrn2 v6.8h, v11.4s, #16")
	f.V("shrn v7.4h, v12.4s, #16")
	f.V("shrn2 v7.8h, v10.4s, #16")
	f.V("sqshrn v6.8b, v6.8h, #%d", constBits+passBits+4-16)
	f.V("sqshrn2 v6.16b, v7.8h, #%d", constBits+passBits+4-16)
	f.V("tbl v6.16b, {v6.16b}, v2.16b")
	f.V("eor v6.16b, v6.16b, v3.16b")
	f.Op("MOVD R0, R5")
	for i := range 4 {
		f.V("st1 {v6.s}[%d], [x5]", i)
		f.Op("ADD R1, R5")
	}
	endIDCT(f, 4)
}

// operand is one half of a register of words.
type operand struct {
	register int
	half     half
}

// points4 makes samples 0 to 3 of a transform in v9, v11, v12 and v10, from rows of which row 4 has
// no part. What rounds is in a register. It uses v6 to v15.
func (at factors) points4(f *neon.Func, x [8]operand, rounding int) {
	products := func(register int, terms ...term) {
		for i, t := range terms {
			onto := register
			if i == 0 {
				onto = -1
			}
			at.sum(f, x[t.register].half, register, onto, term{x[t.register].register, t.factor})
		}
	}
	products(13, term{7, -fix0_211}, term{5, fix1_451}, term{3, -fix2_172}, term{1, fix1_061})
	products(14, term{7, -fix0_509}, term{5, -fix0_601}, term{3, fix0_899}, term{1, fix2_562})
	products(15, term{2, fix1_847}, term{6, -fix0_765})
	f.V("sshll%s v8.4s, v%d.%s, #%d", x[0].half.suffix, x[0].register, x[0].half.words, constBits+1)
	f.V("add v8.4s, v8.4s, v%d.4s", rounding)
	f.V("add v6.4s, v8.4s, v15.4s")
	f.V("sub v7.4s, v8.4s, v15.4s")
	f.V("add v9.4s, v6.4s, v14.4s")
	f.V("sub v10.4s, v6.4s, v14.4s")
	f.V("add v11.4s, v7.4s, v13.4s")
	f.V("sub v12.4s, v7.4s, v13.4s")
}

// idct2 leaves two samples of eight.
func idct2(file *neon.File) {
	f := beginIDCT(file, "2")
	at := loadFactors(file, f, "inverse2", -fix0_720, fix0_850, -fix1_272, fix3_624)
	file.Data16("oddColumns", fix3_624, -fix1_272, fix0_850, -fix0_720, fix3_624, -fix1_272, fix0_850, -fix0_720)
	f.Address("oddColumns", "R5")
	f.V("ldr q2, [x5]")
	constant(f, 3, "8b", 128)
	constant(f, 4, "4s", 1<<(constBits-passBits+1))
	constant(f, 5, "4s", 1<<(constBits+passBits+4))

	f.Label("blocks")
	loadBlock(f)
	// The first column, in the lower half, isn't saturated.
	for i, h := range [2]half{halves[1], halves[0]} {
		at.sum(f, h, 6, -1, term{23, -fix0_720}, term{21, fix0_850}, term{19, -fix1_272}, term{17, fix3_624})
		f.V("sshll%s v7.4s, v16.%s, #%d", h.suffix, h.words, constBits+2)
		f.V("add v7.4s, v7.4s, v4.4s")
		f.V("add v8.4s, v7.4s, v6.4s")
		f.V("sub v9.4s, v7.4s, v6.4s")
		f.V("sshr v8.4s, v8.4s, #%d", constBits-passBits+2)
		f.V("sshr v9.4s, v9.4s, #%d", constBits-passBits+2)
		if i == 0 {
			f.V("mov v12.16b, v8.16b")
			f.V("mov v13.16b, v9.16b")
		}
	}
	for row := range 2 {
		f.V("sqxtn v%d.4h, v%d.4s", 10+row, 8+row)
		f.V("sqxtn2 v%d.8h, v%d.4s", 10+row, 12+row)
	}
	// The odd columns of both rows, weighed and added up.
	f.V("uzp2 v10.8h, v10.8h, v11.8h")
	f.V("smull v6.4s, v10.4h, v2.4h")
	f.V("smull2 v7.4s, v10.8h, v2.8h")
	f.V("addp v6.4s, v6.4s, v7.4s")
	f.V("addp v6.4s, v6.4s, v6.4s")
	f.V("zip1 v7.4s, v8.4s, v9.4s")
	f.V("shl v7.4s, v7.4s, #%d", constBits+2)
	f.V("add v7.4s, v7.4s, v5.4s")
	f.V("add v8.4s, v7.4s, v6.4s")
	f.V("sub v9.4s, v7.4s, v6.4s")
	f.V("zip1 v8.4s, v8.4s, v9.4s")
	f.V("sshr v8.4s, v8.4s, #%d", constBits+passBits+5)
	f.V("sqxtn v8.4h, v8.4s")
	f.V("sqxtn v8.8b, v8.8h")
	f.V("eor v8.8b, v8.8b, v3.8b")
	f.V("st1 {v8.h}[0], [x0]")
	f.Op("ADD R1, R0, R5")
	f.V("st1 {v8.h}[1], [x5]")
	endIDCT(f, 2)
}
