package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The layout of filterLevels.
const (
	levelMacroblock = 16 * iota
	levelEdge
	levelInner
	levelUneven
)

// samples are the samples across an edge at 16 places: p3 to p0, q0 to q3.
type samples []VecVirtual

// constants are the operands of the filters.
type constants struct{ sign, low7, three, four, low5, bit4, halves, nine, round Mem }

func filters() {
	c := constants{
		sign: bytes("signBits", 0x80), low7: bytes("upperSeven", 0xFE), three: bytes("threes", 3), four: bytes("fours", 4),
		low5: bytes("lowerFive", 0x1F), bit4: bytes("bitFour", 0x10), halves: bytes("sixtyFours", 64),
		nine: words("nines", 9<<8), round: words("sixtyThrees", 63),
	}
	simple(c, "simpleAcrossAVX2", true)
	simple(c, "simpleDownAVX2", false)
	for _, f := range []struct {
		name          string
		across, outer bool
	}{{"outerAcrossAVX2", true, true}, {"innerAcrossAVX2", true, false}, {"outerDownAVX2", false, true}, {"innerDownAVX2", false, false}} {
		normal(c, f.name, f.across, f.outer)
	}
}

// edge is a place in two planes or two parts of one, of which each has eight places along the edge.
type edge struct{ a, b, stride, stride3 Register }

func newEdge() edge {
	e := edge{a: Load(Param("a"), GP64()), b: Load(Param("b"), GP64()), stride: Load(Param("stride"), GP64()), stride3: GP64()}
	LEAQ(Mem{Base: e.stride, Index: e.stride, Scale: 2}, e.stride3)
	return e
}

// row is row i of eight from a place on, whose fifth row is at middle.
func (e edge) row(base, middle Register, i int) Mem {
	switch i {
	case 1, 5:
		return Mem{Base: pick(i > 3, middle, base), Index: e.stride, Scale: 1}
	case 2, 6:
		return Mem{Base: pick(i > 3, middle, base), Index: e.stride, Scale: 2}
	case 3, 7:
		return Mem{Base: pick(i > 3, middle, base), Index: e.stride3, Scale: 1}
	}
	return Mem{Base: pick(i > 3, middle, base)}
}

func pick(upper bool, a, b Register) Register {
	if upper {
		return a
	}
	return b
}

// rows calls f for 16 rows: eight from a on, eight from b on.
func (e edge) rows(f func(i int, row Mem)) {
	for half, base := range []Register{e.a, e.b} {
		middle := GP64()
		LEAQ(Mem{Base: base, Index: e.stride, Scale: 4}, middle)
		for i := range 8 {
			f(8*half+i, e.row(base, middle, i))
		}
	}
}

// loadAcross loads 16 rows of eight samples, as columns.
func (e edge) loadAcross() samples {
	var pairs [2]VecVirtual
	var quads [2][2]VecVirtual
	var eights [2][4]VecVirtual
	first := XMM()
	e.rows(func(i int, row Mem) {
		if i%2 == 0 {
			first = XMM()
			VMOVQ(row, first)
			return
		}
		second, pair := XMM(), XMM()
		VMOVQ(row, second)
		VPUNPCKLBW(second, first, pair)
		pairs[i/2%2] = pair
		if i%4 != 3 {
			return
		}
		q := &quads[i/4%2]
		q[0], q[1] = XMM(), XMM()
		VPUNPCKLWD(pairs[1], pairs[0], q[0])
		VPUNPCKHWD(pairs[1], pairs[0], q[1])
		if i%8 != 7 {
			return
		}
		out := &eights[i/8]
		for k := range 2 {
			out[2*k], out[2*k+1] = XMM(), XMM()
			VPUNPCKLDQ(quads[1][k], quads[0][k], out[2*k])
			VPUNPCKHDQ(quads[1][k], quads[0][k], out[2*k+1])
		}
	})
	s := samples(xmms(8))
	for k := range 4 {
		VPUNPCKLQDQ(eights[1][k], eights[0][k], s[2*k])
		VPUNPCKHQDQ(eights[1][k], eights[0][k], s[2*k+1])
	}
	return s
}

