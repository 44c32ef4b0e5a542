package main

import (
	neon "github.com/tfrec/tfrec/internal/codec/_neon"
)

// half is the suffix of instructions on the lower or upper half of registers, and the arrangements
// of these halves as bytes and as words of 16 bits.
type half struct{ suffix, bytes, words string }

var halves = [2]half{{"", "8b", "4h"}, {"2", "16b", "8h"}}

// convertRow converts 16 pixels at a time. The factors of libjpeg are in 16 bits of fraction; what
// exceeds a word of them is added without a multiplication.
func convertRow(file *neon.File) {
	file.Data16("convertFactors", 91881-1<<16, 116130-2<<16, -22554, 1<<16-46802, 0, 0, 0, 0)
	f := file.Func("convertRowAsm", "convertRowAsm converts n pixels, at least 32, to RGB.", "dst, luma, cb, cr *uint8, n int")
	f.Load("dst", "luma", "cb", "cr", "n")
	f.Op("SUB $16, R4, R4")
	f.Op("MOVD $0, R5")
	f.Address("convertFactors", "R6")
	f.V("ldr q15, [x6]")
	constant(f, 14, "16b", 128)

	f.Label("pixels")
	f.V("ldr q0, [x1, x5]")
	f.V("ldr q1, [x2, x5]")
	f.V("ldr q2, [x3, x5]")
	for _, h := range halves {
		f.V("ushll%s v3.8h, v0.%s, #0", h.suffix, h.bytes)
		f.V("usubl%s v4.8h, v1.%s, v14.%s", h.suffix, h.bytes, h.bytes)
		f.V("usubl%s v5.8h, v2.%s, v14.%s", h.suffix, h.bytes, h.bytes)
		for i, k := range halves {
			f.V("smull%s v%d.4s, v5.%s, v15.h[0]", k.suffix, 16+i, k.words)
			f.V("smull%s v%d.4s, v4.%s, v15.h[2]", k.suffix, 18+i, k.words)
			f.V("smull%s v%d.4s, v4.%s, v15.h[1]", k.suffix, 20+i, k.words)
			f.V("smlal%s v%d.4s, v5.%s, v15.h[3]", k.suffix, 18+i, k.words)
		}
		for channel := range 3 {
			f.V("rshrn v%d.4h, v%d.4s, #16", 22+channel, 16+2*channel)
			f.V("rshrn2 v%d.8h, v%d.4s, #16", 22+channel, 17+2*channel)
		}
		f.V("add v22.8h, v22.8h, v5.8h")
		f.V("sub v23.8h, v23.8h, v5.8h")
		f.V("add v24.8h, v24.8h, v4.8h")
		f.V("add v24.8h, v24.8h, v4.8h")
		for channel := range 3 {
			f.V("add v%d.8h, v%d.8h, v3.8h", 22+channel, 22+channel)
			f.V("sqxtun%s v%d.%s, v%d.8h", h.suffix, 25+channel, h.bytes, 22+channel)
		}
	}
	f.Op("ADD R5<<1, R5, R6")
	f.Op("ADD R0, R6")
	f.V("st3 {v25.16b, v26.16b, v27.16b}, [x6]")
	f.Next("R5", "R4", 16, "pixels")
	f.Op("RET")
}

