// Command webp writes the assembly of package webp. It is a separate module so that
// the generator is not a dependency of the package. In the directory above this one:
//
//	go run ./webp -out ../webp_amd64.s -stubs ../webp_stubs_amd64.go -pkg webp
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// workStride is the distance of rows in the buffer of a macroblock.
const workStride = 32

func main() {
	ConstraintExpr("!noasm")
	readBlock()
	inverseDCT()
	addDC()
	for _, size := range []int{16, 8, 4} {
		predictTM(size)
	}
	filters()
	predictors()
	Generate()
}

// table puts bytes into read-only memory.
func table(name string, bytes []uint8) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, v := range bytes {
		DATA(i, U8(v))
	}
	return m
}

// bytes repeats a byte 16 times in read-only memory.
func bytes(name string, v uint8) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 16; i += 8 {
		DATA(i, U64(uint64(v)*0x0101010101010101))
	}
	return m
}

// words and dwords repeat a number over 16 bytes of read-only memory.
func words(name string, v int16) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 16; i += 8 {
		DATA(i, U64(uint64(uint16(v))*0x0001000100010001))
	}
	return m
}

func dwords(name string, v uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 16; i += 4 {
		DATA(i, U32(v))
	}
	return m
}

// xmms are n registers.
func xmms(n int) []VecVirtual {
	list := make([]VecVirtual, n)
	for i := range list {
		list[i] = XMM()
	}
	return list
}
