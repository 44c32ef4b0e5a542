// Command huffman writes the assembly of package jpeg that decodes the blocks of a sequential scan
// and refines the blocks of a progressive one. In the directory above this one:
//
//	go run ./huffman -out ../decode_amd64.s -stubs ../decode_stubs_amd64.go -pkg jpeg
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Where fields are in the package's bitReader, blockCode and huffTable, which checks that, and
// its constants.
const (
	readerBuf, readerPos, readerAcc, readerHave, readerEnd = 0, 24, 32, 40, 48

	codeDC, codeAC, codeComponent, codeAt, codeStep, codeSize = 0, 8, 16, 24, 32, 40

	tablePairs, tableOne, tableMaxCode, tableOffset, tableSpec = 0, 8192, 12288, 12356, 12424

	lookBits   = 10
	unknown    = 0xFF << 8
	endOfBlock = 128

	short, badCode, overrun = 1, 2, 3
)

// The registers. acc and other take turns; of have only the lowest byte counts where lookups follow
// one another. The entry is where its second byte has a name.
var (
	acc, other   = RAX, R8
	entry        = RBX
	t            = RCX
	have         = RDX
	pos          = RSI
	block        = RDI
	table        = R9
	natural      = R10
	k, next      = R11, R12
	t1, t2, code = R13, R14, R15
)

func main() {
	ConstraintExpr("!noasm")
	TEXT("decodeBlocksBMI2", NOSPLIT, "func(r *uint64, coefs *[64]int16, codes *uint64, kinds int, means *int32, n int, natural *uint8) int")
	Pragma("noescape")
	Doc("decodeBlocksBMI2 is decodeBlocksPlain of n MCUs, at least 1, each of the given number of kinds of blocks.")
	limit := AllocLocal(8) // the end of the data in bits, counted from address 0
	last := AllocLocal(8)  // the end of the codes
	units := AllocLocal(8)

	load(limit)
	Load(Param("natural"), natural)
	Load(Param("n"), t)
	MOVQ(t, units)
	Load(Param("kinds"), t)
	IMUL3Q(Imm(codeSize), t, t)
	Load(Param("codes"), code)
	ADDQ(code, t)
	MOVQ(t, last)

	refill()

	Label("unit")
	Load(Param("codes"), code)

	Label("block")
	Comment("Were there as many bits as have been used?")
	MOVQ(pos, t)
	SHLQ(Imm(3), t)
	SUBQ(have, t)
	CMPQ(t, limit)
	JGT(LabelRef("short"))
	MOVQ(Mem{Base: code, Disp: codeAt}, block)
	MOVQ(Mem{Base: code, Disp: codeStep}, t)
	ADDQ(block, t)
	MOVQ(t, Mem{Base: code, Disp: codeAt})
	SHLQ(Imm(7), block)
	Load(Param("coefs"), t)
	ADDQ(t, block)

	Comment("The difference of the DC coefficient. What is left of the block before is enough for the lookup.")
	MOVQ(Mem{Base: code, Disp: codeDC}, table)
	MOVQ(acc, t)
	SHRQ(Imm(64-lookBits), t)
	MOVL(Mem{Base: table, Index: t, Scale: 4, Disp: tableOne}, entry.As32())
	refill()
	CMPL(entry.As32(), U32(unknown))
	JEQ(LabelRef("dcLong"))
	value()
	difference()

	Comment("Of the 64 bits that there are after a refill 51 at most are used before the next: 25 by the DC coefficient,",
		"10 by a lookup, 16 by a long code for the end of the block. That leaves enough for the lookup after that.")
	Label("coefficients")
	lookup(acc, "")
	consume(acc, other)
	lookup(other, "Other")
	consume(other, acc)
	Label("refilled")
	refill()
	lookup(acc, "")
	consume(acc, other)
	lookup(other, "Other")
	consume(other, acc)
	JMP(LabelRef("coefficients"))

	Label("specialOther")
	MOVQ(other, acc)
	Label("special")
	MOVBLZX(have.As8(), have.As32())
	CMPQ(next, Imm(64))
	JE(LabelRef("fits"))
	LEAQ(Mem{Base: next, Disp: -endOfBlock}, t)
	CMPQ(t, Imm(63))
	JHI(LabelRef("beyond"))

	Label("fits")
	Comment("The entry ends the block.")
	SHLXQ(entry, acc, acc)
	MOVBLZX(entry.As8(), t.As32())
	SUBQ(t, have)
	store()
	JMP(LabelRef("done"))

	Label("beyond")
	Comment("Two symbols of which the second may belong to the next block, or a long code.")
	CMPQ(next, U32(unknown>>8))
	JCC(LabelRef("acLong"))
	MOVQ(acc, t)
	SHRQ(Imm(64-lookBits), t)
	MOVL(Mem{Base: table, Index: t, Scale: 4, Disp: tableOne}, entry.As32())
	Label("one")
	MOVBLZX(BH, t.As32())
	LEAQ(Mem{Base: k, Index: t, Scale: 1}, next)
	CMPQ(next, Imm(endOfBlock))
	JCC(LabelRef("ended"))
	JMP(LabelRef("slow"))
	Label("ended")
	SHLXQ(entry, acc, acc)
	MOVBLZX(entry.As8(), t.As32())
	SUBQ(t, have)
	JMP(LabelRef("done"))

	Label("slowOther")
	MOVQ(other, acc)
	Label("slow")
	Comment("A value that is not wholly in sight.")
	refill()
	CMPQ(next, Imm(64))
	JHI(LabelRef("overrun"))
	MOVQ(next, k)
	value()
	MOVBLZX(Mem{Base: natural, Index: k, Scale: 1, Disp: -1}, t.As32())
	MOVW(t1.As16(), Mem{Base: block, Index: t, Scale: 2})
	CMPQ(k, Imm(64))
	JCS(LabelRef("refilled"))

	Label("done")
	ADDQ(Imm(codeSize), code)
	CMPQ(code, last)
	JNE(LabelRef("block"))
	DECQ(units)
	JNE(LabelRef("unit"))

	XORL(t.As32(), t.As32())
	Label("return")
	leave()

	long("dc", false)
	value()
	difference()
	JMP(LabelRef("refilled"))
	long("ac", true)
	JMP(LabelRef("one"))
	fail("short", short)
	fail("bad", badCode)
	fail("overrun", overrun)

	refineBand()
	Generate()
}