// storeAcross writes all eight columns, or the four in the middle.
func (e edge) storeAcross(s samples, all bool) {
	if !all {
		var at [4]VecVirtual // four rows each
		l, h := xmms(2), xmms(2)
		for k := range 2 {
			VPUNPCKLBW(s[3+2*k], s[2+2*k], l[k])
			VPUNPCKHBW(s[3+2*k], s[2+2*k], h[k])
		}
		for k, from := range [][]VecVirtual{l, h} {
			at[2*k], at[2*k+1] = XMM(), XMM()
			VPUNPCKLWD(from[1], from[0], at[2*k])
			VPUNPCKHWD(from[1], from[0], at[2*k+1])
		}
		e.rows(func(i int, row Mem) {
			row.Disp += 2
			if i%4 == 0 {
				VMOVD(at[i/4], row)
			} else {
				VPEXTRD(Imm(uint64(i%4)), at[i/4], row)
			}
		})
		return
	}
	l, h := xmms(4), xmms(4)
	for k := range 4 {
		VPUNPCKLBW(s[1+2*k], s[2*k], l[k])
		VPUNPCKHBW(s[1+2*k], s[2*k], h[k])
	}
	var at [8]VecVirtual // two rows each
	for k, from := range [][]VecVirtual{l, h} {
		w := xmms(4) // columns 0 to 3 of rows 0 to 3 and 4 to 7, then columns 4 to 7
		VPUNPCKLWD(from[1], from[0], w[0])
		VPUNPCKHWD(from[1], from[0], w[1])
		VPUNPCKLWD(from[3], from[2], w[2])
		VPUNPCKHWD(from[3], from[2], w[3])
		for j := range 2 {
			at[4*k+2*j], at[4*k+2*j+1] = XMM(), XMM()
			VPUNPCKLDQ(w[2+j], w[j], at[4*k+2*j])
			VPUNPCKHDQ(w[2+j], w[j], at[4*k+2*j+1])
		}
	}
	e.rows(func(i int, row Mem) {
		if i%2 == 0 {
			VMOVQ(at[i/2], row)
		} else {
			VMOVHPS(at[i/2], row)
		}
	})
}

// down calls f for each row of samples across the edge, from p3 on.
func (e edge) down(f func(i int, a, b Mem)) {
	ma, mb := GP64(), GP64()
	LEAQ(Mem{Base: e.a, Index: e.stride, Scale: 4}, ma)
	LEAQ(Mem{Base: e.b, Index: e.stride, Scale: 4}, mb)
	for i := range 8 {
		f(i, e.row(e.a, ma, i), e.row(e.b, mb, i))
	}
}

func (e edge) loadDown(from, to int) samples {
	s := make(samples, 8)
	e.down(func(i int, a, b Mem) {
		if i >= from && i < to {
			s[i] = XMM()
			VMOVQ(a, s[i])
			VMOVHPS(b, s[i], s[i])
		}
	})
	return s
}

func (e edge) storeDown(s samples, from, to int) {
	e.down(func(i int, a, b Mem) {
		if i >= from && i < to {
			VMOVQ(s[i], a)
			VMOVHPS(s[i], b)
		}
	})
}

// difference returns the absolute difference of two samples.
func difference(a, b VecVirtual) VecVirtual {
	d, t := XMM(), XMM()
	VPSUBUSB(b, a, d)
	VPSUBUSB(a, b, t)
	VPOR(t, d, d)
	return d
}

// step returns the amount by which the step across an edge exceeds its limit.
func (c constants) step(s samples, limit Mem) VecVirtual {
	d, e := difference(s[3], s[4]), difference(s[2], s[5])
	VPADDUSB(d, d, d)
	VPAND(c.low7, e, e)
	VPSRLW(Imm(1), e, e)
	VPADDUSB(e, d, d)
	VPSUBUSB(limit, d, d)
	return d
}

// shift3 shifts signed bytes by 3.
func (c constants) shift3(v VecVirtual) {
	VPSRLW(Imm(3), v, v)
	VPAND(c.low5, v, v)
	VPXOR(c.bit4, v, v)
	VPSUBB(c.bit4, v, v)
}

// three adds three times the difference of q0 and p0 to a, all being signed.
func three(a, p0, q0 VecVirtual) {
	d := XMM()
	VPSUBSB(p0, q0, d)
	for range 3 {
		VPADDSB(d, a, a)
	}
}

// change applies the filter of two samples to p0 and q0, and returns the change of q0.
func (c constants) change(a, p0, q0 VecVirtual) VecVirtual {
	p, q := XMM(), XMM()
	VPADDSB(c.three, a, p)
	VPADDSB(c.four, a, q)
	c.shift3(p)
	c.shift3(q)
	VPADDSB(p, p0, p0)
	VPSUBSB(q, q0, q0)
	return q
}

