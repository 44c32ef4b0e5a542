//go:build !linux

package doctor

// loadMeter would say how busy other processes are, which is only measured on Linux.
type loadMeter struct{}

func newLoadMeter() *loadMeter      { return nil }
func (*loadMeter) others() *float64 { return nil }