// doubleBoth makes 32 samples at a time: sums of the rows, then of neighbours.
func doubleBoth(file *neon.File) {
	f := file.Func("doubleBothAsm", "doubleBothAsm makes 2n samples of n, at least 32, in between two rows; it reads one to each side.", "dst, near, far *uint8, n int")
	f.Load("dst", "near", "far", "n")
	f.Op("SUB $16, R3, R3")
	f.Op("MOVD $0, R4")
	constant(f, 14, "16b", 3)
	constant(f, 15, "8h", 3)
	constant(f, 13, "8h", 7)

	f.Label("samples")
	f.Op("ADD R4, R1, R5")
	f.Op("ADD R4, R2, R6")
	f.Op("SUB $1, R5")
	f.Op("SUB $1, R6")
	for i := range 3 { // before, here, after
		f.V("ld1 {v%d.16b}, [x5]", i)
		f.V("ld1 {v%d.16b}, [x6]", 3+i)
		f.Op("ADD $1, R5")
		f.Op("ADD $1, R6")
	}
	for j, h := range halves {
		for i := range 3 {
			f.V("ushll%s v%d.8h, v%d.%s, #0", h.suffix, 16+i, 3+i, h.bytes)
			f.V("umlal%s v%d.8h, v%d.%s, v14.%s", h.suffix, 16+i, i, h.bytes, h.bytes)
		}
		f.V("mla v16.8h, v17.8h, v15.h[0]")
		f.V("mla v18.8h, v17.8h, v15.h[0]")
		f.V("add v18.8h, v18.8h, v13.8h")
		f.V("rshrn%s v20.%s, v16.8h, #4", halves[j].suffix, h.bytes)
		f.V("shrn%s v21.%s, v18.8h, #4", halves[j].suffix, h.bytes)
	}
	f.Op("ADD R4<<1, R0, R5")
	f.V("st2 {v20.16b, v21.16b}, [x5]")
	f.Next("R4", "R3", 16, "samples")
	f.Op("RET")
}

func doubleAcross(file *neon.File) {
	f := file.Func("doubleAcrossAsm", "doubleAcrossAsm makes 2n samples of n, at least 32; it reads one to each side.", "dst, src *uint8, n int")
	f.Load("dst", "src", "n")
	f.Op("SUB $16, R2, R2")
	f.Op("MOVD $0, R4")
	constant(f, 14, "16b", 3)
	constant(f, 13, "8h", 1)

	f.Label("samples")
	f.Op("ADD R4, R1, R5")
	f.Op("SUB $1, R5")
	for i := range 3 {
		f.V("ld1 {v%d.16b}, [x5]", i)
		f.Op("ADD $1, R5")
	}
	for _, h := range halves {
		f.V("ushll%s v16.8h, v0.%s, #0", h.suffix, h.bytes)
		f.V("ushll%s v17.8h, v2.%s, #0", h.suffix, h.bytes)
		f.V("umlal%s v16.8h, v1.%s, v14.%s", h.suffix, h.bytes, h.bytes)
		f.V("umlal%s v17.8h, v1.%s, v14.%s", h.suffix, h.bytes, h.bytes)
		f.V("add v16.8h, v16.8h, v13.8h")
		f.V("shrn%s v20.%s, v16.8h, #2", h.suffix, h.bytes)
		f.V("rshrn%s v21.%s, v17.8h, #2", h.suffix, h.bytes)
	}
	f.Op("ADD R4<<1, R0, R5")
	f.V("st2 {v20.16b, v21.16b}, [x5]")
	f.Next("R4", "R2", 16, "samples")
	f.Op("RET")
}

func doubleDown(file *neon.File) {
	f := file.Func("doubleDownAsm", "doubleDownAsm makes n samples, at least 32, in between two rows.", "dst, near, far *uint8, bias, n int")
	f.Load("dst", "near", "far", "bias", "n")
	f.Op("SUB $16, R4, R4")
	f.Op("MOVD $0, R5")
	constant(f, 14, "16b", 3)
	f.V("dup v13.8h, w3")

	f.Label("samples")
	f.V("ldr q0, [x1, x5]")
	f.V("ldr q1, [x2, x5]")
	for _, h := range halves {
		f.V("ushll%s v16.8h, v1.%s, #0", h.suffix, h.bytes)
		f.V("umlal%s v16.8h, v0.%s, v14.%s", h.suffix, h.bytes, h.bytes)
		f.V("add v16.8h, v16.8h, v13.8h")
		f.V("shrn%s v20.%s, v16.8h, #2", h.suffix, h.bytes)
	}
	f.V("str q20, [x0, x5]")
	f.Next("R5", "R4", 16, "samples")
	f.Op("RET")
}

