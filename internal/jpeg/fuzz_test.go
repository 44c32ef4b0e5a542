package jpeg

import (
	"errors"
	"testing"
)

// FuzzCheck feeds anything to the header parser and the check: errors wrap a sentinel,
// nothing panics, and libjpeg's warnings find nothing in what passed.
func FuzzCheck(f *testing.F) {
	for _, name := range sound {
		if data := picture(f, name); len(data) < 8<<10 {
			f.Add(data)
		}
	}
	turbo := backends(f)["turbo"]
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ParseHeader(data)
		if err == nil {
			err = Check(data, &h)
		}
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("%v wraps no sentinel", err)
			}
			return
		}
		if turbo == nil || h.Width*h.Height > 1<<20 || turbo.Supports(&h) != nil {
			return
		}
		pix := make([]byte, h.Width*h.Height*3)
		if err := turbo.Decode(pix, h.Width*3, data, &h, Request{Format: RGB, Denom: 1}); err != nil {
			t.Errorf("the check passed what libjpeg refuses: %v", err)
		}
	})
}
