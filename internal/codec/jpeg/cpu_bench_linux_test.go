//go:build linux

package jpeg

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is how much CPU the thread has used.
func threadTime(b testing.TB) time.Duration {
	b.Helper()
	var t unix.Timespec // finer than getrusage
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// BenchmarkSpeculation decodes images of 16 megapixels without restart markers in order and in
// pieces, both by this goroutine, in turns. cost is how much more CPU time pieces take, ordered the
// part of that which only one goroutine at a time can do: medians of all turns.
func BenchmarkSpeculation(b *testing.B) {
	for _, sub := range []Subsampling{Sub420, Sub444} {
		b.Run(sub.String(), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c := walked(b, mosaic(b, 4096, 4096, sub))
			s, h := &c.scan, &helper{coefs: make([]block, runBlocks), scan: c.scan}
			h.scan.coefs = h.coefs
			var costs, parts []float64
			for b.Loop() {
				r := c.bits
				t0 := threadTime(b)
				if f := decodeSequential(&r, s, 0, s.units); f != 0 {
					b.Fatal(f)
				}
				t1 := threadTime(b)
				w := c.speculation(s, 0, s.units)
				var ordered time.Duration
				for piece := range w.pieces {
					h.guess.decode(w, piece)
					t := threadTime(b)
					m, ok := w.settle(h, piece)
					if ordered += threadTime(b) - t; !ok {
						b.Fatal("it failed")
					}
					h.guess.place(w, m)
				}
				t2 := threadTime(b)
				costs, parts = append(costs, float64(t2-t1)/float64(t1-t0)), append(parts, float64(ordered)/float64(t2-t1))
			}
			slices.Sort(costs)
			slices.Sort(parts)
			b.ReportMetric(costs[len(costs)/2], "cost")
			b.ReportMetric(parts[len(parts)/2], "ordered")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkBesidePlanes decodes the photographs to planes and to RGB in turns. ratio is how much more CPU
// time RGB takes: the median of all turns.
func BenchmarkBesidePlanes(b *testing.B) {
	list, _, _ := photographs(b)
	for _, sub := range []Subsampling{Sub420, Sub422, Sub444, Sub440} {
		b.Run(sub.String(), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var images [][]byte
			var headers []*Header
			pixels := 0
			for _, data := range list {
				data = encodedAs(b, data, sub)
				h := header(b, data)
				images, headers = append(images, data), append(headers, h)
				pixels += h.Width * h.Height
			}
			var planes Planar
			var pix []byte
			var ratios, times []float64
			for b.Loop() {
				t0 := threadTime(b)
				for i, data := range images {
					if err := ownSet.DecodePlanes(&planes, data, headers[i], Request{Denom: 1}); err != nil {
						b.Fatal(err)
					}
				}
				t1 := threadTime(b)
				for i, data := range images {
					h := headers[i]
					pix = slices.Grow(pix[:0], 3*h.Width*h.Height)[:3*h.Width*h.Height]
					if err := ownSet.Decode(pix, 3*h.Width, data, h, Request{Format: RGB, Denom: 1}); err != nil {
						b.Fatal(err)
					}
				}
				t2 := threadTime(b)
				ratios = append(ratios, float64(t2-t1)/float64(t1-t0))
				times = append(times, float64(t1-t0)/float64(pixels))
			}
			slices.Sort(ratios)
			slices.Sort(times)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(times[len(times)/2], "planes-ns/pixel")
			b.ReportMetric(times[len(times)/2]*(ratios[len(ratios)/2]-1), "more-ns/pixel")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// encodedAs is the image encoded with another subsampling, of about the same size.
func encodedAs(b testing.TB, data []byte, sub Subsampling) []byte {
	b.Helper()
	h := header(b, data)
	pix := decodeWith(b, ownSet, data, Request{Format: RGB, Denom: 1})
	out, err := ownSet.Append(nil, Pixels{Pix: pix, Width: h.Width, Height: h.Height, Stride: 3 * h.Width, Format: RGB}, 90, sub)
	if err != nil {
		b.Fatal(err)
	}
	return out
}
