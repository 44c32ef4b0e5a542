package inflate

// adlerMod is the modulus of Adler-32, and adlerMost as many bytes as may be summed before sums of
// 32 bits overflow.
const (
	adlerMod  = 65521
	adlerMost = 5552
)

// Adler continues an Adler-32 (RFC 1950), which begins with 1.
func Adler(sum uint32, data []byte) uint32 { return adler(sum, data) }

// adlerPlain continues an Adler-32 (RFC 1950), which begins with 1.
func adlerPlain(sum uint32, data []byte) uint32 {
	a, b := sum&0xFFFF, sum>>16
	for len(data) > 0 {
		part := data[:min(len(data), adlerMost)]
		data = data[len(part):]
		for ; len(part) >= 8; part = part[8:] {
			p := part[:8]
			a += uint32(p[0])
			b += a
			a += uint32(p[1])
			b += a
			a += uint32(p[2])
			b += a
			a += uint32(p[3])
			b += a
			a += uint32(p[4])
			b += a
			a += uint32(p[5])
			b += a
			a += uint32(p[6])
			b += a
			a += uint32(p[7])
			b += a
		}
		for _, v := range part {
			a += uint32(v)
			b += a
		}
		a %= adlerMod
		b %= adlerMod
	}
	return b<<16 | a
}
