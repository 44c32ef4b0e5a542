// Command neon writes the assembly of package resample for arm64. In the directory above this one:
//
//	go run ./neon -out ../weigh_arm64.s -stubs ../weigh_stubs_arm64.go -pkg resample
package main

import (
	neon "github.com/tfrec/tfrec/internal/codec/_neon"
)

// precision is the number of fraction bits in the sum of a pixel.
const precision = 22

func main() {
	file := neon.NewFile("./neon")
	weighRows(file)
	weighGray(file)
	weighGrayNear(file)
	weighRGB(file)
	file.Write()
}

// rounding puts half of 1<<precision into each 32 bits of a register.
func rounding(f *neon.Func, register int) {
	f.Op("MOVD $%d, R19", 1<<(precision-1))
	f.V("dup v%d.4s, w19", register)
}

// weighRows weighs 32 samples at a time. A weight is 65536 times its upper half, which is signed,
// and its lower half, which is not. Of the sums by upper halves 16 bits are enough, since the sum
// of both has 32.
func weighRows(file *neon.File) {
	f := file.Func("weighRowsNEON", "weighRowsNEON makes n samples, at least 32, from count rows.", "dst, src *uint8, stride int, weights *int32, count, n int")
	f.Load("dst", "src", "stride", "weights", "count", "n")
	f.Op("SUB $32, R5, R5")
	f.Op("MOVD $0, R6")
	rounding(f, 31)

	f.Label("samples")
	f.Op("ADD R6, R1, R8")
	f.Op("MOVD R3, R9")
	f.Op("MOVD R4, R10")
	for i := range 8 {
		f.V("mov v%d.16b, v31.16b", 16+i)
	}
	for i := range 4 {
		f.V("eor v%d.16b, v%d.16b, v%d.16b", 24+i, 24+i, 24+i)
	}
	f.Label("row")
	f.V("ld1 {v0.16b, v1.16b}, [x8]")
	f.Op("ADD R2, R8, R8")
	f.V("ld1r {v7.4s}, [x9], #4")
	for i := range 2 {
		f.V("ushll v%d.8h, v%d.8b, #0", 2+2*i, i)
		f.V("ushll2 v%d.8h, v%d.16b, #0", 3+2*i, i)
	}
	for i := range 4 {
		f.V("umlal v%d.4s, v%d.4h, v7.h[0]", 16+2*i, 2+i)
		f.V("umlal2 v%d.4s, v%d.8h, v7.h[0]", 17+2*i, 2+i)
		f.V("mla v%d.8h, v%d.8h, v7.h[1]", 24+i, 2+i)
	}
	f.Op("SUBS $1, R10, R10")
	f.Op("BNE row")
	for i := range 4 {
		// The upper 16 bits of the sums.
		f.V("uzp2 v%d.8h, v%d.8h, v%d.8h", 16+i, 16+2*i, 17+2*i)
		f.V("add v%d.8h, v%d.8h, v%d.8h", 16+i, 16+i, 24+i)
	}
	for i := range 2 {
		f.V("sqshrun v%d.8b, v%d.8h, #%d", i, 16+2*i, precision-16)
		f.V("sqshrun2 v%d.16b, v%d.8h, #%d", i, 17+2*i, precision-16)
	}
	f.Op("ADD R6, R0, R8")
	f.V("st1 {v0.16b, v1.16b}, [x8]")
	f.Next("R6", "R5", 32, "samples")
	f.Op("RET")
}

// clip makes 16 bytes, in v0, of four registers of sums from v16 on for row 0, from v20 on for row
// 1.
func clip(f *neon.Func, row int) {
	sums := 16 + 4*row
	for i := range 2 {
		f.V("sqshrun v%d.4h, v%d.4s, #16", i, sums+2*i)
		f.V("sqshrun2 v%d.8h, v%d.4s, #16", i, sums+2*i+1)
	}
	f.V("uqshrn v0.8b, v0.8h, #%d", precision-16)
	f.V("uqshrn2 v0.16b, v1.8h, #%d", precision-16)
}

