// Command pixels writes the assembly of package jpeg that makes planes of RGB. In the directory
// above:
//
//	go run ./pixels -out ../pixels_amd64.s -stubs ../pixels_stubs_amd64.go -pkg jpeg
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	fromRGB()
	halve("halveAcrossAsm", 2, 1)
	halve("halveDownAsm", 1, 2)
	halve("halveBothAsm", 2, 2)
	Generate()
}

// table repeats values of the given size in 32 bytes of read-only memory.
func table(name string, size int, values ...int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 32 / size {
		v := values[i%len(values)]
		switch size {
		case 1:
			DATA(i, U8(v))
		case 2:
			DATA(2*i, U16(v))
		case 4:
			DATA(4*i, U32(v))
		}
	}
	return m
}

// fromRGB converts 32 pixels at a time, four and four of them, in 16 bits of
// fraction: red and green weighed, and green and blue. Weights of 32768 are too
// large by one, so that chroma is computed with its sign changed, and luma with
// the weight of green in two parts.
func fromRGB() {
	TEXT("fromRGBAsm", NOSPLIT, "func(luma, cb, cr, rgb *uint8, n int)")
	Doc("fromRGBAsm converts n pixels, a multiple of 32, to luma and chroma. It reads 4 bytes beyond them.")
	rgb := Load(Param("rgb"), GP64())
	left := Load(Param("n"), GP64())
	components := []struct {
		out      Register
		rg, gb   Mem
		round    Mem
		negative bool
	}{
		{Load(Param("luma"), GP64()), table("lumaRG", 2, 19595, 38470-16384), table("lumaGB", 2, 16384, 7471), table("lumaRound", 4, 1<<15), false},
		{Load(Param("cb"), GP64()), table("cbRG", 2, 11059, 21709), table("cbGB", 2, 0, 0x8000), table("chromaRound", 4, 128<<16+1<<15-1), true},
		{Load(Param("cr"), GP64()), table("crRG", 2, 0x8000, 27439), table("crGB", 2, 0, 5329), Mem{}, true},
	}
	components[2].round = components[1].round
	const no = 0x80
	pairRG, pairGB := YMM(), YMM()
	VMOVDQU(table("pairRG", 1, 0, no, 1, no, 3, no, 4, no, 6, no, 7, no, 9, no, 10, no), pairRG)
	VMOVDQU(table("pairGB", 1, 1, no, 2, no, 4, no, 5, no, 7, no, 8, no, 10, no, 11, no), pairGB)

	Label("pixels")
	var four [3][4]VecVirtual
	for i := range 4 {
		pixels, rg, gb := YMM(), YMM(), YMM()
		VBROADCASTI128(Mem{Base: rgb, Disp: 12 * (4 + i)}, pixels)
		VINSERTI128(Imm(0), Mem{Base: rgb, Disp: 12 * i}, pixels, pixels)
		VPSHUFB(pairRG, pixels, rg)
		VPSHUFB(pairGB, pixels, gb)
		for j, c := range components {
			sum, rest := YMM(), YMM()
			VPMADDWD(c.rg, rg, sum)
			VPMADDWD(c.gb, gb, rest)
			VPADDD(rest, sum, sum)
			if c.negative {
				round := YMM()
				VMOVDQU(c.round, round)
				VPSUBD(sum, round, sum)
			} else {
				VPADDD(c.round, sum, sum)
			}
			VPSRLD(Imm(16), sum, sum)
			four[j][i] = sum
			if i%2 == 1 {
				VPACKUSDW(four[j][i], four[j][i-1], four[j][i-1])
			}
			if i == 3 {
				VPACKUSWB(four[j][2], four[j][0], four[j][0])
				VMOVDQU(four[j][0], Mem{Base: c.out})
				ADDQ(Imm(32), c.out)
			}
		}
	}
	ADDQ(Imm(96), rgb)
	SUBQ(Imm(32), left)
	JNZ(LabelRef("pixels"))
	VZEROUPPER()
	RET()
}

// halve makes 32 samples at a time.
func halve(name string, across, down int) {
	TEXT(name, NOSPLIT, "func(dst, src, below *uint8, n int)")
	Doc(fmt.Sprintf("%s makes n samples, a multiple of 32, of each %d by %d.", name, across, down))
	dst := Load(Param("dst"), GP64())
	rows := []Register{Load(Param("src"), GP64())}
	if down == 2 {
		rows = append(rows, Load(Param("below"), GP64()))
	}
	left := Load(Param("n"), GP64())
	var ones, bias VecVirtual
	if across == 2 {
		ones, bias = YMM(), YMM()
		VMOVDQU(table(name+"Ones", 1, 1), ones)
		VMOVDQU(table(name+"Bias", 2, down-1, down), bias)
	}

	Label("samples")
	out := YMM()
	if across == 1 {
		VMOVDQU(Mem{Base: rows[0]}, out)
		VPAVGB(Mem{Base: rows[1]}, out, out)
	} else {
		var sums [2]VecVirtual
		for i := range sums {
			sums[i] = YMM()
			VMOVDQU(Mem{Base: rows[0], Disp: 32 * i}, sums[i])
			VPMADDUBSW(ones, sums[i], sums[i])
			if down == 2 {
				more := YMM()
				VMOVDQU(Mem{Base: rows[1], Disp: 32 * i}, more)
				VPMADDUBSW(ones, more, more)
				VPADDW(more, sums[i], sums[i])
			}
			VPADDW(bias, sums[i], sums[i])
			VPSRLW(Imm(uint64(down)), sums[i], sums[i])
		}
		VPACKUSWB(sums[1], sums[0], out)
		VPERMQ(Imm(0xd8), out, out)
	}
	VMOVDQU(out, Mem{Base: dst})
	ADDQ(Imm(32), dst)
	for _, r := range rows {
		ADDQ(Imm(uint64(32*across)), r)
	}
	SUBQ(Imm(32), left)
	JNZ(LabelRef("samples"))
	VZEROUPPER()
	RET()
}
