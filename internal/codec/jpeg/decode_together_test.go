package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// spare are processors for tests; it counts how often one was taken.
type spare struct{ free, taken atomic.Int64 }

func newSpare(n int64) *spare {
	s := new(spare)
	s.free.Store(n)
	return s
}

func (s *spare) TryAcquire() bool {
	if s.free.Add(-1) < 0 {
		s.free.Add(1)
		return false
	}
	s.taken.Add(1)
	return true
}

func (s *spare) Release() { s.free.Add(1) }

// withRestarts makes a 4:2:0 image of random blocks with a restart marker after every interval MCUs.
func withRestarts(r *rand.Rand, w, h, interval int) []byte {
	out := slices.Concat([]byte{0xFF, markerSOI},
		segmentOf(markerDQT, append([]byte{0}, bytes.Repeat([]byte{7}, 64)...)...),
		segmentOf(markerSOF0, 8, byte(h>>8), byte(h), byte(w>>8), byte(w), 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0),
		// Codes of two bits: of a DC coefficient the sizes 0 to 2; no more, and values of one and of two bits.
		segmentOf(markerDHT, append(append([]byte{0, 0, 3}, make([]byte, 14)...), 0, 1, 2)...),
		segmentOf(markerDHT, append(append([]byte{0x10, 0, 3}, make([]byte, 14)...), 0x00, 0x11, 0x22)...),
		segmentOf(markerDRI, byte(interval>>8), byte(interval)),
		segmentOf(markerSOS, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0))
	units := ceilDiv(w, 16) * ceilDiv(h, 16)
	for unit, number := 0, 0; unit < units; number++ {
		if unit > 0 {
			out = append(out, 0xFF, markerRST0+byte((number-1)&7))
		}
		var b bitWriter
		for end := min(unit+interval, units); unit < end; unit++ {
			for range 6 {
				size := uint(r.IntN(3))
				b.put(uint64(size), 2)
				b.put(r.Uint64()&(1<<size-1), size)
				for range r.IntN(3) {
					size := 1 + uint(r.IntN(2))
					b.put(uint64(size), 2)
					b.put(r.Uint64()&(1<<size-1), size)
				}
				b.put(0, 2)
			}
		}
		out = append(out, b.end()...)
	}
	return append(out, 0xFF, markerEOI)
}

// TestDecodeTogether: with processors that are spare, an image with restart markers gives the same
// planes, pixels and verdict, sound or damaged, and the processors are given back.
func TestDecodeTogether(t *testing.T) {
	const w, h = 1000, 900
	r := rand.New(rand.NewPCG(31, 32))
	sound, damaged := 0, 0
	for _, interval := range []int{1, 7, 63, 64, 1000, 5000} {
		image := withRestarts(r, w, h, interval)
		for try := range 6 {
			data := slices.Clone(image)
			for range try { // the first is sound
				switch at := 700 + r.IntN(len(data)-700); r.IntN(3) {
				case 0:
					data[at] ^= 1 << r.IntN(8)
				case 1:
					data = slices.Delete(data, at, min(at+1+r.IntN(3), len(data)))
				default:
					data = slices.Insert(data, at, byte(r.Uint32()))
				}
			}
			h := header(t, data)
			alone, free := newSpare(0), newSpare(1+r.Int64N(4))
			n := free.free.Load()
			var planes [2]Planar
			var pixels [2][]byte
			var errs [2][2]error
			for i, s := range []Spare{alone, free} {
				errs[i][0] = ownSet.DecodePlanes(&planes[i], data, h, Request{Denom: 1, Spare: s})
				pixels[i] = make([]byte, 3*h.Width*h.Height)
				errs[i][1] = ownSet.Decode(pixels[i], 3*h.Width, data, h, Request{Format: RGB, Denom: 1, Spare: s})
			}
			if fmt.Sprint(errs[0]) != fmt.Sprint(errs[1]) {
				t.Errorf("interval %d: %v, alone %v", interval, errs[1], errs[0])
			}
			if errs[0][0] == nil {
				sound++
				if !bytes.Equal(pixels[0], pixels[1]) || !slices.EqualFunc(planes[0].Pix[:], planes[1].Pix[:], bytes.Equal) {
					t.Errorf("interval %d: other samples than alone", interval)
				}
			} else {
				damaged++
			}
			if free.free.Load() != n {
				t.Errorf("interval %d: %d of %d processors were given back", interval, free.free.Load(), n)
			}
			if try == 0 && (free.taken.Load() == 0) != (interval == 5000) { // of 3591 MCUs
				t.Errorf("interval %d: a processor was taken %d times", interval, free.taken.Load())
			}
		}
	}
	t.Logf("%d sound, %d damaged", sound, damaged)
	if sound < 6 || damaged < 10 {
		t.Error("too few to prove anything")
	}
}

// BenchmarkDecodeTogether decodes an image of 16 megapixels with a restart marker after each row of
// MCUs, with up to three processors that are spare.
func BenchmarkDecodeTogether(b *testing.B) {
	data := withRestarts(rand.New(rand.NewPCG(33, 34)), 4096, 4096, 256)
	h := header(b, data)
	for n := range int64(4) {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var p Planar
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := ownSet.DecodePlanes(&p, data, h, Request{Denom: 1, Spare: newSpare(n)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