// weighRGB weighs two rows at a time, and four source pixels of each for one of the result: a
// shuffle makes 32 bits of each channel of a source pixel.
func weighRGB(file *neon.File) {
	var channels, together []byte
	for pixel := range 4 {
		for channel := range 3 {
			channels = append(channels, byte(3*pixel+channel), 0xff, 0xff, 0xff)
			together = append(together, byte(4*pixel+channel))
		}
		channels = append(channels, 0xff, 0xff, 0xff, 0xff)
	}
	file.Data("channels", channels)
	file.Data("together", append(together, 0xff, 0xff, 0xff, 0xff))
	f := file.Func("weighRGBNEON", "weighRGBNEON makes n pixels, at least 4, of each of two rows of RGB from 4 times blocks source pixels each.",
		"dstA, dstB, srcA, srcB *uint8, first, weights *int32, blocks, n int")
	f.Load("dstA", "dstB", "srcA", "srcB", "first", "weights", "blocks", "n")
	f.Op("SUB $4, R7, R7")
	f.Op("MOVD $0, R8")
	rounding(f, 27)
	f.Address("channels", "R9")
	f.V("ld1 {v28.16b, v29.16b, v30.16b, v31.16b}, [x9]")
	f.Address("together", "R9")
	f.V("ldr q26, [x9]")

	f.Label("pixels")
	f.Op("MUL R6, R8, R9") // the weights of a block take 16 bytes
	f.Op("ADD R9<<4, R5, R9")
	f.Op("ADD R8<<2, R4, R10")
	for p := range 4 {
		f.Op("MOVW %d(R10), R11", 4*p)
		f.Op("ADD R11<<1, R11, R11")
		f.Op("ADD R11, R2, R12")
		f.Op("ADD R11, R3, R13")
		f.Op("MOVD R6, R14")
		f.V("mov v%d.16b, v27.16b", 16+p)
		f.V("mov v%d.16b, v27.16b", 20+p)
		f.Label("block" + string(rune('0'+p)))
		f.V("ldr q0, [x12]")
		f.V("ldr q1, [x13]")
		f.V("ld1 {v2.4s}, [x9], #16")
		f.Op("ADD $12, R12")
		f.Op("ADD $12, R13")
		for i := range 4 {
			f.V("tbl v%d.16b, {v0.16b}, v%d.16b", 3+2*i, 28+i)
			f.V("tbl v%d.16b, {v1.16b}, v%d.16b", 4+2*i, 28+i)
			f.V("mla v%d.4s, v%d.4s, v2.s[%d]", 16+p, 3+2*i, i)
			f.V("mla v%d.4s, v%d.4s, v2.s[%d]", 20+p, 4+2*i, i)
		}
		f.Op("SUBS $1, R14, R14")
		f.Op("BNE block%d", p)
	}
	f.Op("ADD R8<<1, R8, R11")
	for row := range 2 {
		clip(f, row)
		f.V("tbl v0.16b, {v0.16b}, v26.16b")
		f.Op("ADD R11, R%d, R12", row)
		f.V("str d0, [x12]")
		f.Op("ADD $8, R12")
		f.V("st1 {v0.s}[2], [x12]")
	}
	f.Next("R8", "R7", 4, "pixels")
	f.Op("RET")
}

