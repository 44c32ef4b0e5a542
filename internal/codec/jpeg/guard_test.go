//go:build linux && (amd64 || arm64) && !noasm

package jpeg

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guardedMemory is between two inaccessible pages: the assembly may read and write what it was
// given, and nothing around it.
type guardedMemory struct {
	t     *testing.T
	r     *rand.Rand
	atEnd bool // it ends where the second page begins, otherwise it begins where the first one ends
}

// bytes gives n random bytes.
func (g guardedMemory) bytes(n int) []byte {
	page := unix.Getpagesize()
	room := max(1, ceilDiv(n, page)) * page
	all, err := unix.Mmap(-1, 0, room+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = unix.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+room:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			g.t.Fatal(err)
		}
	}
	part := all[page : page+n : page+n]
	if g.atEnd {
		part = all[page+room-n : page+room : page+room]
	}
	randomSamples(g.r, part)
	return part
}

// blocks gives n random blocks.
func (g guardedMemory) blocks(n int) []block {
	return unsafe.Slice((*block)(unsafe.Pointer(&g.bytes(128 * n)[0])), n)
}

// eachGuard runs f with memory before and after a guard.
func eachGuard(t *testing.T, f func(t *testing.T, g guardedMemory)) {
	for name, atEnd := range map[string]bool{"begin": false, "end": true} {
		t.Run(name, func(t *testing.T) { f(t, guardedMemory{t, rand.New(rand.NewPCG(1, 2)), atEnd}) })
	}
}

// TestGuardRows: what is done to rows stays within them.
func TestGuardRows(t *testing.T) {
	eachGuard(t, func(t *testing.T, g guardedMemory) {
		for n := 2; n < 140; n++ {
			near, far, cr := g.bytes(n), g.bytes(n), g.bytes(n)
			rgb, double, down := g.bytes(3*n), g.bytes(2*n), g.bytes(n)
			convertRow(rgb, near, far, cr)
			doubleAcross(double, near)
			doubleBoth(double, near, far)
			doubleDown(down, near, far, 1)

			room := ceilDiv(n, 32) * 32
			fromRGB(g.bytes(room), g.bytes(room), g.bytes(room), rgb, n)
			for _, f := range [][2]int{{2, 1}, {1, 2}, {2, 2}} {
				halve(g.bytes(room), g.bytes(room*f[0]*f[1]), f[0], f[1])
			}
		}
	})
}

// TestGuardConversion: conversions that enlarge the chroma stay within planes, pixels and sums.
func TestGuardConversion(t *testing.T) {
	eachGuard(t, func(t *testing.T, g guardedMemory) {
		const h = 5
		for w := 62; w < 270; w++ {
			var e [2]upsampler
			half, fy := ceilDiv(w, 2), 1+w/2%2
			for i := range e {
				rows := ceilDiv(h, fy)
				e[i].reset(g.bytes(rows*half), half, half, rows, 2, fy, true)
			}
			c := conversion{dst: g.bytes(h * 3 * w), stride: 3 * w, luma: g.bytes(h * w), pitch: w, w: w, cb: &e[0], cr: &e[1], bottom: h}
			c.convert()
			want := bytes.Clone(c.dst)
			if n := len(e[0].sums); n > 0 {
				e[0].sums = unsafe.Slice((*int16)(unsafe.Pointer(&g.bytes(2 * n)[0])), n)
				c.convert()
			}
			if !bytes.Equal(c.dst, want) {
				t.Fatalf("%d pixels: other colors with no room to spare", w)
			}
		}
	})
}

// TestGuardTransforms: the transforms stay within their blocks and planes.
func TestGuardTransforms(t *testing.T) {
	eachGuard(t, func(t *testing.T, g guardedMemory) {
		quant := (*[64]uint16)(unsafe.Pointer(&g.bytes(128)[0]))
		steps, d := [64]uint16{}, divisors{}
		for i := range steps {
			steps[i] = uint16(1 + i)
		}
		d.set(&steps)
		for n := 1; n < 20; n++ {
			coefs := g.blocks(n)
			for _, f := range idctReferences {
				stride := f.size*n + n%3
				f.fast(g.bytes(stride*(f.size-1)+f.size*n), stride, coefs, quant)
			}
			even := (n + 1) / 2 * 2
			nonzero := unsafe.Slice((*uint64)(unsafe.Pointer(&g.bytes(8 * even)[0])), even)
			fdct(g.blocks(even), nonzero, blockLayout{1, 2}, g.bytes(8*8*even), 8*even, &d, n)
		}
	})
}

