//go:build !amd64 || noasm

package inflate

// decodeFast is decodeFastPlain.
func (c *codec) decodeFast() (end bool) { return c.decodeFastPlain() }