// weighGray weighs two rows at a time, and eight source pixels of each for one of the result.
func weighGray(file *neon.File) {
	f := file.Func("weighGrayNEON", "weighGrayNEON makes n pixels, at least 4, of each of two gray rows from 8 times blocks source pixels each.",
		"dstA, dstB, srcA, srcB *uint8, first, weights *int32, blocks, n int")
	f.Load("dstA", "dstB", "srcA", "srcB", "first", "weights", "blocks", "n")
	f.Op("SUB $4, R7, R7")
	f.Op("MOVD $0, R8")
	rounding(f, 27)

	f.Label("pixels")
	f.Op("MUL R6, R8, R9") // the weights of a block take 32 bytes
	f.Op("ADD R9<<5, R5, R9")
	f.Op("ADD R8<<2, R4, R10")
	for p := range 4 {
		f.Op("MOVW %d(R10), R11", 4*p)
		f.Op("ADD R11, R2, R12")
		f.Op("ADD R11, R3, R13")
		f.Op("MOVD R6, R14")
		for _, sum := range []int{16 + p, 20 + p} {
			f.V("eor v%d.16b, v%d.16b, v%d.16b", sum, sum, sum)
		}
		f.Label("block" + string(rune('0'+p)))
		f.V("ld1 {v0.8b}, [x12], #8")
		f.V("ld1 {v1.8b}, [x13], #8")
		f.V("ld1 {v2.4s, v3.4s}, [x9], #32")
		for row := range 2 {
			f.V("ushll v%d.8h, v%d.8b, #0", row, row)
			f.V("ushll v%d.4s, v%d.4h, #0", 4+2*row, row)
			f.V("ushll2 v%d.4s, v%d.8h, #0", 5+2*row, row)
			f.V("mla v%d.4s, v%d.4s, v2.4s", 16+4*row+p, 4+2*row)
			f.V("mla v%d.4s, v%d.4s, v3.4s", 16+4*row+p, 5+2*row)
		}
		f.Op("SUBS $1, R14, R14")
		f.Op("BNE block%d", p)
	}
	for row := range 2 {
		sums := 16 + 4*row
		f.V("addp v0.4s, v%d.4s, v%d.4s", sums, sums+1)
		f.V("addp v1.4s, v%d.4s, v%d.4s", sums+2, sums+3)
		f.V("addp v0.4s, v0.4s, v1.4s")
		f.V("add v0.4s, v0.4s, v27.4s")
		f.V("sqshrun v0.4h, v0.4s, #16")
		f.V("uqshrn v0.8b, v0.8h, #%d", precision-16)
		f.V("str s0, [x%d, x8]", row)
	}
	f.Next("R8", "R7", 4, "pixels")
	f.Op("RET")
}

// weighGrayNear weighs eight pixels of two rows at a time. Each four of them need no more than 16
// source pixels, of which a shuffle for every weight gives each of the four its own, as 32 bits.
func weighGrayNear(file *neon.File) {
	f := file.Func("weighGrayNearNEON", "weighGrayNearNEON makes n pixels, at least 8, of each of two gray rows: of each four the source pixels begin at\n"+
		"one of starts, and tables has for each eight, for each of their weights, two shuffles and then the weights.",
		"dstA, dstB, srcA, srcB *uint8, starts *int32, tables *uint8, taps, n int")
	f.Load("dstA", "dstB", "srcA", "srcB", "starts", "tables", "taps", "n")
	f.Op("SUB $8, R7, R7")
	f.Op("MOVD $0, R8")
	rounding(f, 27)

	f.Label("pixels")
	f.Op("MOVW 0(R4), R9")
	f.Op("MOVW 4(R4), R10")
	f.Op("ADD $8, R4")
	for row := range 2 {
		f.V("ldr q%d, [x%d, x9]", 2*row, 2+row)
		f.V("ldr q%d, [x%d, x10]", 2*row+1, 2+row)
	}
	for i := range 4 {
		f.V("mov v%d.16b, v27.16b", 16+i)
	}
	f.Op("MOVD R6, R11")
	f.Label("tap")
	f.V("ld1 {v4.16b, v5.16b, v6.16b, v7.16b}, [x5], #64")
	for i := range 4 {
		f.V("tbl v%d.16b, {v%d.16b}, v%d.16b", 20+i, i, 4+i%2)
		f.V("mla v%d.4s, v%d.4s, v%d.4s", 16+i, 20+i, 6+i%2)
	}
	f.Op("SUBS $1, R11, R11")
	f.Op("BNE tap")
	for row := range 2 {
		f.V("sqshrun v20.4h, v%d.4s, #16", 16+2*row)
		f.V("sqshrun2 v20.8h, v%d.4s, #16", 17+2*row)
		f.V("uqshrn v20.8b, v20.8h, #%d", precision-16)
		f.V("str d20, [x%d, x8]", row)
	}
	f.Next("R8", "R7", 8, "pixels")
	f.Op("RET")
}
