package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// boolReader is the reader's state in registers; see the type of this name in the package.
type boolReader struct {
	value, n, width, data Register
	tables                Register // shifts by the width after a bit, and then the width after that
	sites                 int      // places in the code that have labels
}

// The layout of the reader.
const (
	readerValue = 0
	readerN     = 8
	readerWidth = 16
	readerData  = 24
	readerPos   = 48
)

// label makes a name that is used once.
func (r *boolReader) label(name string) string {
	r.sites++
	return fmt.Sprintf("%s%d", name, r.sites)
}

// need makes sure that there are that many bits, at most 57.
func (r *boolReader) need(bits uint64) {
	enough := r.label("enough")
	CMPQ(r.n, Imm(bits))
	JGE(LabelRef(enough))
	more := GP64()
	MOVQ(Mem{Base: r.data}, more)
	BSWAPQ(more)
	SHRXQ(r.n, more, more)
	ORQ(more, r.value)
	// n grows to between 57 and 64 by whole bytes.
	MOVQ(U32(64), more)
	SUBQ(r.n, more)
	SHRQ(Imm(3), more)
	ADDQ(more, r.data)
	LEAQ(Mem{Base: r.n, Index: more, Scale: 8}, r.n)
	Label(enough)
}

// normalize shifts the width up to 127 at least.
func (r *boolReader) normalize() {
	shift := GP64()
	MOVBQZX(Mem{Base: r.tables, Index: r.width, Scale: 1}, shift)
	MOVBQZX(Mem{Base: r.tables, Index: r.width, Scale: 1, Disp: 256}, r.width)
	SHLXQ(shift, r.value, r.value)
	SUBQ(shift, r.n)
}

// split is the size of the part of the interval that is for 0, less 1.
func (r *boolReader) split(prob Mem) Register {
	s := GP64()
	MOVBQZX(prob, s)
	IMULQ(r.width, s)
	SHRQ(Imm(8), s)
	return s
}

// branch reads a bit and jumps to a label if it is 0.
func (r *boolReader) branch(prob Mem, zero string) {
	isOne := r.label("one")
	s, t := r.split(prob), GP64()
	LEAQ(Mem{Base: s, Disp: 1}, t)
	SHLQ(Imm(56), t)
	CMPQ(r.value, t)
	JAE(LabelRef(isOne))
	MOVQ(s, r.width)
	r.normalize()
	JMP(LabelRef(zero))
	Label(isOne)
	SUBQ(t, r.value)
	SUBQ(s, r.width)
	DECQ(r.width)
	r.normalize()
}

// take reads a bit, whose interval for 0 is s and 1 more, without a jump: 0 or all ones.
func (r *boolReader) take(s Register) Register {
	rest, zero := GP64(), GP64()
	LEAQ(Mem{Base: s, Disp: 1}, zero)
	SHLQ(Imm(56), zero)
	MOVQ(r.value, rest)
	SUBQ(zero, rest)
	SBBQ(zero, zero) // all ones if the bit is 0
	SUBQ(s, r.width)
	DECQ(r.width)
	TESTQ(zero, zero)
	CMOVQEQ(rest, r.value)
	CMOVQNE(s, r.width)
	r.normalize()
	NOTQ(zero)
	return zero
}

// number reads a bit and appends it to v.
func (r *boolReader) number(prob Mem, v Register) {
	one := r.take(r.split(prob))
	ADDQ(v, v)
	SUBQ(one, v)
}

