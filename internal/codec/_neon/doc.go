// Package neon writes assembly for arm64 in the syntax of Go's assembler, which does not know most
// vector instructions. These are written as in ARM's manual, encoded here, and become WORDs with
// the instruction in a comment.
//
//	f := file.Func("sumNEON", "sumNEON adds n bytes up.", "dst *uint32, src *uint8, n int")
//	f.Load("dst", "src", "n")
//	f.V("ld1 {v0.16b, v1.16b}, [x1], #32")
//	f.V("uaddlp v%d.8h, v%d.16b", 2, 0)
//	f.Op("SUBS $32, R2, R2")
//
// Encodings follow the tables "Advanced SIMD" of the Arm Architecture Reference Manual for
// A-profile, C4.1. The generator fails for an instruction that is not in the tables here.
package neon
