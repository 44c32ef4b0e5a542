package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/race"
)

// TestDecodeSteadyState: decoding images one after another takes no memory, whatever their
// coding.
func TestDecodeSteadyState(t *testing.T) {
	most := 15.0 // four, and what is made anew after a collection
	if race.Enabled {
		most = 60 // pools forget a quarter of what is put into them
	}
	for _, name := range []string{"made-ok-160x88.jpg", "made-ok-progressive.jpg", "zune-non_interleaved_420_64x64.jpg"} {
		data := testImage(t, name)
		h := header(t, data)
		var p Planar
		pix := make([]byte, h.Width*h.Height*3)
		n := testing.AllocsPerRun(50, func() {
			if err := ownSet.DecodePlanes(&p, data, h, Request{Denom: 1}); err != nil {
				t.Fatal(err)
			}
			if err := ownSet.Decode(pix, h.Width*3, data, h, Request{Format: RGB, Denom: 1}); err != nil {
				t.Fatal(err)
			}
		})
		if n > most {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestDecodeClaims: a small file that claims to be a large image is found out before memory is
// taken for that.
func TestDecodeClaims(t *testing.T) {
	for _, name := range []string{"made-ok-160x88.jpg", "made-ok-progressive.jpg"} {
		data := bytes.Clone(testImage(t, name))
		frame := bytes.Index(data, []byte{0xFF, header(t, data).SOF})
		binary.BigEndian.PutUint16(data[frame+5:], 60000)
		binary.BigEndian.PutUint16(data[frame+7:], 60000)
		h := header(t, data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := ownSet.DecodePlanes(new(Planar), data, h, Request{Denom: 1})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s of 60000x60000: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s of 60000x60000 took %d bytes", name, n)
		}
	}
}

// TestReleaseGivesBack: a checker with large buffers, and one that broke down, are not kept.
func TestReleaseGivesBack(t *testing.T) {
	large := make([]byte, maxKept+1)
	for name, corrupt := range map[string]func(c *checker){
		"segment":      func(c *checker) { c.segment = large },
		"plane":        func(c *checker) { c.pix[3] = large },
		"coefficients": func(c *checker) { c.planes[2].coefs = make([]block, maxKept/128+1) },
		"broken":       func(c *checker) { c.broken = true },
	} {
		c := takeChecker()
		corrupt(c)
		c.release()
		for range 10 {
			if takeChecker() == c {
				t.Errorf("%s: kept", name)
			}
		}
	}
}