// readBlock reads the tokens of a block.
func readBlock() {
	TEXT("readBlockBMI2", NOSPLIT, "func(r *uint64, probs *uint8, context, from int, steps *uint16, coefs *int16) int")
	Doc("readBlockBMI2 is readBlockPlain for a reader with at least blockBytes of data; r is its first field.")
	reader := Load(Param("r"), GP64())
	r := &boolReader{value: GP64(), n: GP64(), width: GP64(), data: GP64(), tables: GP64()}
	MOVQ(Mem{Base: reader, Disp: readerValue}, r.value)
	MOVQ(Mem{Base: reader, Disp: readerN}, r.n)
	MOVQ(Mem{Base: reader, Disp: readerWidth}, r.width)
	MOVQ(Mem{Base: reader, Disp: readerData}, r.data)
	ADDQ(Mem{Base: reader, Disp: readerPos}, r.data)
	tables := make([]uint8, 512)
	for w := range 256 {
		shift := uint8(0)
		for (w+1)<<shift < 128 {
			shift++
		}
		tables[w], tables[256+w] = shift, uint8((w+1)<<shift-1)
	}
	LEAQ(table("normalized", tables), r.tables)

	const row, context = 48, 16
	p, n := GP64(), GP64()
	Load(Param("from"), n)
	rows := Load(Param("probs"), GP64())
	t := GP64()
	IMUL3Q(Imm(row), n, t)
	ADDQ(t, rows) // the row of the position
	p = Load(Param("context"), p).(GPVirtual)
	SHLQ(Imm(4), p)
	ADDQ(rows, p)
	prob := func(i int) Mem { return Mem{Base: p, Disp: i} }
	r.need(8)
	r.branch(prob(0), "none")

	v := GP64()
	Label("token")
	r.need(8 + 7 + 7 + 1 + 7) // for bits 1 and 2, the sign and the next bit 0
	r.branch(prob(1), "zero")
	ADDQ(Imm(row), rows)
	r.branch(prob(2), "one")

	r.need(8 + 3*7 + 1 + 7)
	r.branch(prob(3), "small")
	r.branch(prob(6), "low")
	// Categories 3 to 6.
	high, extra := GP64(), GP64()
	XORQ(high, high)
	r.number(prob(8), high)
	MOVQ(high, extra)
	r.need(16)
	r.number(Mem{Base: p, Index: high, Scale: 1, Disp: 9}, extra)
	base := GP64()
	MOVQ(U32(8), base)
	SHLXQ(extra, base, base)
	ADDQ(Imm(3), base)
	SHLQ(Imm(4), extra)
	LEAQ(table("extraBits", []uint8{
		173, 148, 140, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		176, 155, 140, 135, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		180, 157, 141, 134, 130, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129, 0, 0, 0, 0, 0,
	}), t)
	ADDQ(t, extra)
	XORQ(v, v)
	Label("extra")
	r.need(8 + 7 + 1 + 7)
	r.number(Mem{Base: extra}, v)
	INCQ(extra)
	CMPB(Mem{Base: extra}, Imm(0))
	JNE(LabelRef("extra"))
	ADDQ(base, v)
	JMP(LabelRef("signLarge"))

	Label("low") // categories 1 and 2
	r.need(8 + 3*7)
	r.branch(prob(7), "first")
	low := table("lowBits", []uint8{159, 165, 145})
	XORQ(v, v)
	r.number(low.Offset(1), v)
	r.number(low.Offset(2), v)
	ADDQ(Imm(7), v)
	JMP(LabelRef("signCategory"))
	Label("first")
	XORQ(v, v)
	r.number(low, v)
	ADDQ(Imm(5), v)
	Label("signCategory")
	r.need(8 + 1 + 7)
	JMP(LabelRef("signLarge"))

	Label("small")
	r.branch(prob(4), "two")
	XORQ(v, v)
	r.number(prob(5), v)
	ADDQ(Imm(3), v)
	JMP(LabelRef("signLarge"))
	Label("two")
	MOVQ(U32(2), v)
	Label("signLarge")
	LEAQ(Mem{Base: rows, Disp: 2 * context}, p)
	JMP(LabelRef("sign"))

	Label("one")
	MOVQ(U32(1), v)
	LEAQ(Mem{Base: rows, Disp: context}, p)

	Label("sign")
	s := GP64()
	MOVQ(r.width, s)
	SHRQ(Imm(1), s)
	negative := r.take(s)
	XORQ(negative, v)
	SUBQ(negative, v)
	steps, step := GP64(), GP64()
	Load(Param("steps"), steps)
	MOVWQZX(Mem{Base: steps, Disp: 2}, step)
	TESTQ(n, n)
	JNE(LabelRef("scale"))
	MOVWQZX(Mem{Base: steps}, step)
	Label("scale")
	IMULQ(step, v)
	order := make([]uint8, 16)
	for i, at := range []uint8{0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15} {
		order[i] = 2 * at
	}
	coefs, at := GP64(), GP64()
	LEAQ(table("zigzagBytes", order), at)
	MOVBQZX(Mem{Base: at, Index: n, Scale: 1}, at)
	Load(Param("coefs"), coefs)
	MOVW(v.As16(), Mem{Base: coefs, Index: at, Scale: 1})
	INCQ(n)
	CMPQ(n, Imm(16))
	JE(LabelRef("done"))
	r.branch(prob(0), "done")
	JMP(LabelRef("token"))

	Label("zero")
	ADDQ(Imm(row), rows)
	MOVQ(rows, p)
	INCQ(n)
	CMPQ(n, Imm(16))
	JNE(LabelRef("token"))

	JMP(LabelRef("done"))
	Label("none")
	XORQ(n, n)
	Label("done")
	Load(Param("r"), reader)
	MOVQ(r.value, Mem{Base: reader, Disp: readerValue})
	MOVQ(r.n, Mem{Base: reader, Disp: readerN})
	MOVQ(r.width, Mem{Base: reader, Disp: readerWidth})
	SUBQ(Mem{Base: reader, Disp: readerData}, r.data)
	MOVQ(r.data, Mem{Base: reader, Disp: readerPos})
	Store(n, ReturnIndex(0))
	RET()
}
