package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The cosine transforms work on two blocks at a time, one in each lane: a register holds a row, or
// a column, of both, eight words each. Results of 32 bits are in two registers: the sums of the
// first four words of each lane, and of the last four.

// Bits of fraction: of the constants, and of the values between the first pass and the second.
const (
	constBits = 13
	passBits  = 2
)

// words are the registers of eight rows or columns.
type words [8]VecVirtual

// wide is a register of 32-bit sums for each half of the words of a lane, or
// for the lower half alone.
type wide []VecVirtual

var tables = map[string]Mem{}

// table puts values that repeat into 32 bytes of read-only memory, once.
func table(name string, size int, values ...int) Mem {
	if m, ok := tables[name]; ok {
		return m
	}
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
	tables[name] = m
	return m
}

// signed names a number in a symbol.
func signed(v int) string {
	if v < 0 {
		return fmt.Sprintf("m%d", -v)
	}
	return fmt.Sprint(v)
}

// factors returns the factors for pairs of words.
func factors(a, b int) Mem {
	return table("factors"+signed(a)+"and"+signed(b), 2, a&0xffff, b&0xffff)
}

// dwords returns a constant in each 32 bits.
func dwords(v int) Mem { return table("dwords"+signed(v), 4, v) }

// interleave makes pairs of the words of a and b.
func interleave(a, b VecVirtual) wide {
	w := wide{YMM(), YMM()}
	VPUNPCKLWD(b, a, w[0])
	VPUNPCKHWD(b, a, w[1])
	return w
}

// interleaveLow is interleave for four words of each lane.
func interleaveLow(a, b VecVirtual) wide {
	w := wide{YMM()}
	VPUNPCKLWD(b, a, w[0])
	return w
}

// weigh is the sums of pairs, each word weighed.
func weigh(pairs wide, a, b int) wide {
	w := make(wide, len(pairs))
	for i := range w {
		w[i] = YMM()
		VPMADDWD(factors(a, b), pairs[i], w[i])
	}
	return w
}

// add is a+b, in the registers of a.
func add(a, b wide) wide {
	for i := range a {
		VPADDD(b[i], a[i], a[i])
	}
	return a
}

// butterfly is a+b and a-b, the sum in the registers of b.
func butterfly(a, b wide) (sum, difference wide) {
	difference = make(wide, len(a))
	for i := range a {
		difference[i] = YMM()
		VPSUBD(b[i], a[i], difference[i])
		VPADDD(b[i], a[i], b[i])
	}
	return b, difference
}

// descale drops bits of fraction and makes words of the sums, saturated. What
// rounds has been added before.
func descale(w wide, bits int) VecVirtual {
	for i := range w {
		VPSRAD(Imm(uint64(bits)), w[i], w[i])
	}
	out := YMM()
	VPACKSSDW(w[len(w)-1], w[0], out)
	return out
}

// transpose makes columns of rows in each lane.
func transpose(x words) words {
	var a, b, c words
	for i := range 4 {
		// Rows 0 and 1, 2 and 3 and so on: pairs of words.
		a[2*i], a[2*i+1] = YMM(), YMM()
		VPUNPCKLWD(x[2*i+1], x[2*i], a[2*i])
		VPUNPCKHWD(x[2*i+1], x[2*i], a[2*i+1])
	}
	for i := range 2 {
		for j := range 2 {
			// Of four rows two columns each.
			low, high := a[4*i+j], a[4*i+2+j]
			b[4*i+2*j], b[4*i+2*j+1] = YMM(), YMM()
			VPUNPCKLDQ(high, low, b[4*i+2*j])
			VPUNPCKHDQ(high, low, b[4*i+2*j+1])
		}
	}
	for i := range 4 {
		c[2*i], c[2*i+1] = YMM(), YMM()
		VPUNPCKLQDQ(b[4+i], b[i], c[2*i])
		VPUNPCKHQDQ(b[4+i], b[i], c[2*i+1])
	}
	return c
}

// shelf is memory on the stack for registers that have no room.
type shelf struct{ base Register }

// newShelf makes room for n registers.
func newShelf(n int) shelf {
	base := GP64()
	local := AllocLocal(32*n + 32)
	LEAQ(local.Offset(31), base)
	ANDQ(I8(-32), base)
	return shelf{base}
}

// at is place i.
func (s shelf) at(i int) Mem { return Mem{Base: s.base, Disp: 32 * i} }

// put lays w down at places i and i+1.
func (s shelf) put(i int, w wide) {
	VMOVDQA(w[0], s.at(i))
	VMOVDQA(w[1], s.at(i+1))
}
