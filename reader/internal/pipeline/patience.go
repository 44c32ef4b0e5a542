package pipeline

import "time"

// patience says when a stage should hand on what it has, since its function takes long. It looks at
// the clock after the first of some calls, then after each of them if they are slow, and after a few
// otherwise.
type patience struct {
	began  time.Time
	calls  int
	next   int // call to look after
	stride int
}

// PatienceTime is how long a stage keeps what it has.
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