// fromRGB converts 16 pixels at a time. All factors are words of 16 bits without a sign.
func fromRGB(file *neon.File) {
	file.Data16("fromRGBFactors", 19595, 38470, 7471, 11059, 21709, 32768, 27439, 5329)
	f := file.Func("fromRGBAsm", "fromRGBAsm converts n pixels, a multiple of 32, to luma and chroma.", "luma, cb, cr, rgb *uint8, n int")
	f.Load("luma", "cb", "cr", "rgb", "n")
	f.Address("fromRGBFactors", "R5")
	f.V("ldr q15, [x5]")
	constant(f, 14, "4s", 128<<16+1<<15-1)

	f.Label("pixels")
	f.V("ld3 {v0.16b, v1.16b, v2.16b}, [x3], #48")
	for _, h := range halves {
		for channel := range 3 {
			f.V("ushll%s v%d.8h, v%d.%s, #0", h.suffix, 3+channel, channel, h.bytes)
		}
		for i, k := range halves {
			luma, cb, cr := 16+i, 18+i, 20+i
			f.V("umull%s v%d.4s, v3.%s, v15.h[0]", k.suffix, luma, k.words)
			f.V("mov v%d.16b, v14.16b", cb)
			f.V("mov v%d.16b, v14.16b", cr)
			f.V("umlal%s v%d.4s, v4.%s, v15.h[1]", k.suffix, luma, k.words)
			f.V("umlal%s v%d.4s, v5.%s, v15.h[5]", k.suffix, cb, k.words)
			f.V("umlal%s v%d.4s, v3.%s, v15.h[5]", k.suffix, cr, k.words)
			f.V("umlal%s v%d.4s, v5.%s, v15.h[2]", k.suffix, luma, k.words)
			f.V("umlsl%s v%d.4s, v3.%s, v15.h[3]", k.suffix, cb, k.words)
			f.V("umlsl%s v%d.4s, v4.%s, v15.h[6]", k.suffix, cr, k.words)
			f.V("umlsl%s v%d.4s, v4.%s, v15.h[4]", k.suffix, cb, k.words)
			f.V("umlsl%s v%d.4s, v5.%s, v15.h[7]", k.suffix, cr, k.words)
		}
		for plane, narrow := range []string{"rshrn", "shrn", "shrn"} {
			f.V("%s v%d.4h, v%d.4s, #16", narrow, 22+plane, 16+2*plane)
			f.V("%s2 v%d.8h, v%d.4s, #16", narrow, 22+plane, 17+2*plane)
			f.V("xtn%s v%d.%s, v%d.8h", h.suffix, 25+plane, h.bytes, 22+plane)
		}
	}
	for plane := range 3 {
		f.V("st1 {v%d.16b}, [x%d], #16", 25+plane, plane)
	}
	f.Op("SUBS $16, R4, R4")
	f.Op("BNE pixels")
	f.Op("RET")
}

// halve makes 16 samples at a time.
func halve(file *neon.File, name string, across, down int) {
	f := file.Func(name, name+" makes n samples, a multiple of 32, of each "+string(rune('0'+across))+" by "+string(rune('0'+down))+".", "dst, src, below *uint8, n int")
	f.Load("dst", "src", "below", "n")
	// What rounds is less by one at the samples with even numbers.
	constant(f, 15, "4s", (down/2+1)<<16|down/2)

	f.Label("samples")
	if across == 1 {
		f.V("ld1 {v0.16b}, [x1], #16")
		f.V("ld1 {v1.16b}, [x2], #16")
		f.V("urhadd v0.16b, v0.16b, v1.16b")
	} else {
		f.V("ld1 {v0.16b, v1.16b}, [x1], #32")
		if down == 2 {
			f.V("ld1 {v2.16b, v3.16b}, [x2], #32")
		}
		for i, h := range halves {
			f.V("uaddlp v4.8h, v%d.16b", i)
			if down == 2 {
				f.V("uadalp v4.8h, v%d.16b", 2+i)
			}
			f.V("add v4.8h, v4.8h, v15.8h")
			f.V("shrn%s v5.%s, v4.8h, #%d", h.suffix, h.bytes, down)
		}
		f.V("mov v0.16b, v5.16b")
	}
	f.V("st1 {v0.16b}, [x0], #16")
	f.Op("SUBS $16, R3, R3")
	f.Op("BNE samples")
	f.Op("RET")
}
