package workspace

import (
	"testing"

	"github.com/tfrec/tfrec/internal/codec/imagefile"
)

// TestLargeBuffersAreGivenBack: what a large image made grow is not kept for the next one.
func TestLargeBuffersAreGivenBack(t *testing.T) {
	var s Scratch
	c := new(imagefile.Codec)
	s.Codec = c
	s.memory.Drawn.Pix, s.memory.Resizing.Rows = make([]uint8, 10), make([]uint8, 10)
	if s.Trim(); s.memory.Drawn.Pix == nil || s.memory.Resizing.Rows == nil {
		t.Error("small buffers are gone")
	}
	for name, grow := range map[string]func(){
		"rows":   func() { s.memory.Resizing.Rows = make([]uint8, imagefile.KeptBytes+1) },
		"wide":   func() { s.memory.Resizing.Wide = make([]int16, imagefile.KeptBytes/2+1) },
		"drawn":  func() { s.memory.Drawn.Pix = make([]uint8, imagefile.KeptBytes+1) },
		"planes": func() { s.memory.Planes.Cr.Pix = make([]uint8, imagefile.KeptBytes+1) },
		"steps":  func() { s.memory.Steps.Draw[1].Pix = make([]uint8, imagefile.KeptBytes+1) },
		"totals": func() { s.memory.Steps.Totals = make([]uint64, imagefile.KeptBytes/8+1) },
	} {
		grow()
		if s.Trim(); s.memory.Resizing.Rows != nil || s.memory.Resizing.Wide != nil || s.memory.Drawn.Pix != nil || s.memory.Planes.Cr.Pix != nil || s.memory.Steps.Draw[1].Pix != nil || s.memory.Steps.Totals != nil {
			t.Errorf("%s: kept", name)
		}
	}
	if s.Codec != c {
		t.Error("the codec is gone")
	}
}
