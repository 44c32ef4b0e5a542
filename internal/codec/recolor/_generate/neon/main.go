// Command neon writes the assembly of package recolor for arm64.
// In the directory _generate:
//
//	go run ./neon -out ../rows_arm64.s -stubs ../rows_stubs_arm64.go -pkg recolor
package main

import (
	neon "github.com/tfrec/tfrec/internal/codec/_neon"
)

func main() {
	file := neon.NewFile("./neon")
	file.Data16("luminanceFactors", 19595, 38470, 7471, 0, 0, 0, 0, 0)
	luminanceRow(file)
	saturateRow(file)
	file.Write()
}

// luminance makes eight words in v6 of as many words of red, green and blue from v3 on. The factors
// are in v15. It uses v4 and v5 as well as v16 and v17.
func luminance(f *neon.Func) {
	for i, half := range [2][2]string{{"", "4h"}, {"2", "8h"}} {
		f.V("umull%s v%d.4s, v3.%s, v15.h[0]", half[0], 16+i, half[1])
		f.V("umlal%s v%d.4s, v4.%s, v15.h[1]", half[0], 16+i, half[1])
		f.V("umlal%s v%d.4s, v5.%s, v15.h[2]", half[0], 16+i, half[1])
	}
	f.V("rshrn v6.4h, v16.4s, #16")
	f.V("rshrn2 v6.8h, v17.4s, #16")
}

func luminanceRow(file *neon.File) {
	f := file.Func("luminanceRowNEON", "luminanceRowNEON makes n levels of gray, a multiple of 16, of pixels of RGB. dst may be src.", "dst, src *uint8, n int")
	f.Load("dst", "src", "n")
	f.Address("luminanceFactors", "R3")
	f.V("ldr q15, [x3]")
	f.Label("pixels")
	f.V("ld3 {v0.16b, v1.16b, v2.16b}, [x1], #48")
	for _, half := range [2][2]string{{"", "8b"}, {"2", "16b"}} {
		for channel := range 3 {
			f.V("ushll%s v%d.8h, v%d.%s, #0", half[0], 3+channel, channel, half[1])
		}
		luminance(f)
		f.V("xtn%s v7.%s, v6.8h", half[0], half[1])
	}
	f.V("st1 {v7.16b}, [x0], #16")
	f.Op("SUBS $16, R2, R2")
	f.Op("BNE pixels")
	f.Op("RET")
}

// saturateRow follows blender.mix in float32: the product rounded, then the sum, the fraction cut
// off, the rest clipped.
func saturateRow(file *neon.File) {
	f := file.Func("saturateRowNEON", "saturateRowNEON mixes n pixels of RGB, a multiple of 8, with their luminance. dst may be src.", "dst, src *uint8, factor float32, n int")
	f.Load("dst", "src")
	f.Op("FMOVS factor+16(FP), F14")
	f.Op("MOVD n+24(FP), R2")
	f.V("dup v14.4s, v14.s[0]")
	f.Address("luminanceFactors", "R3")
	f.V("ldr q15, [x3]")
	f.Label("pixels")
	f.V("ld3 {v0.8b, v1.8b, v2.8b}, [x1], #24")
	for channel := range 3 {
		f.V("ushll v%d.8h, v%d.8b, #0", 3+channel, channel)
	}
	luminance(f)
	f.V("xtn v7.8b, v6.8h")
	f.V("ushll v20.4s, v6.4h, #0")
	f.V("ushll2 v21.4s, v6.8h, #0")
	for half := range 2 {
		f.V("scvtf v%d.4s, v%d.4s", 20+half, 20+half)
	}
	for channel := range 3 {
		f.V("usubl v3.8h, v%d.8b, v7.8b", channel)
		f.V("sshll v16.4s, v3.4h, #0")
		f.V("sshll2 v17.4s, v3.8h, #0")
		for half := range 2 {
			v := 16 + half
			f.V("scvtf v%d.4s, v%d.4s", v, v)
			f.V("fmul v%d.4s, v%d.4s, v14.4s", v, v)
			f.V("fadd v%d.4s, v%d.4s, v%d.4s", v, 20+half, v)
			f.V("fcvtzs v%d.4s, v%d.4s", v, v)
		}
		f.V("sqxtn v3.4h, v16.4s")
		f.V("sqxtn2 v3.8h, v17.4s")
		f.V("sqxtun v%d.8b, v3.8h", channel)
	}
	f.V("st3 {v0.8b, v1.8b, v2.8b}, [x0], #24")
	f.Op("SUBS $8, R2, R2")
	f.Op("BNE pixels")
	f.Op("RET")
}
