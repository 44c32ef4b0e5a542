package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Where fields are in the package's band.
const bandTable, bandMask, bandEnded, bandAl = 0, 8, 16, 24

// The registers of the refinement. had, left, raised, fresh and negative have a bit for each
// coefficient of a block, the first in zigzag order in the highest.
var (
	masked            = R8 // the coefficients that the next bits belong to
	had, left, raised = R10, R11, R12
	fresh, negative   = R15, RDI
)

// refineBand writes the function that refines a band of AC coefficients. Masks take the place of
// branches that no processor can predict: PDEP finds the place of a new coefficient among the
// zeros, and brings the bits for known ones to their places. The coefficients are changed at the
// end of each block, all at once.
func refineBand() {
	TEXT("refineBandBMI2", NOSPLIT, "func(r *uint64, b *uint64, coefs *[64]int16, known *uint64, n int) int")
	Pragma("noescape")
	Doc("refineBandBMI2 is refineBandPlain of n blocks, at least 1; coefs is nil if only the verdict is wanted.")
	limit := AllocLocal(8) // the end of the data in bits, counted from address 0
	ended := AllocLocal(8)
	mask := AllocLocal(8)
	coefs := AllocLocal(8)
	known := AllocLocal(8)
	blocks := AllocLocal(8)

	Comment("What the blocks share.")
	Load(Param("b"), t1)
	MOVQ(Mem{Base: t1, Disp: bandTable}, table)
	for _, copied := range []struct {
		from int
		to   Mem
	}{{bandMask, mask}, {bandEnded, ended}} {
		MOVQ(Mem{Base: t1, Disp: copied.from}, t)
		MOVQ(t, copied.to)
	}
	MOVQ(Mem{Base: t1, Disp: bandAl}, t)
	MOVL(U32(1), t2.As32())
	SHLXQ(t, t2, t2)
	VMOVD(t2.As32(), X7)
	VPBROADCASTW(X7, Y7)
	for _, copied := range []struct {
		from string
		to   Mem
	}{{"coefs", coefs}, {"known", known}, {"n", blocks}} {
		Load(Param(copied.from), t)
		MOVQ(t, copied.to)
	}
	load(limit)
	bytes, bits := places()

	Label("block")
	Comment("Were there as many bits as have been used?")
	MOVQ(pos, t)
	SHLQ(Imm(3), t)
	SUBQ(have, t)
	CMPQ(t, limit)
	JGT(LabelRef("short"))
	MOVQ(known, t)
	MOVQ(Mem{Base: t}, had)
	MOVQ(mask, left)
	XORL(raised.As32(), raised.As32())
	XORL(fresh.As32(), fresh.As32())
	XORL(negative.As32(), negative.As32())
	CMPQ(ended, Imm(0))
	JNE(LabelRef("rest"))

	Label("symbol")
	TESTQ(left, left)
	JE(LabelRef("apply"))
	refill()
	MOVQ(acc, t)
	SHRQ(Imm(64-lookBits), t)
	MOVL(Mem{Base: table, Index: t, Scale: 4, Disp: tableOne}, entry.As32())
	CMPL(entry.As32(), U32(unknown))
	JEQ(LabelRef("acLong"))
	Label("one")
	run, size := t1, t2
	MOVL(entry.As32(), run.As32())
	SHRL(Imm(28), run.As32())
	MOVL(entry.As32(), size.As32())
	SHRL(Imm(24), size.As32())
	ANDL(Imm(15), size.As32())
	CMPL(size.As32(), Imm(1))
	JA(LabelRef("bad"))
	JNE(LabelRef("sizeless"))

	Label("coefficient")
	Comment("Its sign is the bit after the code; the last of the zeros is its place.")
	MOVL(entry.As32(), t.As32())
	SHRL(Imm(16), t.As32())
	SHLXQ(t, acc, t) // by the length modulo 64
	SARQ(Imm(63), t)
	NOTQ(t)
	SHLXQ(entry, acc, acc)
	MOVBLZX(entry.As8(), entry.As32())
	SUBQ(entry, have)
	NEGQ(size)
	ANDNQ(left, had, masked)
	POPCNTQ(masked, entry)
	DECQ(entry)
	SUBQ(run, entry)
	JMI(LabelRef("overrun"))
	bit := run
	MOVL(U32(1), bit.As32())
	SHLXQ(entry, bit, bit)
	PDEPQ(masked, bit, bit)
	Comment("What is known before that place is refined.")
	BLSMSKQ(bit, entry)
	MOVQ(had, masked)
	ANDQ(left, masked)
	ANDNQ(masked, entry, masked)
	SHRQ(Imm(1), entry)
	ANDQ(entry, left)
	ANDQ(size, bit)
	ORQ(bit, fresh)
	ANDQ(bit, t)
	ORQ(t, negative)
	POPCNTQ(masked, t1)
	CMPQ(t1, Imm(56-17))
	JA(LabelRef("many"))
	raise(masked)
	JMP(LabelRef("symbol"))

	Label("many")
	raiseMany()
	JMP(LabelRef("symbol"))

	Label("sizeless")
	CMPL(run.As32(), Imm(15))
	JE(LabelRef("coefficient"))
	Comment("This block and a number of following ones have no new coefficients any more.")
	SHLXQ(entry, acc, acc)
	MOVBLZX(entry.As8(), t.As32())
	SUBQ(t, have)
	MOVL(U32(1), entry.As32())
	SHLXQ(run, entry, entry)
	MOVL(U32(63), t2.As32())
	SUBL(run.As32(), t2.As32())
	MOVQ(acc, t)
	SHRQ(Imm(1), t)
	SHRXQ(t2, t, t)
	ADDQ(t, entry)
	MOVQ(entry, ended)
	SHLXQ(run, acc, acc)
	SUBQ(run, have)

	Label("rest")
	DECQ(ended)
	MOVQ(had, masked)
	ANDQ(left, masked)
	JE(LabelRef("apply"))
	refill()
	POPCNTQ(masked, t1)
	CMPQ(t1, Imm(56))
	JA(LabelRef("manyMore"))
	raise(masked)

	Label("apply")
	ORQ(fresh, had)
	MOVQ(known, t)
	MOVQ(had, Mem{Base: t})
	ADDQ(Imm(8), t)
	MOVQ(t, known)
	MOVQ(coefs, t)
	TESTQ(t, t)
	JE(LabelRef("next"))
	SUBQ(I32(-128), coefs)
	change(t, bytes, bits, "next")

	Label("next")
	DECQ(blocks)
	JNE(LabelRef("block"))
	MOVQ(ended, t)
	Load(Param("b"), t1)
	MOVQ(t, Mem{Base: t1, Disp: bandEnded})
	XORL(t.As32(), t.As32())
	Label("return")
	VZEROUPPER()
	leave()

	Label("manyMore")
	raiseMany()
	JMP(LabelRef("apply"))
	long("ac", true)
	JMP(LabelRef("one"))
	fail("short", short)
	fail("bad", badCode)
	fail("overrun", overrun)
}

