//go:build cuda && linux && amd64 && cgo

package nvjpeg_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/tfrec/tfrec/gpu/internal/fakecuda"
	"github.com/tfrec/tfrec/gpu/internal/nvjpeg"
)

// TestReserve decodes batches of changing sizes: nvJPEG allocates for the first few, and not for each
// that is larger in a way than those before. Where it cannot allocate beforehand it decodes as well.
func TestReserve(t *testing.T) {
	fakecuda.Use(t)
	rng := rand.New(rand.NewPCG(13, 14))
	allocations := func(fail string) int64 {
		_, s, decoder := open(t)
		fakecuda.Set(t, "FAIL", fail)
		before, _ := fakecuda.Now()
		const most = 60
		b, err := s.Alloc(2 * (most + 3) * most)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			batch := make([]nvjpeg.Image, 1+rng.IntN(12))
			for i := range batch {
				data := makeJPEG(t, 1+rng.IntN(most), 1+rng.IntN(most), rng.IntN(4) == 0)
				info, err := decoder.Parse(data)
				if err != nil {
					t.Fatal(err)
				}
				planes, _ := planesOf(info)
				batch[i] = nvjpeg.Image{Data: data, To: b, Planes: planes}
			}
			if err := errors.Join(decoder.Decode(batch), decoder.Wait()); err != nil {
				t.Fatal(err)
			}
			for i := range batch {
				if batch[i].Err != nil || batch[i].Backend != nvjpeg.Hardware {
					t.Fatal(batch[i].Err, batch[i].Backend)
				}
			}
		}
		after, _ := fakecuda.Now()
		return after.Reserved - before.Reserved
	}
	if n := allocations(""); n != 2 {
		t.Errorf("nvJPEG allocates %d times; want once for colour and once for gray", n)
	}
	if n := allocations("nvjpegDecodeBatchedPreAllocate:1+:8"); n < 5 {
		t.Errorf("without reserving, nvJPEG allocates %d times: the test shows nothing", n)
	}
}
