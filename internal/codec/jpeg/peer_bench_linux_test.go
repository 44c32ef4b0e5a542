//go:build linux && (amd64 || arm64) && !android && !static

package jpeg

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// transcoded is the image with the same coefficients in progressive coding, by libjpeg-turbo.
func transcoded(b testing.TB, data []byte) []byte {
	b.Helper()
	lib, err := purego.Dlopen(turboNames()[0], purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		b.Skip(err)
	}
	// The functions and struct tjtransform of turbojpeg.h.
	const progressive = 32
	var (
		initTransform func() uintptr
		transform     func(handle uintptr, data *byte, size uint64, n int32, out, sizes, transforms unsafe.Pointer, flags int32) int32
		free          func(uintptr)
		destroy       func(uintptr) int32
	)
	purego.RegisterLibFunc(&initTransform, lib, "tjInitTransform")
	purego.RegisterLibFunc(&transform, lib, "tjTransform")
	purego.RegisterLibFunc(&free, lib, "tjFree")
	purego.RegisterLibFunc(&destroy, lib, "tjDestroy")
	call := &struct {
		out        unsafe.Pointer
		size       uint64
		x, y, w, h int32
		op         int32
		options    int32
		data       uintptr
		filter     uintptr
	}{options: progressive}
	handle := initTransform()
	defer destroy(handle)
	if transform(handle, &data[0], uint64(len(data)), 1, unsafe.Pointer(&call.out), unsafe.Pointer(&call.size), unsafe.Pointer(&call.x), 0) != 0 {
		b.Fatal("tjTransform failed")
	}
	defer free(uintptr(call.out))
	return slices.Clone(unsafe.Slice((*byte)(call.out), call.size))
}

// BenchmarkPeer decodes the photographs by the decoder of this package and by libjpeg-turbo, which
// does not look for damage, in turns. ratio is how much more CPU time the latter takes: the median
// of all turns.
func BenchmarkPeer(b *testing.B) {
	peer := theirs(b)
	list, _, _ := photographs(b)
	kinds := []struct {
		name string
		make func(data []byte) []byte
	}{
		{"420", func(data []byte) []byte { return encodedAs(b, data, Sub420) }},
		{"422", func(data []byte) []byte { return encodedAs(b, data, Sub422) }},
		{"444", func(data []byte) []byte { return data }},
		{"progressive-420", func(data []byte) []byte { return transcoded(b, encodedAs(b, data, Sub420)) }},
		{"progressive-444", func(data []byte) []byte { return transcoded(b, data) }},
		{"gray", func(data []byte) []byte { return encodedAs(b, data, SubGray) }},
		{"stored-RGB", func(data []byte) []byte { return storedRGB(encodedAs(b, data, Sub444)) }},
	}
	for _, kind := range kinds {
		var images [][]byte
		var headers []*Header
		for _, data := range list {
			image := kind.make(data)
			images, headers = append(images, image), append(headers, header(b, image))
		}
		for _, denom := range []int{1, 2} {
			name := map[int]string{1: "whole", 2: "half"}[denom]
			b.Run(kind.name+"/"+name+"/RGB", func(b *testing.B) {
				var pix []byte
				inTurns(b, peer, func(d decoder) {
					for i, data := range images {
						h := headers[i]
						w, ht := h.Scaled(denom)
						r := native(h, Request{Format: RGB, Denom: denom})
						stride := w * r.Format.Bytes()
						pix = slices.Grow(pix[:0], stride*ht)[:stride*ht]
						if err := d.decode(pix, stride, data, h, r); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
			if _, ok := headers[0].sampling(); !ok {
				continue
			}
			b.Run(kind.name+"/"+name+"/planes", func(b *testing.B) {
				var planes Planar
				inTurns(b, peer, func(d decoder) {
					for i, data := range images {
						if err := d.(planeDecoder).decodePlanes(&planes, data, headers[i], Request{Denom: denom}); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// inTurns runs decode with this package's decoder and with the other one.
func inTurns(b *testing.B, peer decoder, decode func(d decoder)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ratios, times []float64
	decode(own{})
	decode(peer)
	for b.Loop() {
		t0 := threadTime(b)
		decode(own{})
		t1 := threadTime(b)
		decode(peer)
		t2 := threadTime(b)
		ratios = append(ratios, float64(t2-t1)/float64(t1-t0))
		times = append(times, float64(t1-t0)/1e6)
	}
	slices.Sort(ratios)
	slices.Sort(times)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(times[len(times)/2], "own-ms/op")
	b.ReportMetric(0, "ns/op")
}

// storedRGB has a decoder take the components for red, green and blue.
func storedRGB(data []byte) []byte {
	return slices.Concat(data[:2], segmentOf(markerAPPE, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0), data[20:])
}
