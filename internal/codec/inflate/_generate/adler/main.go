// Command adler writes the assembly of package inflate that sums bytes. In the directory above this
// one:
//
//	go run ./adler -out ../adler_amd64.s -stubs ../adler_stubs_amd64.go -pkg inflate
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	weights := GLOBL("weights", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(uint8(32-i)))
	}
	ones := GLOBL("ones", RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U16(1))
	}

	TEXT("adlerAVX2", NOSPLIT, "func(data *uint8, blocks int) (a, b uint64)")
	Pragma("noescape")
	Doc("adlerAVX2 returns the sum of blocks of 32 bytes, at least one and less than 2^17, and the sum of",
		"the sums after each byte.")
	data, left := Load(Param("data"), GP64()), Load(Param("blocks"), GP64())
	zero, weight, one := YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VMOVDQU(weights, weight)
	VMOVDQU(ones, one)
	sum, before, within := YMM(), YMM(), YMM() // before: the sums in front of each block
	for _, v := range []VecVirtual{sum, before, within} {
		VPXOR(v, v, v)
	}
	Label("block")
	v, w := YMM(), YMM()
	VMOVDQU(Mem{Base: data}, v)
	VPADDQ(sum, before, before)
	VPSADBW(zero, v, w)
	VPADDQ(w, sum, sum)
	VPMADDUBSW(weight, v, v)
	VPMADDWD(one, v, v)
	VPADDD(v, within, within)
	ADDQ(Imm(32), data)
	DECQ(left)
	JNZ(LabelRef("block"))

	VPSLLQ(Imm(5), before, before)
	low := YMM()
	VPUNPCKLDQ(zero, within, low)
	VPUNPCKHDQ(zero, within, within)
	VPADDQ(low, before, before)
	VPADDQ(within, before, before)
	for i, v := range []VecVirtual{sum, before} {
		upper := XMM()
		VEXTRACTI128(Imm(1), v, upper)
		VPADDQ(upper, v.AsX(), v.AsX())
		VPSRLDQ(Imm(8), v.AsX(), upper)
		VPADDQ(upper, v.AsX(), v.AsX())
		r := GP64()
		VMOVQ(v.AsX(), r)
		Store(r, ReturnIndex(i))
	}
	VZEROUPPER()
	RET()
	Generate()
}
