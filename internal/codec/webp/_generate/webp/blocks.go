package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transpose swaps rows and columns of four registers of four dwords.
func transpose(m []VecVirtual) []VecVirtual {
	a, t := xmms(4), xmms(4)
	VPUNPCKLDQ(m[1], m[0], a[0])
	VPUNPCKHDQ(m[1], m[0], a[1])
	VPUNPCKLDQ(m[3], m[2], a[2])
	VPUNPCKHDQ(m[3], m[2], a[3])
	VPUNPCKLQDQ(a[2], a[0], t[0])
	VPUNPCKHQDQ(a[2], a[0], t[1])
	VPUNPCKLQDQ(a[3], a[1], t[2])
	VPUNPCKHQDQ(a[3], a[1], t[3])
	return t
}

// inverse transforms four columns.
func inverse(r []VecVirtual, sine, cosine Mem) []VecVirtual {
	scaled := func(x VecVirtual, by Mem) VecVirtual {
		y := XMM()
		VPMULLD(by, x, y)
		VPSRAD(Imm(16), y, y)
		return y
	}
	a, b := XMM(), XMM()
	VPADDD(r[2], r[0], a)
	VPSUBD(r[2], r[0], b)
	c, t := scaled(r[1], sine), scaled(r[3], cosine)
	VPSUBD(t, c, c)
	d, u := scaled(r[1], cosine), scaled(r[3], sine)
	VPADDD(u, d, d)
	m := xmms(4)
	VPADDD(d, a, m[0])
	VPADDD(c, b, m[1])
	VPSUBD(c, b, m[2])
	VPSUBD(d, a, m[3])
	return m
}

func inverseDCT() {
	TEXT("inverseDCTAVX2", NOSPLIT, "func(dst *uint8, coefs *int16)")
	Doc("inverseDCTAVX2 adds the transform of coefs to 4x4 samples of the buffer, and makes coefs zeros.")
	dst, coefs := Load(Param("dst"), GP64()), Load(Param("coefs"), GP64())
	sine, cosine := dwords("sine", 35468), dwords("cosine", 85627)
	m := xmms(4)
	for i := range m {
		VPMOVSXWD(Mem{Base: coefs, Disp: 8 * i}, m[i])
	}
	m = transpose(inverse(m, sine, cosine))
	VPADDD(dwords("roundDCT", 4), m[0], m[0])
	m = transpose(inverse(m, sine, cosine))
	for i := range m {
		VPSRAD(Imm(3), m[i], m[i])
		row := XMM()
		VPMOVZXBD(Mem{Base: dst, Disp: workStride * i}, row)
		VPADDD(row, m[i], m[i])
	}
	VPACKSSDW(m[1], m[0], m[0])
	VPACKSSDW(m[3], m[2], m[2])
	VPACKUSWB(m[2], m[0], m[0])
	storeRows(m[0], dst)
	zero := YMM()
	VPXOR(zero, zero, zero)
	VMOVDQU(zero, Mem{Base: coefs})
	VZEROUPPER()
	RET()
}

// storeRows writes four rows of four samples.
func storeRows(rows VecVirtual, dst Register) {
	VMOVD(rows, Mem{Base: dst})
	for i := 1; i < 4; i++ {
		VPEXTRD(Imm(uint64(i)), rows, Mem{Base: dst, Disp: workStride * i})
	}
}

func addDC() {
	TEXT("addDCAVX2", NOSPLIT, "func(dst *uint8, dc int)")
	Doc("addDCAVX2 adds dc, after the transform, to 4x4 samples of the buffer.")
	dst, dc := Load(Param("dst"), GP64()), Load(Param("dc"), GP64())
	v, rows := YMM(), YMM()
	VMOVD(dc.(GPVirtual).As32(), v.AsX())
	VPBROADCASTW(v.AsX(), v)
	x := rows.AsX()
	VMOVD(Mem{Base: dst}, x)
	for i := 1; i < 4; i++ {
		VPINSRD(Imm(uint64(i)), Mem{Base: dst, Disp: workStride * i}, x, x)
	}
	VPMOVZXBW(x, rows)
	VPADDW(v, rows, rows)
	high := XMM()
	VEXTRACTI128(Imm(1), rows, high)
	VPACKUSWB(high, x, x)
	storeRows(rows.AsX().(VecVirtual), dst)
	VZEROUPPER()
	RET()
}

// predictTM continues gradients over size x size samples.
func predictTM(size int) {
	name := fmt.Sprintf("predictTM%dAVX2", size)
	TEXT(name, NOSPLIT, "func(dst *uint8)")
	Doc(fmt.Sprintf("%s predicts %dx%d samples of the buffer from those above and to the left.", name, size, size))
	dst := Load(Param("dst"), GP64())
	base, corner := YMM(), YMM()
	above := Mem{Base: dst, Disp: -workStride}
	switch size {
	case 16:
		VPMOVZXBW(above, base)
	case 8:
		VPMOVZXBW(above, base.AsX())
	case 4:
		VMOVD(above, base.AsX())
		VPMOVZXBW(base.AsX(), base.AsX())
	}
	edge := GP32()
	MOVBLZX(Mem{Base: dst, Disp: -workStride - 1}, edge)
	VMOVD(edge, corner.AsX())
	VPBROADCASTW(corner.AsX(), corner)
	VPSUBW(corner, base, base)
	for y := range size {
		row := YMM()
		left := GP32()
		MOVBLZX(Mem{Base: dst, Disp: workStride*y - 1}, left)
		VMOVD(left, row.AsX())
		VPBROADCASTW(row.AsX(), row)
		VPADDW(base, row, row)
		x := row.AsX()
		to := Mem{Base: dst, Disp: workStride * y}
		if size == 16 {
			high := XMM()
			VEXTRACTI128(Imm(1), row, high)
			VPACKUSWB(high, x, x)
			VMOVDQU(x, to)
			continue
		}
		VPACKUSWB(x, x, x)
		if size == 8 {
			VMOVQ(x, to)
		} else {
			VMOVD(x, to)
		}
	}
	VZEROUPPER()
	RET()
}
