package pipeline

import "time"

// patience limits how long a stage with a slow function holds results back. It looks at the clock
// after the first call, then after each call while calls are slow, and after every few otherwise.
type patience struct {
	began  time.Time
	calls  int
	next   int // call to look after
	stride int
}

// PatienceTime is the time for which a stage holds results back.
const PatienceTime = time.Millisecond

func NewPatience() patience { return patience{began: time.Now(), next: 1, stride: 1} }

// Over counts a call, and reports whether the time is over. It stays over.
func (p *patience) Over() bool {
	const mostStride = 8
	if p.calls++; p.calls < p.next {
		return false
	}
	if time.Since(p.began) > PatienceTime {
		return true
	}
	p.stride = min(2*p.stride, mostStride)
	p.next = p.calls + p.stride
	return false
}