// load takes up where the reader is.
func load(limit Mem) {
	Load(Param("r"), t1)
	MOVQ(Mem{Base: t1, Disp: readerBuf}, pos)
	MOVQ(Mem{Base: t1, Disp: readerEnd}, t)
	LEAQ(Mem{Base: t, Index: pos, Scale: 8}, t)
	MOVQ(t, limit)
	ADDQ(Mem{Base: t1, Disp: readerPos}, pos)
	MOVQ(Mem{Base: t1, Disp: readerAcc}, acc)
	MOVQ(Mem{Base: t1, Disp: readerHave}, have)
}

// leave stores the position of the reader, and returns the fault in t.
func leave() {
	Load(Param("r"), t1)
	SUBQ(Mem{Base: t1, Disp: readerBuf}, pos)
	MOVQ(pos, Mem{Base: t1, Disp: readerPos})
	MOVQ(acc, Mem{Base: t1, Disp: readerAcc})
	MOVQ(have, Mem{Base: t1, Disp: readerHave})
	Store(t, ReturnIndex(0))
	RET()
}

// fail returns a fault.
func fail(name string, fault uint32) {
	Label(name)
	MOVL(U32(fault), t.As32())
	JMP(LabelRef("return"))
}

// refill makes at least 56 bits available.
func refill() {
	MOVBLZX(have.As8(), have.As32())
	MOVQ(Mem{Base: pos}, t)
	BSWAPQ(t)
	SHRXQ(have, t, t)
	ORQ(t, acc)
	MOVL(have.As32(), t.As32())
	XORL(Imm(63), t.As32())
	SHRL(Imm(3), t.As32())
	ADDQ(t, pos)
	ORL(Imm(56), have.As32())
}

// lookup loads the entry of the pairs for the bits in a and advances the index. It jumps to
// elsewhere if the value is out of sight, or the index outside the block.
func lookup(a Register, name string) {
	MOVQ(a, t)
	SHRQ(Imm(64-lookBits), t)
	MOVQ(Mem{Base: table, Index: t, Scale: 8, Disp: tablePairs}, entry)
	MOVBLZX(BH, t.As32())
	LEAQ(Mem{Base: k, Index: t, Scale: 1}, next)
	TESTQ(entry, entry)
	JMI(LabelRef("slow" + name))
	CMPQ(next, Imm(64))
	JCC(LabelRef("special" + name))
}