// TestGuardDecode decodes generated images, and what mutation makes of them, with buffers that end
// or begin at a guard: whole decoding, with MCUs that are cut off and rows of any length.
func TestGuardDecode(t *testing.T) {
	eachGuard(t, func(t *testing.T, g guardedMemory) {
		decoded := 0
		for range 150 {
			data := generate(g.r)
			if g.r.IntN(2) == 0 {
				data = mutateImage(g.r, data)
			}
			h, err := ParseHeader(data)
			if err != nil || ownSet.Supports(&h) != nil || h.Width*h.Height > 1<<13 {
				continue
			}
			request := native(&h, Request{Format: []Format{Gray, RGB}[g.r.IntN(2)], Denom: 1 << g.r.IntN(4)})
			w, ht := h.Scaled(request.Denom)
			row := w * request.Format.Bytes()
			var free, tight checker
			want, got := make([]byte, row*ht), g.bytes(row*ht)
			wantErr := free.decode(want, row, data, &h, request)
			tight.segment, tight.coefs, tight.rows.line = g.bytes(len(free.segment))[:0], g.blocks(runBlocks), g.bytes(cap(free.rows.line))[:0]
			var planes [4][]byte
			for i, pix := range free.pix {
				planes[i] = g.bytes(len(pix))
				tight.pix[i] = planes[i][:0]
			}
			guarded := g.bytes(len(data))
			copy(guarded, data)
			if err := tight.decode(got, row, guarded, &h, request); fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s: %v, and with room to spare %v", h.coding(), err, wantErr)
			}
			if wantErr == nil && !bytes.Equal(got, want) {
				t.Fatalf("%s: other pixels than with room to spare", h.coding())
			}
			for i, pix := range tight.pix {
				if wantErr == nil && len(pix) > 0 && &pix[0] != &planes[i][0] {
					t.Fatalf("%s: plane %d is not in the guarded memory", h.coding(), i)
				}
			}
			if wantErr == nil {
				decoded++
			}
		}
		if decoded < 50 {
			t.Errorf("%d images were decoded: too few to prove anything", decoded)
		}
	})
}

// TestGuardEntropy: decoding reads no further than the padding after a segment, even for the
// longest codes, and coding writes no more than it has room for.
func TestGuardEntropy(t *testing.T) {
	longest := func(symbol byte, ac bool) *huffTable {
		table := new(huffTable)
		table.set([]byte{15: 1}, []byte{symbol})
		if err := table.derive(ac); err != nil {
			t.Fatal(err)
		}
		table.pair()
		return table
	}
	code := blockCode{dc: longest(15, false), ac: longest(0x0F, true), step: 1}
	codes := standardCodes()
	eachGuard(t, func(t *testing.T, g guardedMemory) {
		for n := 1; n < 520; n += 3 {
			buf := g.bytes(n + padding)
			clear(buf)
			r := bitReader{buf: buf, end: 8 * n}
			if f := r.decodeBlocks(g.blocks(4), []blockCode{code}, new([4]int32), 4); f != short {
				t.Errorf("%d bytes of the longest codes: fault %d", n, f)
			}
		}
		for n := 1; n < 20; n++ {
			coefs := g.blocks(n)
			nonzero := bytes.Repeat([]byte{0xFF}, 8*n)
			for i := range coefs {
				for k := range coefs[i] {
					coefs[i][k] = 1023 // as long as codes are
				}
				coefs[i][0] = int16(i%2*2047 - 1024)
			}
			var e entropyState
			e.blocks(g.bytes(n*maxBlockBytes+storeSlack), coefs, unsafe.Slice((*uint64)(unsafe.Pointer(&nonzero[0])), n), []codedBlock{{&codes[n%2], 0}})
		}
	})
}
