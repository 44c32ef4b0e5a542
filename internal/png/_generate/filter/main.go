// Command filter writes the assembly of package png that undoes filters. In the directory above this
// one:
//
//	go run ./filter -out ../filter_amd64.s -stubs ../filter_stubs_amd64.go -pkg png
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!noasm")
	ones := GLOBL("ones", RODATA|NOPTR)
	for i := range 16 {
		DATA(i, U8(1))
	}
	upRow()
	for _, n := range []int{3, 4, 6, 8} {
		subRow(n)
	}
	for _, n := range []int{1, 2, 3, 4, 6, 8} {
		averageRow(n, ones)
	}
	for _, n := range []int{1, 2, 3, 4, 6, 8} {
		paethRow(n)
	}
	Generate()
}

// load loads a pixel of n bytes; with 3 and 6 some of the next one.
func load(n int, from Mem, to VecVirtual) {
	switch n {
	case 1, 2:
		r := GP32()
		if n == 1 {
			MOVBLZX(from, r)
		} else {
			MOVWLZX(from, r)
		}
		VMOVD(r, to)
	case 3, 4:
		VMOVD(from, to)
	default:
		VMOVQ(from, to)
	}
}

// store stores a pixel of n bytes; with 3 and 6 something after it.
func store(n int, from VecVirtual, to Mem) {
	switch n {
	case 1, 2:
		r := GP32()
		VMOVD(from, r)
		if n == 1 {
			MOVB(r.As8(), to)
		} else {
			MOVW(r.As16(), to)
		}
	case 3, 4:
		VMOVD(from, to)
	default:
		VMOVQ(from, to)
	}
}

// loop adds the next pixels' pointers and repeats.
func loop(n int, left Register, pointers ...Register) {
	for _, p := range pointers {
		ADDQ(Imm(uint64(n)), p)
	}
	DECQ(left)
	JNZ(LabelRef("pixel"))
	RET()
}

func upRow() {
	TEXT("unfilterUp", NOSPLIT, "func(dst, src, above *uint8, n int)")
	Pragma("noescape")
	Doc("unfilterUp adds n bytes, a multiple of 32, to those above.")
	dst, src, above := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("above"), GP64())
	n, x := Load(Param("n"), GP64()), GP64()
	XORQ(x, x)
	Label("bytes")
	v := YMM()
	VMOVDQU(Mem{Base: src, Index: x, Scale: 1}, v)
	VPADDB(Mem{Base: above, Index: x, Scale: 1}, v, v)
	VMOVDQU(v, Mem{Base: dst, Index: x, Scale: 1})
	ADDQ(Imm(32), x)
	CMPQ(x, n)
	JNE(LabelRef("bytes"))
	VZEROUPPER()
	RET()
}

func subRow(n int) {
	TEXT(fmt.Sprintf("unfilterSub%d", n), NOSPLIT, "func(dst, src *uint8, pixels int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("unfilterSub%d undoes the filter sub of pixels of %d bytes.", n, n))
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	left := Load(Param("pixels"), GP64())
	v, x := XMM(), XMM()
	VPXOR(v, v, v)
	Label("pixel")
	load(n, Mem{Base: src}, x)
	VPADDB(x, v, v)
	store(n, v, Mem{Base: dst})
	loop(n, left, dst, src)
}

// averageRow rounds down what the instruction rounds up.
func averageRow(n int, ones Mem) {
	TEXT(fmt.Sprintf("unfilterAverage%d", n), NOSPLIT, "func(dst, src, above *uint8, pixels int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("unfilterAverage%d undoes the filter average of pixels of %d bytes.", n, n))
	dst, src, above := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("above"), GP64())
	left := Load(Param("pixels"), GP64())
	a, b, x, one, odd := XMM(), XMM(), XMM(), XMM(), XMM()
	VPXOR(a, a, a)
	VMOVDQU(ones, one)
	Label("pixel")
	load(n, Mem{Base: above}, b)
	load(n, Mem{Base: src}, x)
	VPXOR(a, b, odd)
	VPAND(one, odd, odd)
	VPAVGB(b, a, a)
	VPSUBB(odd, x, x)
	VPADDB(x, a, a)
	store(n, a, Mem{Base: dst})
	loop(n, left, dst, src, above)
}

// paethRow works on words, whose upper bytes are zero.
func paethRow(n int) {
	TEXT(fmt.Sprintf("unfilterPaeth%d", n), NOSPLIT, "func(dst, src, above *uint8, pixels int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("unfilterPaeth%d undoes Paeth's filter of pixels of %d bytes.", n, n))
	dst, src, above := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("above"), GP64())
	left := Load(Param("pixels"), GP64())
	a, b, c, x := XMM(), XMM(), XMM(), XMM()
	pa, pb, pc, least := XMM(), XMM(), XMM(), XMM()
	VPXOR(a, a, a)
	VPXOR(c, c, c)
	Label("pixel")
	load(n, Mem{Base: above}, b)
	load(n, Mem{Base: src}, x)
	VPMOVZXBW(b, b)
	VPMOVZXBW(x, x)
	VPSUBW(c, b, pa)
	VPSUBW(c, a, pb)
	VPADDW(pa, pb, pc)
	VPABSW(pa, pa)
	VPABSW(pb, pb)
	VPABSW(pc, pc)
	VPMINSW(pa, pb, least)
	VPMINSW(pc, least, least)
	Comment("c, unless b is as near; that, unless a is.")
	VPCMPEQW(least, pb, pb)
	VPCMPEQW(least, pa, pa)
	VPBLENDVB(pb, b, c, c)
	VPBLENDVB(pa, a, c, c)
	VPADDB(x, c, a)
	VMOVDQA(b, c)
	packed := XMM()
	VPACKUSWB(a, a, packed)
	store(n, packed, Mem{Base: dst})
	loop(n, left, dst, src, above)
}
