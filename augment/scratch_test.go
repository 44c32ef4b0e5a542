package augment

import "testing"

// TestLargeBuffersAreGivenBack: what a large image made grow is not kept for the next one.
func TestLargeBuffersAreGivenBack(t *testing.T) {
	var s Scratch
	c := new(Codec)
	s.Codec = c
	s.memory.drawn.Pix, s.memory.resizing.rows = make([]uint8, 10), make([]uint8, 10)
	if s.Trim(); s.memory.drawn.Pix == nil || s.memory.resizing.rows == nil {
		t.Error("small buffers are gone")
	}
	for name, grow := range map[string]func(){
		"rows":   func() { s.memory.resizing.rows = make([]uint8, keptBytes+1) },
		"wide":   func() { s.memory.resizing.wide = make([]int16, keptBytes/2+1) },
		"drawn":  func() { s.memory.drawn.Pix = make([]uint8, keptBytes+1) },
		"planes": func() { s.memory.planes.Cr.Pix = make([]uint8, keptBytes+1) },
		"steps":  func() { s.memory.steps.draw[1].Pix = make([]uint8, keptBytes+1) },
		"totals": func() { s.memory.steps.totals = make([]uint64, keptBytes/8+1) },
	} {
		grow()
		if s.Trim(); s.memory.resizing.rows != nil || s.memory.resizing.wide != nil || s.memory.drawn.Pix != nil || s.memory.planes.Cr.Pix != nil || s.memory.steps.draw[1].Pix != nil || s.memory.steps.totals != nil {
			t.Errorf("%s: kept", name)
		}
	}
	if s.Codec != c {
		t.Error("the codec is gone")
	}
}
