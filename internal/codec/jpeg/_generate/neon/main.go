// Command neon writes the assembly of package jpeg for arm64. In the directory above this one:
//
//	go run ./neon -out ../vectors_arm64.s -stubs ../vectors_stubs_arm64.go -pkg jpeg
package main

import (
	neon "github.com/tfrec/tfrec/internal/codec/_neon"
)

func main() {
	file := neon.NewFile("./neon")
	idct8(file)
	idct4(file)
	idct2(file)
	fdct(file)
	convertRow(file)
	doubleBoth(file)
	doubleAcross(file)
	doubleDown(file)
	fromRGB(file)
	halve(file, "halveAcrossAsm", 2, 1)
	halve(file, "halveDownAsm", 1, 2)
	halve(file, "halveBothAsm", 2, 2)
	file.Write()
}

// constant repeats a value of 8 or 16 bits in a register.
func constant(f *neon.Func, register int, arrangement string, v int) {
	f.Op("MOVD $%d, R19", v)
	f.V("dup v%d.%s, w19", register, arrangement)
}

// clear makes a register zero.
func clear(f *neon.Func, register int) {
	f.V("eor v%d.16b, v%d.16b, v%d.16b", register, register, register)
}
