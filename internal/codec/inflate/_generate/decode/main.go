// Command decode writes the assembly of package inflate that decodes symbols. In the directory above
// this one:
//
//	go run ./decode -out ../decode_amd64.s -stubs ../decode_stubs_amd64.go -pkg inflate
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Where fields are in the package's codec, which checks that, and its constants.
const (
	codecBits, codecCount, codecIn, codecAt, codecOut, codecPos, codecStart, codecLit, codecDist = 0, 8, 16, 40, 48, 72, 80, 88, 96

	litBits, distBits = 11, 9
	litOther          = 1 << 30
	endOf, noCode     = 1 << 29, 1 << 28

	inSlack, slack = 24, 4*2 + 258 + 64
)

// The registers. Of count only the lowest byte counts between refills, since all of an entry is
// subtracted, and an entry has its bits in the lowest byte.
var (
	entry, t, count, t2    = RAX, RCX, RDX, RBX
	in, out, bits, inEnd   = RSI, RDI, R8, R9
	outEnd, lit, dist      = R10, R11, R12
	saved, length, savedAt = R13, R14, R15
)

func main() {
	ConstraintExpr("!noasm")
	masks, steps := patterns()

	TEXT("decodeFastBMI2", NOSPLIT, "func(c *uint64) (end int)")
	Pragma("noescape")
	Doc("decodeFastBMI2 is decodeFastPlain of a codec.")
	start := AllocLocal(8)
	savedCount := AllocLocal(8)

	Load(Param("c"), t)
	MOVQ(Mem{Base: t, Disp: codecBits}, bits)
	MOVQ(Mem{Base: t, Disp: codecCount}, count)
	MOVQ(Mem{Base: t, Disp: codecIn}, in)
	MOVQ(Mem{Base: t, Disp: codecIn + 8}, inEnd)
	LEAQ(Mem{Base: in, Index: inEnd, Scale: 1, Disp: -inSlack}, inEnd)
	ADDQ(Mem{Base: t, Disp: codecAt}, in)
	MOVQ(Mem{Base: t, Disp: codecOut}, out)
	MOVQ(Mem{Base: t, Disp: codecOut + 8}, outEnd)
	LEAQ(Mem{Base: out, Index: outEnd, Scale: 1, Disp: -slack}, outEnd)
	MOVQ(Mem{Base: t, Disp: codecStart}, t2)
	ADDQ(out, t2)
	MOVQ(t2, start)
	ADDQ(Mem{Base: t, Disp: codecPos}, out)
	MOVQ(Mem{Base: t, Disp: codecLit}, lit)
	MOVQ(Mem{Base: t, Disp: codecDist}, dist)
	limits()
	refill()
	lookup()

	Comment("There are 56 bits, and entry is what they begin with. Four entries of literals take 44,",
		"which leaves enough for a lookup.")
	Label("literals")
	TESTL(entry.As32(), entry.As32())
	JNS(LabelRef("fresh"))
	literals()
	for range 3 {
		TESTL(entry.As32(), entry.As32())
		JNS(LabelRef("other"))
		literals()
	}
	limits()
	refill()
	JMP(LabelRef("literals"))

	Label("other")
	refill()
	Label("fresh")
	MOVQ(bits, saved)
	MOVQ(count, savedCount)
	TESTL(U32(litOther), entry.As32())
	JNZ(LabelRef("special"))

	Label("match")
	value(length)
	MOVL(bits.As32(), t.As32())
	ANDL(U32(1<<distBits-1), t.As32())
	MOVL(Mem{Base: dist, Index: t, Scale: 4}, entry.As32())
	TESTL(entry.As32(), entry.As32())
	JS(LabelRef("specialDistance"))
	Label("distance")
	value(t)
	MOVQ(out, t2)
	SUBQ(t, t2)
	CMPQ(t2, start)
	JCS(LabelRef("odd"))
	Comment("The next symbol is looked up while the match is copied.")
	MOVQ(t, savedAt)
	refill()
	lookup()
	ADDQ(out, length)
	CMPQ(savedAt, Imm(16))
	JCS(LabelRef("near"))
	Label("far")
	MOVOU(Mem{Base: t2}, X0)
	MOVOU(X0, Mem{Base: out})
	ADDQ(Imm(16), t2)
	ADDQ(Imm(16), out)
	CMPQ(out, length)
	JCS(LabelRef("far"))
	MOVQ(length, out)
	limits()
	JMP(LabelRef("literals"))

	Label("near")
	Comment("The period is repeated through 16 bytes, of which whole periods are kept.")
	MOVOU(Mem{Base: t2}, X0)
	LEAQ(steps, t)
	MOVBLZX(Mem{Base: t, Index: savedAt, Scale: 1}, t2.As32())
	SHLQ(Imm(4), savedAt)
	LEAQ(masks, t)
	MOVOU(Mem{Base: t, Index: savedAt, Scale: 1}, X1)
	PSHUFB(X1, X0)
	Label("periods")
	MOVOU(X0, Mem{Base: out})
	ADDQ(t2, out)
	CMPQ(out, length)
	JCS(LabelRef("periods"))
	MOVQ(length, out)
	limits()
	JMP(LabelRef("literals"))

	Label("special")
	TESTL(U32(endOf|noCode), entry.As32())
	JNZ(LabelRef("endOrOdd"))
	subtable(lit, litBits)
	TESTL(entry.As32(), entry.As32())
	JS(LabelRef("longLiteral"))
	TESTL(U32(litOther), entry.As32())
	JZ(LabelRef("match"))
	Label("endOrOdd")
	TESTL(U32(endOf), entry.As32())
	JZ(LabelRef("odd"))
	consume()
	MOVQ(U32(1), t2)
	JMP(LabelRef("done"))

	Label("longLiteral")
	MOVL(entry.As32(), t.As32())
	SHRL(Imm(8), t.As32())
	MOVB(t.As8(), Mem{Base: out})
	INCQ(out)
	consume()
	limits()
	refill()
	lookup()
	JMP(LabelRef("literals"))

	Label("specialDistance")
	TESTL(U32(noCode), entry.As32())
	JNZ(LabelRef("odd"))
	subtable(dist, distBits)
	TESTL(entry.As32(), entry.As32())
	JNS(LabelRef("distance"))

	Label("odd")
	Comment("As it was before the symbol.")
	MOVQ(saved, bits)
	MOVQ(savedCount, count)
	Label("limit")
	XORL(t2.As32(), t2.As32())
	Label("done")
	Load(Param("c"), t)
	MOVBLZX(count.As8(), count.As32())
	BZHIQ(count, bits, bits)
	MOVQ(bits, Mem{Base: t, Disp: codecBits})
	MOVQ(count, Mem{Base: t, Disp: codecCount})
	SUBQ(Mem{Base: t, Disp: codecIn}, in)
	MOVQ(in, Mem{Base: t, Disp: codecAt})
	SUBQ(Mem{Base: t, Disp: codecOut}, out)
	MOVQ(out, Mem{Base: t, Disp: codecPos})
	Store(t2, ReturnIndex(0))
	RET()
	Generate()
}

