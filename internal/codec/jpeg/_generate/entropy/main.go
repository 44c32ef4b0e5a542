// Command entropy writes the assembly of package jpeg that codes coefficients. In the directory
// above:
//
//	go run ./entropy -out ../entropy_amd64.s -stubs ../entropy_stubs_amd64.go -pkg jpeg
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// These are the package's own: of entropyState, of codedBlock and of blockCodes.
const (
	acc, have, means = 0, 8, 16
	codes, component = 0, 8
	codesAC, codesDC = 0, 16 * 32 * 8
	pastEnd, sixteen = 1 * 32, 15 * 32
)

func main() {
	ConstraintExpr("!noasm")
	blocks()
	Generate()
}

// coder is the registers of blocks.
type coder struct {
	out, acc, have Register // number of pending bits, the lowest of acc
	classes, codes Register
	coefs, nonzero Register
	k, last        Register // places of coefficients
}

func blocks() {
	TEXT("blocksBMI", NOSPLIT, "func(state *uint64, out *uint8, coefs *[64]int16, nonzero *uint64, mcu *uint64, kinds int, classes *uint8, n int) *uint8")
	Doc("blocksBMI codes n blocks, at least 1, and returns the end of what it wrote. It writes 8 bytes beyond it.",
		"classes is that of 0. kinds blocks, from mcu on, repeat.")
	c := coder{
		out: Load(Param("out"), GP64()), classes: Load(Param("classes"), GP64()),
		coefs: Load(Param("coefs"), GP64()), codes: GP64(), acc: GP64(), have: GP64(), nonzero: GP64(), k: GP64(), last: GP64(),
	}
	state := Load(Param("state"), GP64())
	masks := Load(Param("nonzero"), GP64())
	kind := Load(Param("mcu"), GP64())
	local := AllocLocal(16)
	left, end := local, local.Offset(8)
	number := Load(Param("n"), GP64())
	MOVQ(number, left)
	Load(Param("kinds"), number)
	SHLQ(Imm(4), number)
	ADDQ(kind, number)
	MOVQ(number, end)
	MOVQ(Mem{Base: state, Disp: acc}, c.acc)
	MOVQ(Mem{Base: state, Disp: have}, c.have)

	Label("block")
	MOVQ(Mem{Base: kind, Disp: codes}, c.codes)
	MOVQ(Mem{Base: masks}, c.nonzero)
	ANDQ(I8(-2), c.nonzero)

	// The difference from the block before.
	mean, value, class := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: kind, Disp: component}, mean)
	MOVWQSX(Mem{Base: c.coefs}, value)
	MOVQ(value, class)
	SUBQ(Mem{Base: state, Index: mean, Scale: 8, Disp: means}, value)
	MOVQ(class, Mem{Base: state, Index: mean, Scale: 8, Disp: means})
	MOVBQZX(Mem{Base: c.classes, Index: value, Scale: 1}, class)
	c.put(class, codesDC, value)
	c.flush()

	XORQ(c.last, c.last)
	TESTQ(c.nonzero, c.nonzero)
	JZ(LabelRef("end"))
	// Two at a time fill up to 61 bits.
	Label("pair")
	c.coefficient("First", c.k, c.last)
	TESTQ(c.nonzero, c.nonzero)
	JZ(LabelRef("endFirst"))
	c.coefficient("Second", c.last, c.k)
	c.flush()
	TESTQ(c.nonzero, c.nonzero)
	JNZ(LabelRef("pair"))
	Label("end")
	// The end of the block, or nothing after a last coefficient at 63.
	INCQ(c.last)
	SHRQ(Imm(6), c.last)
	SHLQ(Imm(5), c.last)
	c.put(c.last, codesAC, nil)

	ADDQ(U32(128), c.coefs)
	ADDQ(Imm(8), masks)
	ADDQ(Imm(16), kind)
	CMPQ(kind, end)
	JNE(LabelRef("kind"))
	Load(Param("mcu"), kind)
	Label("kind")
	DECQ(left)
	JNZ(LabelRef("block"))

	c.flush()
	MOVQ(c.acc, Mem{Base: state, Disp: acc})
	MOVQ(c.have, Mem{Base: state, Disp: have})
	Store(c.out, ReturnIndex(0))
	RET()

	Label("endFirst")
	MOVQ(c.k, c.last)
	JMP(LabelRef("end"))

	// Sixteen zeros and more before a coefficient are rare.
	c.zeros("First")
	c.zeros("Second")
}

// coefficient codes the next coefficient, the place of the last one given.
func (c coder) coefficient(name string, k, last Register) {
	run, value, class := GP64(), GP64(), GP64()
	TZCNTQ(c.nonzero, k)
	BLSRQ(c.nonzero, c.nonzero)
	MOVQ(k, run)
	SUBQ(last, run)
	CMPQ(run, Imm(16))
	JA(LabelRef("zeros" + name))
	Label("coefficient" + name)
	MOVWQSX(Mem{Base: c.coefs, Index: k, Scale: 2}, value)
	MOVBQZX(Mem{Base: c.classes, Index: value, Scale: 1}, class)
	SHLQ(Imm(5), run)
	ADDQ(run, class)
	c.put(class, codesAC-32*8, value) // of a run that is one more
	runs[name] = run
}

// runs are the registers that zeros continues with.
var runs = map[string]Register{}

// zeros codes runs of sixteen zeros, until what remains is less.
func (c coder) zeros(name string) {
	run := runs[name]
	Label("zeros" + name)
	if name == "Second" {
		c.flush()
	}
	Label("more" + name)
	place := GP64()
	MOVQ(U32(sixteen), place)
	c.put(place, codesAC, nil)
	c.flush()
	SUBQ(Imm(16), run)
	CMPQ(run, Imm(16))
	JA(LabelRef("more" + name))
	JMP(LabelRef("coefficient" + name))
}

// put appends a code, to which it adds a value.
func (c coder) put(place Register, disp int, value Register) {
	code, length := GP64(), GP64()
	MOVL(Mem{Base: c.codes, Index: place, Scale: 8, Disp: disp}, code.As32())
	MOVL(Mem{Base: c.codes, Index: place, Scale: 8, Disp: disp + 4}, length.As32())
	if value != nil {
		ADDQ(value, code)
	}
	SHLXQ(length, c.acc, c.acc)
	ADDQ(code, c.acc)
	ADDQ(length, c.have)
}

// flush writes the whole bytes of the pending bits.
func (c coder) flush() {
	bits := GP64()
	MOVQ(c.have, bits)
	NEGQ(bits)
	SHLXQ(bits, c.acc, bits)
	BSWAPQ(bits)
	MOVQ(bits, Mem{Base: c.out})
	MOVQ(c.have, bits)
	SHRQ(Imm(3), bits)
	ADDQ(bits, c.out)
	ANDQ(Imm(7), c.have)
}