// flip turns samples into signed numbers or back.
func (c constants) flip(s samples) {
	for _, v := range s {
		VPXOR(c.sign, v, v)
	}
}

func simple(c constants, name string, across bool) {
	TEXT(name, NOSPLIT, "func(a, b *uint8, stride int, limit *uint8)")
	Doc(name+" filters an edge at eight places from a on and eight from b on, by the simple filter.",
		"The samples across it begin at a and b.")
	e := newEdge()
	limit := Load(Param("limit"), GP64())
	var s samples
	if across {
		s = e.loadAcross()
	} else {
		s = e.loadDown(2, 6)
	}
	zero, mask := XMM(), c.step(s, Mem{Base: limit})
	VPXOR(zero, zero, zero)
	VPCMPEQB(zero, mask, mask)
	c.flip(s[2:6])
	a := XMM()
	VPSUBSB(s[5], s[2], a)
	three(a, s[3], s[4])
	VPAND(mask, a, a)
	c.change(a, s[3], s[4])
	c.flip(s[2:6])
	if across {
		e.storeAcross(s, false)
	} else {
		e.storeDown(s, 3, 5)
	}
	RET()
}

func normal(c constants, name string, across, outer bool) {
	TEXT(name, NOSPLIT, "func(a, b *uint8, stride int, f *uint8)")
	Doc(name+" filters an edge at eight places from a on and eight from b on.",
		"The samples across it begin at a and b.")
	e := newEdge()
	levels := Load(Param("f"), GP64())
	limit := Mem{Base: levels, Disp: levelEdge}
	if outer {
		limit.Disp = levelMacroblock
	}
	var s samples
	if across {
		s = e.loadAcross()
	} else {
		s = e.loadDown(0, 8)
	}
	zero, even, mask := XMM(), difference(s[2], s[3]), XMM()
	t := difference(s[5], s[4])
	VPMAXUB(t, even, even)
	VMOVDQA(even, mask)
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {6, 5}, {7, 6}} {
		t := difference(s[pair[0]], s[pair[1]])
		VPMAXUB(t, mask, mask)
	}
	VPSUBUSB(Mem{Base: levels, Disp: levelInner}, mask, mask)
	t = c.step(s, limit)
	VPOR(t, mask, mask)
	VPXOR(zero, zero, zero)
	VPCMPEQB(zero, mask, mask)
	VPSUBUSB(Mem{Base: levels, Disp: levelUneven}, even, even)
	VPCMPEQB(zero, even, even)

	a := XMM()
	if outer {
		c.flip(s[1:7])
		VPSUBSB(s[5], s[2], a)
		three(a, s[3], s[4])
		VPAND(mask, a, a)
		some := XMM()
		VPANDN(a, even, some)
		c.change(some, s[3], s[4])
		VPAND(even, a, a)
		low, high := XMM(), XMM()
		VPUNPCKLBW(a, zero, low)
		VPUNPCKHBW(a, zero, high)
		VPMULHW(c.nine, low, low)
		VPMULHW(c.nine, high, high)
		sumLow, sumHigh := XMM(), XMM()
		VMOVDQU(c.round, sumLow)
		VMOVDQU(c.round, sumHigh)
		for i := 1; i <= 3; i++ {
			VPADDW(low, sumLow, sumLow)
			VPADDW(high, sumHigh, sumHigh)
			v, w := XMM(), XMM()
			VPSRAW(Imm(7), sumLow, v)
			VPSRAW(Imm(7), sumHigh, w)
			VPACKSSWB(w, v, v)
			VPADDSB(v, s[i], s[i])
			VPSUBSB(v, s[7-i], s[7-i])
		}
		c.flip(s[1:7])
	} else {
		c.flip(s[2:6])
		VPSUBSB(s[5], s[2], a)
		VPANDN(a, even, a)
		three(a, s[3], s[4])
		VPAND(mask, a, a)
		q := c.change(a, s[3], s[4])
		VPXOR(c.sign, q, q)
		VPAVGB(zero, q, q)
		VPSUBB(c.halves, q, q)
		VPAND(even, q, q)
		VPADDSB(q, s[2], s[2])
		VPSUBSB(q, s[5], s[5])
		c.flip(s[2:6])
	}
	switch {
	case across:
		e.storeAcross(s, outer)
	case outer:
		e.storeDown(s, 1, 7)
	default:
		e.storeDown(s, 2, 6)
	}
	RET()
}
