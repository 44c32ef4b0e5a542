// Command dct writes the assembly of the cosine transforms of package jpeg. In the directory above:
//
//	go run ./dct -out ../dct_amd64.s -stubs ../dct_stubs_amd64.go -pkg jpeg
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!noasm")
	idct8()
	idct4()
	idct2()
	fdct()
	Generate()
}