// consume takes an entry of the pairs, with the bits from a; the rest is in b then.
func consume(a, b Register) {
	SHLXQ(entry, a, b)
	SUBQ(entry, have)
	store()
	MOVQ(next, k)
}

// difference adds the value to the mean of the component, and turns to the AC coefficients.
func difference() {
	MOVQ(Mem{Base: code, Disp: codeAC}, table)
	MOVQ(Mem{Base: code, Disp: codeComponent}, next)
	Load(Param("means"), t2)
	ADDL(Mem{Base: t2, Index: next, Scale: 4}, t1.As32())
	MOVL(t1.As32(), Mem{Base: t2, Index: next, Scale: 4})
	MOVW(t1.As16(), Mem{Base: block})
	MOVL(U32(1), k.As32())
}

// store puts the values of an entry of the pairs into the block.
func store() {
	MOVQ(entry, t1)
	SHRQ(Imm(48), t1)
	ADDQ(k, t1)
	MOVBLZX(t1.As8(), t1.As32())
	MOVBLZX(Mem{Base: natural, Index: t1, Scale: 1}, t1.As32())
	RORXQ(Imm(16), entry, t2)
	MOVW(t2.As16(), Mem{Base: block, Index: t1, Scale: 2})
	MOVBLZX(Mem{Base: natural, Index: next, Scale: 1, Disp: -1}, t1.As32())
	RORXQ(Imm(32), entry, t2)
	MOVW(t2.As16(), Mem{Base: block, Index: t1, Scale: 2})
}

// value consumes the code and the amplitude of an entry of one symbol; the value is in t1
// then.
func value() {
	size, length := other, t
	MOVL(entry.As32(), length.As32())
	SHRL(Imm(16), length.As32())
	MOVBLZX(length.As8(), length.As32())
	SHLXQ(length, acc, t1)
	MOVL(entry.As32(), size.As32())
	SHRL(Imm(24), size.As32())
	ANDL(Imm(15), size.As32())
	MOVQ(t1, t2)
	SARQ(Imm(63), t2)
	NOTQ(t2)
	BZHIQ(size, t2, t2)
	SHRQ(Imm(1), t1)
	XORL(Imm(63), size.As32())
	SHRXQ(size, t1, t1)
	SUBL(t2.As32(), t1.As32())
	SHLXQ(entry, acc, acc)
	MOVBLZX(entry.As8(), t.As32())
	SUBQ(t, have)
}

// long finds a code longer than the lookup and makes its entry.
func long(name string, ac bool) {
	length, value, loop, found := t1, t2, name+"Longer", name+"Found"
	Label(name + "Long")
	MOVL(U32(lookBits+1), length.As32())
	Label(loop)
	MOVL(U32(64), t.As32())
	SUBL(length.As32(), t.As32())
	SHRXQ(t, acc, value)
	CMPL(value.As32(), Mem{Base: table, Index: length, Scale: 4, Disp: tableMaxCode})
	JLE(LabelRef(found))
	INCL(length.As32())
	CMPL(length.As32(), Imm(17))
	JNE(LabelRef(loop))
	JMP(LabelRef("bad"))
	Label(found)
	ADDL(Mem{Base: table, Index: length, Scale: 4, Disp: tableOffset}, value.As32())
	MOVBLZX(Mem{Base: table, Index: value, Scale: 1, Disp: tableSpec + 16}, value.As32())
	Comment("The symbol, the length and their sum with the amplitude.")
	MOVL(value.As32(), entry.As32())
	SHLL(Imm(8), entry.As32())
	ORL(length.As32(), entry.As32())
	SHLL(Imm(16), entry.As32())
	MOVL(value.As32(), t.As32())
	ANDL(Imm(15), t.As32())
	ADDL(length.As32(), t.As32())
	ORL(t.As32(), entry.As32())
	if ac {
		Comment("How far the index moves: beyond the end without a size, but for a run of 16.")
		MOVL(U32(endOfBlock), t.As32())
		TESTL(U32(15), value.As32())
		JNE(LabelRef(name + "Run"))
		CMPL(value.As32(), U32(0xF0))
		JNE(LabelRef(name + "Moved"))
		Label(name + "Run")
		MOVL(value.As32(), t.As32())
		SHRL(Imm(4), t.As32())
		INCL(t.As32())
		Label(name + "Moved")
		SHLL(Imm(8), t.As32())
		ORL(t.As32(), entry.As32())
	}
}
