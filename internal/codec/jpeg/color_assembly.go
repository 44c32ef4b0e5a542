//go:build (amd64 || arm64) && !noasm

package jpeg

//go:generate sh -c "cd _generate && go run ./color -out ../color_amd64.s -stubs ../color_stubs_amd64.go -pkg jpeg"

// wide is the number of samples that the assembly processes at a time. Its reference
// implementations process shorter rows.
const wide = 32

// doubleAcross doubles the width of two samples or more.
func doubleAcross(dst, src []byte) {
	n := len(src)
	if !hasVectors || n < wide+2 {
		doubleAcrossPlain(dst, src)
		return
	}
	_ = dst[2*n-1]
	dst[0], dst[1] = src[0], byte((3*int(src[0])+int(src[1])+2)>>2)
	doubleAcrossAsm(&dst[2], &src[1], n-2)
	dst[2*n-2], dst[2*n-1] = byte((3*int(src[n-1])+int(src[n-2])+1)>>2), src[n-1]
}

// doubleDown makes a row in between two.
func doubleDown(dst, near, far []byte, bias int) {
	n := len(near)
	if !hasVectors || n < wide {
		doubleDownPlain(dst, near, far, bias)
		return
	}
	_, _ = dst[n-1], far[n-1]
	doubleDownAsm(&dst[0], &near[0], &far[0], bias, n)
}

// doubleBoth doubles the width of a row in between two.
func doubleBoth(dst, near, far []byte) {
	n := len(near)
	if !hasVectors || n < wide+2 {
		doubleBothPlain(dst, near, far)
		return
	}
	_, _ = dst[2*n-1], far[n-1]
	doubleBothAsm(&dst[2], &near[1], &far[1], n-2)
	var ends [8]byte // two samples at either end
	doubleBothPlain(ends[:4], near[:2], far[:2])
	dst[0], dst[1] = ends[0], ends[1]
	doubleBothPlain(ends[4:], near[n-2:], far[n-2:])
	dst[2*n-2], dst[2*n-1] = ends[6], ends[7]
}
