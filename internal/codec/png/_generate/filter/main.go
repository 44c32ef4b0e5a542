// Command filter writes the assembly of package png that applies and undoes filters. In the
// directory above this one:
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
	for i := range 32 {
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
	filterRow(ones, lastBytes())
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

// averageRow corrects the instruction, which rounds up, to round down.
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

// lastBytes are masks of the last bytes of 32, n of them from the table's byte n on.
func lastBytes() Mem {
	m := GLOBL("lastBytes", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i/32*255))
	}
	return m
}

// filterRow applies all filters to 32 bytes at a time. The last 32 overlap with the bytes before,
// and the overlap is added only once. In unsigned bytes, the distance of left + above - corner from
// the corner is the sum of the two distances if both are on the same side of it, and their
// difference otherwise. A sum that is cut to 255 is at least as far as either distance.
func filterRow(ones, last Mem) {
	TEXT("filterRow", NOSPLIT, "func(sub, up, average, paeth, row, above *uint8, pixel, n int, sums *[5]uint64)")
	Pragma("noescape")
	Doc(
		"filterRow applies the filters to n bytes, at least 32, of a row, before which there is a pixel, and",
		"stores what the size of the differences adds up to.",
	)
	var out [4]Register
	for i, name := range []string{"sub", "up", "average", "paeth"} {
		out[i] = Load(Param(name), GP64())
	}
	row, above := Load(Param("row"), GP64()), Load(Param("above"), GP64())
	left, corner := Load(Param("pixel"), GP64()), GP64()
	NEGQ(left)
	MOVQ(left, corner)
	ADDQ(row, left)
	ADDQ(above, corner)
	n, at := Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	var sums [5]VecVirtual
	for i := range sums {
		sums[i] = YMM()
		VPXOR(sums[i], sums[i], sums[i])
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	x, a, b, c := YMM(), YMM(), YMM(), YMM()
	table, counted := GP64(), GP64()
	LEAQ(last, table)
	LEAQ(Mem{Base: table, Disp: 32}, counted)
	Label("bytes")
	for _, v := range []struct {
		base Register
		to   VecVirtual
	}{{row, x}, {above, b}, {left, a}, {corner, c}} {
		VMOVDQU(Mem{Base: v.base, Index: at, Scale: 1}, v.to)
	}
	d := YMM()
	size := func(filter int, v VecVirtual) { // v may be d
		VPABSB(v, d)
		VPAND(Mem{Base: counted}, d, d)
		VPSADBW(zero, d, d)
		VPADDQ(d, sums[filter], sums[filter])
	}
	put := func(filter int) {
		VMOVDQU(d, Mem{Base: out[filter-1], Index: at, Scale: 1})
		size(filter, d)
	}
	size(0, x)
	VPSUBB(a, x, d)
	put(1)
	VPSUBB(b, x, d)
	put(2)

	Comment("The mean is rounded down, and the instruction rounds up.")
	odd, mean := YMM(), YMM()
	VPXOR(a, b, odd)
	VPAND(ones, odd, odd)
	VPAVGB(a, b, mean)
	VPSUBB(odd, mean, mean)
	VPSUBB(mean, x, d)
	put(3)

	pa, pb, pc, t, s := YMM(), YMM(), YMM(), YMM(), YMM()
	distance := func(v, w, to, least VecVirtual) {
		VPMAXUB(v, w, to)
		VPMINUB(v, w, least)
		VPSUBB(least, to, to)
	}
	distance(b, c, pa, t)
	VPCMPEQB(t, c, t) // above is not below the corner
	distance(a, c, pb, s)
	VPCMPEQB(s, c, s)
	VPXOR(s, t, s) // set where they are on two sides
	both := YMM()
	VPADDUSB(pa, pb, both)
	distance(pa, pb, pc, t)
	VPBLENDVB(s, pc, both, pc)
	least := YMM()
	VPMINUB(pa, pb, least)
	VPMINUB(pc, least, least)
	VPCMPEQB(least, pb, pb)
	VPCMPEQB(least, pa, pa)
	VPBLENDVB(pb, b, c, c)
	VPBLENDVB(pa, a, c, c)
	VPSUBB(c, x, d)
	put(4)
	rest := GP64()
	ADDQ(Imm(32), at)
	MOVQ(n, rest)
	SUBQ(at, rest)
	JEQ(LabelRef("done"))
	CMPQ(rest, Imm(32))
	JGE(LabelRef("bytes"))
	LEAQ(Mem{Base: table, Index: rest, Scale: 1}, counted)
	LEAQ(Mem{Base: n, Disp: -32}, at)
	JMP(LabelRef("bytes"))

	Label("done")
	result := Load(Param("sums"), GP64())
	for i, v := range sums {
		h := XMM()
		VEXTRACTI128(Imm(1), v, h)
		VPADDQ(v.AsX(), h, h)
		VPSRLDQ(Imm(8), h, x.AsX())
		VPADDQ(x.AsX(), h, h)
		VMOVQ(h, Mem{Base: result, Disp: 8 * i})
	}
	VZEROUPPER()
	RET()
}
