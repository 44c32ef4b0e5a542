package jpeg

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/cpuload"
	"github.com/tfrec/tfrec/internal/dev/race"
)

// bitWriter writes entropy-coded data.
type bitWriter struct {
	out  []byte
	acc  uint64
	have uint
}

func (w *bitWriter) put(v uint64, n uint) {
	for w.acc, w.have = w.acc<<n|v, w.have+n; w.have >= 8; w.have -= 8 {
		b := byte(w.acc >> (w.have - 8))
		if w.out = append(w.out, b); b == 0xFF {
			w.out = append(w.out, 0)
		}
	}
}

// end fills the last byte with ones.
func (w *bitWriter) end() []byte {
	if w.have > 0 {
		w.put(1<<(8-w.have)-1, 8-w.have)
	}
	return w.out
}

// segmentOf makes a segment.
func segmentOf(marker byte, body ...byte) []byte {
	return append([]byte{0xFF, marker, byte((len(body) + 2) >> 8), byte(len(body) + 2)}, body...)
}

// busyProgressive makes a progressive image of n components, all gray, whose scans go over it as
// often as they may: up to scans times, with next to no data.
func busyProgressive(side, n, scans int) []byte {
	dqt := append([]byte{0}, slices.Repeat([]byte{1}, 64)...)
	frame := []byte{8, byte(side >> 8), byte(side), byte(side >> 8), byte(side), byte(n)}
	// One code of one bit for each class: no difference, and the longest run of blocks that have
	// nothing.
	dht := slices.Concat([]byte{0x00, 1}, make([]byte, 15), []byte{0}, []byte{0x10, 1}, make([]byte, 15), []byte{0xE0})
	dc := []byte{byte(n)}
	for i := range n {
		frame = append(frame, byte(i+1), 0x11, 0)
		dc = append(dc, byte(i+1), 0)
	}
	across := ceilDiv(side, 8)
	blocks := across * across
	out := slices.Concat([]byte{0xFF, markerSOI}, segmentOf(markerDQT, dqt...), segmentOf(markerSOF2, frame...), segmentOf(markerDHT, dht...))
	var w bitWriter
	for range blocks * n {
		w.put(0, 1)
	}
	out = slices.Concat(out, segmentOf(markerSOS, append(dc, 0, 0, 0)...), w.end())
	for k, ah := 1, 0; scans > 1; scans-- {
		al := 13
		if ah > 0 {
			al = ah - 1
		}
		for i := range n {
			var w bitWriter
			for left := blocks; left > 0; left -= 1<<14 + 1<<14 - 1 {
				w.put(0, 1)
				w.put(1<<14-1, 14)
			}
			out = slices.Concat(out, segmentOf(markerSOS, 1, byte(i+1), 0, byte(k), byte(k), byte(ah<<4|al)), w.end())
			if scans--; scans <= 1 {
				break
			}
		}
		scans++
		if ah = al; al == 0 {
			k, ah = k+1, 0
		}
	}
	return append(out, 0xFF, markerEOI)
}

// TestBusyScans: the scans of a progressive image take a bounded time for each pixel, however many
// they are, and decoding takes the memory that the header says.
func TestBusyScans(t *testing.T) {
	race.Skip(t)
	const side = 2000
	for _, test := range []struct {
		n, scans int
		ok       bool
	}{{1, 10, true}, {1, 64, true}, {1, 70, false}, {1, maxScans, false}, {3, 64, true}, {4, maxScans, false}} {
		data := busyProgressive(side, test.n, test.scans)
		h := header(t, data)
		dst := make([]byte, side*side*3)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := cpuload.Used()
		err := ownSet.Decode(dst, side*3, data, h, Request{Format: RGB, Denom: 1})
		took := cpuload.Used() - began
		runtime.ReadMemStats(&after)
		if test.ok && err != nil || !test.ok && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "64 times")) {
			t.Errorf("%+v: %v", test, err)
		}
		each, n := took/(side*side), int64(after.TotalAlloc-before.TotalAlloc)
		if race.Enabled {
			continue
		}
		t.Logf("%+v, %d bytes: %v a pixel, %d bytes allocated, %d said", test, len(data), each, n, h.Memory())
		if each > 2*time.Microsecond { // 30 ns on an idle machine
			t.Errorf("%+v: %v a pixel", test, each)
		}
		if n > h.Memory()+h.Memory()/50+1<<20 {
			t.Errorf("%+v: %d bytes were allocated, Memory says %d", test, n, h.Memory())
		}
	}
}
