//go:build !noasm

package inflate

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _generate && go run ./decode -out ../decode_amd64.s -stubs ../decode_stubs_amd64.go -pkg inflate"

// hasBMI2 reports whether the processor has the shifts and shuffles of the assembly. Tests turn it
// off.
var hasBMI2 = cpu.X86.HasBMI2 && cpu.X86.HasSSSE3

// The assembly knows where these are.
var (
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.bits)-0]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.count)-8]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.in)-16]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.at)-40]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.out)-48]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.pos)-72]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.start)-80]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.lit)-88]
	_ = [1]struct{}{}[unsafe.Offsetof(codec{}.dist)-96]

	_ = [1]struct{}{}[litBits-11]
	_ = [1]struct{}{}[distBits-9]
	_ = [1]struct{}{}[inSlack-24]
	_ = [1]struct{}{}[slack-(4*2+258+64)]
)

// decodeFast is decodeFastPlain, by assembly where it runs.
func (c *codec) decodeFast() (end bool) {
	if !hasBMI2 {
		return c.decodeFastPlain()
	}
	return decodeFastBMI2((*uint64)(unsafe.Pointer(c))) != 0
}