// patterns are, for each distance below 16, the shuffle that repeats so many bytes, and how many of
// 16 bytes are whole periods.
func patterns() (masks, steps Mem) {
	masks = GLOBL("periods", RODATA|NOPTR)
	for d := range 16 {
		for i := range 16 {
			DATA(16*d+i, U8(uint8(i%max(d, 1))))
		}
	}
	steps = GLOBL("steps", RODATA|NOPTR)
	for d := range 16 {
		DATA(d, U8(uint8(16/max(d, 1)*max(d, 1))))
	}
	return masks, steps
}

// limits ends a call near the end of the piece or the room.
func limits() {
	CMPQ(in, inEnd)
	JHI(LabelRef("limit"))
	CMPQ(out, outEnd)
	JCC(LabelRef("limit"))
}

// refill fills up to at least 56 bits. Bits above the count are already those in the next byte, so
// that setting them again changes nothing.
func refill() {
	MOVQ(Mem{Base: in}, t)
	SHLXQ(count, t, t)
	ORQ(t, bits)
	MOVBLZX(count.As8(), t.As32())
	XORL(Imm(63), t.As32())
	SHRL(Imm(3), t.As32())
	ADDQ(t, in)
	ORL(Imm(56), count.As32())
}

// lookup looks a literal or length up.
func lookup() {
	MOVL(bits.As32(), t.As32())
	ANDL(U32(1<<litBits-1), t.As32())
	MOVL(Mem{Base: lit, Index: t, Scale: 4}, entry.As32())
}

// consume drops the bits of the entry.
func consume() {
	SHRXQ(entry, bits, bits)
	SUBL(entry.As32(), count.As32())
}

// literals writes one or two, and looks up what follows.
func literals() {
	SHRXQ(entry, bits, bits)
	SUBL(entry.As32(), count.As32())
	MOVL(entry.As32(), t2.As32())
	SHRL(Imm(8), t2.As32())
	SHRL(Imm(24), entry.As32())
	MOVW(t2.As16(), Mem{Base: out})
	LEAQ(Mem{Base: out, Index: entry, Scale: 1, Disp: -0x80}, out)
	lookup()
}

// value makes a length or distance of an entry and the bits after its code.
func value(to GPPhysical) {
	BZHIQ(entry, bits, t2)
	MOVL(entry.As32(), savedAt.As32())
	SHRL(Imm(8), savedAt.As32())
	SHRXQ(savedAt, t2, t2)
	MOVL(entry.As32(), to.As32())
	SHRL(Imm(16), to.As32())
	ADDL(t2.As32(), to.As32())
	consume()
}

// subtable looks a long code up.
func subtable(table GPPhysical, width uint8) {
	SHRQ(Imm(uint64(width)), bits)
	SUBL(Imm(uint64(width)), count.As32())
	MOVL(entry.As32(), t.As32())
	SHRL(Imm(8), t.As32())
	ANDL(Imm(15), t.As32())
	BZHIQ(t, bits, t)
	SHRL(Imm(12), entry.As32())
	ANDL(U32(0xFFFF), entry.As32())
	ADDL(entry.As32(), t.As32())
	MOVL(Mem{Base: table, Index: t, Scale: 4}, entry.As32())
}
