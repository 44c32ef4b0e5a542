package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// predictors inverts the predictions of lossless pixels that take longest, a pixel at a time: each
// depends on the one to the left of it.
func predictors() {
	predictor("invertSelectAVX2", func(left, top, corner VecVirtual) VecVirtual {
		far, near, best := XMM(), XMM(), XMM()
		VPSADBW(top, corner, near)
		VPSADBW(left, corner, far)
		VPCMPGTD(near, far, far) // all ones if left is to be taken
		VPXOR(top, left, best)
		VPAND(far, best, best)
		VPXOR(top, best, best)
		return best
	})
	predictor("invertGradientAVX2", func(left, top, corner VecVirtual) VecVirtual {
		for _, v := range []VecVirtual{left, top, corner} {
			VPMOVZXBW(v, v)
		}
		VPSUBW(corner, top, top)
		VPADDW(top, left, left)
		VPACKUSWB(left, left, left)
		return left
	})
	predictor("invertHalfAVX2", func(left, top, corner VecVirtual) VecVirtual {
		for _, v := range []VecVirtual{left, top, corner} {
			VPMOVZXBW(v, v)
		}
		VPADDW(top, left, left)
		VPSRLW(Imm(1), left, left)
		half, negative := XMM(), XMM()
		VPSUBW(corner, left, half)
		VPSRAW(Imm(15), half, negative)
		VPSUBW(negative, half, half)
		VPSRAW(Imm(1), half, half)
		VPADDW(half, left, left)
		VPACKUSWB(left, left, left)
		return left
	})
}

func predictor(name string, predict func(left, top, corner VecVirtual) VecVirtual) {
	TEXT(name, NOSPLIT, "func(run *uint8, left uint32, above *uint8, n int)")
	Doc(name+" inverts the prediction of n pixels, at least 1, after left.",
		"Above begins with the pixel over left.")
	run, above, n := Load(Param("run"), GP64()), Load(Param("above"), GP64()), Load(Param("n"), GP64())
	first, left := GP32(), XMM()
	Load(Param("left"), first)
	VMOVD(first, left)
	Label("pixels")
	top, corner, rest := XMM(), XMM(), XMM()
	VMOVD(Mem{Base: above}, corner)
	VMOVD(Mem{Base: above, Disp: 4}, top)
	VMOVD(Mem{Base: run}, rest)
	VPADDB(predict(left, top, corner), rest, left)
	VMOVD(left, Mem{Base: run})
	ADDQ(Imm(4), run)
	ADDQ(Imm(4), above)
	DECQ(n)
	JNE(LabelRef("pixels"))
	RET()
}