// raise reads a bit for each coefficient of the mask, of which t1 is the number.
func raise(mask Register) {
	MOVQ(t1, t2)
	NEGQ(t2)
	SHRXQ(t2, acc, t2) // by 64 less the number; if it is 0, nothing is deposited
	PDEPQ(mask, t2, t2)
	ORQ(t2, raised)
	SHLXQ(t1, acc, acc)
	SUBQ(t1, have)
}

// raiseMany reads a bit for each of the masked coefficients, which may be more than a refill gives.
func raiseMany() {
	MOVQ(masked, entry)
	SHRQ(Imm(32), entry)
	SHLQ(Imm(32), entry)
	XORQ(entry, masked)
	for _, half := range []Register{entry, masked} {
		refill()
		POPCNTQ(half, t1)
		raise(half)
	}
}

// places writes two tables of words, one for each coefficient of a block: the byte of a mask that
// has its bit, as VPSHUFB takes it, and that bit.
func places() (bytes, bits Mem) {
	var zigzag [64]int // the package's naturalOrder, reversed
	x, y := 0, 0
	for k := range 64 {
		zigzag[8*y+x] = k
		switch {
		case (x+y)&1 == 0 && x == 7:
			y++
		case (x+y)&1 == 0 && y == 0:
			x++
		case (x+y)&1 == 0:
			x, y = x+1, y-1
		case y == 7:
			x++
		case x == 0:
			y++
		default:
			x, y = x-1, y+1
		}
	}
	bytes = GLOBL("maskBytes", RODATA|NOPTR)
	for i, k := range zigzag {
		DATA(2*i, U16(0x8000|(63-k)>>3))
	}
	bits = GLOBL("maskBits", RODATA|NOPTR)
	for i, k := range zigzag {
		DATA(2*i, U16(1<<((63-k)&7)))
	}
	return bytes, bits
}

// change adds the new bit to the coefficients of the block at t that are raised or fresh, with the
// sign that each has or gets.
func change(block Register, bytes, bits Mem, done string) {
	ORQ(fresh, raised)
	JE(LabelRef(done))
	VMOVQ(raised, X0)
	VPBROADCASTQ(X0, Y0)
	VMOVQ(negative, X1)
	VPBROADCASTQ(X1, Y1)
	for row := 0; row < 128; row += 32 {
		at := Mem{Base: block, Disp: row}
		VMOVDQU(at, Y2)
		VMOVDQU(bits.Offset(row), Y3)
		VMOVDQU(bytes.Offset(row), Y4)
		VPSHUFB(Y4, Y0, Y5)
		VPAND(Y3, Y5, Y5)
		VPCMPEQW(Y3, Y5, Y5)
		VPAND(Y7, Y5, Y5)
		VPSHUFB(Y4, Y1, Y6)
		VPAND(Y3, Y6, Y6)
		VPCMPEQW(Y3, Y6, Y6)
		VPSRAW(Imm(15), Y2, Y3)
		VPOR(Y3, Y6, Y6)
		VPXOR(Y6, Y5, Y5)
		VPSUBW(Y6, Y5, Y5)
		VPADDW(Y5, Y2, Y2)
		VMOVDQU(Y2, at)
	}
}
