//go:build !noasm

package jpeg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// mustRefine refines random blocks by random bits and a random table, with the assembly and with
// its reference implementation, and returns the fault.
func mustRefine(t *testing.T, r *rand.Rand, data []byte) fault {
	t.Helper()
	symbols := []byte{0x01, 0x11, 0x00, 0x21, 0x31, 0xF0, 0x10, 0x51, 0xE0, 0xF1, 0x20, 0x41, 0xA1, 0x02, 0x4F}
	n := len(symbols) - 2
	if r.IntN(4) == 0 {
		n = len(symbols)
	}
	table := randomTable(r, symbols[:1+r.IntN(n)])
	if table.derive(true) != nil {
		t.Fatal("a table is refused")
	}
	ss := 1 + r.IntN(63)
	if r.IntN(2) == 0 {
		ss = 1
	}
	se := ss + r.IntN(64-ss)
	if r.IntN(2) == 0 {
		se = 63
	}
	start := band{table: table, mask: ^uint64(0) >> ss & (^uint64(0) << (63 - se)), al: r.IntN(14)}
	if r.IntN(8) == 0 {
		start.ended = r.IntN(40)
	}
	density := []int{0, 1, 3, 10, 31, 32}[r.IntN(6)]
	coefs := make([]block, 1+r.IntN(40))
	known := make([]uint64, len(coefs))
	for i := range coefs {
		for k := 1; k < 64; k++ {
			if r.IntN(32) < density {
				known[i] |= 1 << (63 - k)
				coefs[i][naturalOrder[k]] = int16(r.IntN(1<<16)) | 1
			}
		}
	}
	type state struct {
		r     bitReader
		band  band
		coefs []block
		known []uint64
		f     fault
	}
	var states [3]state
	for i := range states {
		s := &states[i]
		*s = state{bitReader{buf: slices.Concat(data, zeros[:]), end: 8 * len(data)}, start, slices.Clone(coefs), slices.Clone(known), 0}
		switch i {
		case 0:
			s.f = s.r.refineBandPlain(&s.band, s.coefs, s.known)
		case 1:
			s.f = s.r.refineBand(&s.band, s.coefs, s.known)
		case 2: // for the verdict alone
			s.f = s.r.refineBand(&s.band, nil, s.known)
		}
	}
	want := &states[0]
	for i := 1; i < len(states); i++ {
		got := &states[i]
		if got.f != want.f || got.r.consumed() != want.r.consumed() {
			t.Fatalf("%d to %d: fault %d after %d bits, the reference implementation %d after %d", ss, se, got.f, got.r.consumed(), want.f, want.r.consumed())
		}
		if got.f != 0 {
			continue
		}
		if got.band != want.band || !slices.Equal(got.known, want.known) || i == 1 && !slices.Equal(got.coefs, want.coefs) {
			t.Fatalf("%d to %d: other coefficients than by the reference implementation", ss, se)
		}
	}
	return want.f
}

// TestRefineReference: the assembly refines as its reference implementation does.
func TestRefineReference(t *testing.T) {
	if !hasVectors || !hasPDEP {
		t.Skip("no assembly here")
	}
	r := rand.New(rand.NewPCG(8, 9))
	var faults [5]int
	for range 4000 {
		faults[mustRefine(t, r, randomBytes(r, 1+r.IntN(600)))]++
	}
	t.Logf("faults %v", faults)
	if faults[0] < 300 || faults[short] == 0 || faults[badCode] == 0 || faults[overrun] == 0 {
		t.Error("too few to prove anything")
	}
}

// FuzzRefineReference is TestRefineReference of any bits.
func FuzzRefineReference(f *testing.F) {
	f.Add(uint64(1), []byte{0})
	f.Add(uint64(2), []byte("some bits, of which there are more than one block can use"))
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		if len(data) < 1<<14 {
			mustRefine(t, rand.New(rand.NewPCG(seed, 10)), data)
		}
	})
}
