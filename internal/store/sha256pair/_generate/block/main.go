// Command block writes the assembly of package sha256pair. In the directory above this one:
//
//	go run ./block -out ../block_amd64.s -stubs ../block_stubs_amd64.go -pkg sha256pair
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// constants are the constants of the 64 rounds (FIPS 180-4, 4.2.2).
var constants = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// stream is one of the two streams.
type stream struct {
	state      GPVirtual // points to its state, in the order of package crypto/sha256
	data       GPVirtual // points to its next block
	abef, cdgh VecVirtual
	words      [4]VecVirtual // the last 16 words of the schedule
	saved      Mem           // the state before the block
}

func main() {
	ConstraintExpr("!noasm")
	table := GLOBL("constants", RODATA|NOPTR)
	for i, k := range constants {
		DATA(4*i, U32(k))
	}
	order := GLOBL("bigEndian", RODATA|NOPTR)
	DATA(0, U64(0x0405060700010203))
	DATA(8, U64(0x0c0d0e0f08090a0b))

	TEXT("blocksSHANI", NOSPLIT, "func(a, b *[8]uint32, p, q *byte, blocks int)")
	Pragma("noescape")
	Doc("blocksSHANI hashes as many blocks of 64 bytes, at least one, of p into state a and of q into state",
		"b. One stream waits for the latency of SHA256RNDS2 most of the time, which the other fills.")
	streams := [2]*stream{{}, {}}
	for i, name := range []string{"a", "b"} {
		s := streams[i]
		s.state = Load(Param(name), GP64()).(GPVirtual)
		s.data = Load(Param([]string{"p", "q"}[i]), GP64()).(GPVirtual)
		s.saved = AllocLocal(32)
	}
	left := Load(Param("blocks"), GP64())
	swap := XMM()
	MOVOU(order, swap)
	for _, s := range streams {
		s.load()
	}
	Label("block")
	for _, s := range streams {
		MOVOU(s.abef, s.saved)
		MOVOU(s.cdgh, s.saved.Offset(16))
		for i := range s.words {
			s.words[i] = XMM()
		}
	}
	for i := range 16 {
		for _, s := range streams {
			s.fourRounds(i, table, swap)
		}
	}
	for _, s := range streams {
		for i, half := range []VecVirtual{s.abef, s.cdgh} {
			before := XMM()
			MOVOU(s.saved.Offset(16*i), before)
			PADDD(before, half)
		}
		ADDQ(Imm(64), s.data)
	}
	DECQ(left)
	JNZ(LabelRef("block"))
	for _, s := range streams {
		s.store()
	}
	RET()
	Generate()
}

// load loads the state: ABCD and EFGH become ABEF and CDGH, first word on top.
func (s *stream) load() {
	s.abef, s.cdgh = XMM(), XMM()
	dcba, hgfe := s.abef, s.cdgh
	MOVOU(Mem{Base: s.state}, dcba)
	MOVOU(Mem{Base: s.state, Disp: 16}, hgfe)
	PSHUFD(Imm(0xb1), dcba, dcba) // CDAB
	PSHUFD(Imm(0x1b), hgfe, hgfe) // EFGH
	t := XMM()
	MOVOA(dcba, t)
	PALIGNR(Imm(8), hgfe, dcba) // ABEF
	PBLENDW(Imm(0xf0), t, hgfe) // CDGH
}

// store is the reverse of load.
func (s *stream) store() {
	t := XMM()
	PSHUFD(Imm(0x1b), s.abef, s.abef) // FEBA
	PSHUFD(Imm(0xb1), s.cdgh, s.cdgh) // DCHG
	MOVOA(s.abef, t)
	PBLENDW(Imm(0xf0), s.cdgh, s.abef) // DCBA
	PALIGNR(Imm(8), t, s.cdgh)         // HGFE
	MOVOU(s.abef, Mem{Base: s.state})
	MOVOU(s.cdgh, Mem{Base: s.state, Disp: 16})
}

// fourRounds does rounds 4*i to 4*i+3, and its part of the schedule of later ones.
func (s *stream) fourRounds(i int, table Mem, swap VecVirtual) {
	now, previous, next := s.words[i%4], s.words[(i+3)%4], s.words[(i+1)%4]
	if i < 4 {
		MOVOU(Mem{Base: s.data, Disp: 16 * i}, now)
		PSHUFB(swap, now)
	}
	MOVOA(now, X0)
	PADDD(table.Offset(16*i), X0)
	SHA256RNDS2(X0, s.abef, s.cdgh)
	if 3 <= i && i < 15 {
		t := XMM()
		MOVOA(now, t)
		PALIGNR(Imm(4), previous, t)
		PADDD(t, next)
		SHA256MSG2(now, next)
	}
	PSHUFD(Imm(0x0e), X0, X0)
	SHA256RNDS2(X0, s.cdgh, s.abef)
	if 1 <= i && i < 13 {
		SHA256MSG1(now, previous)
	}
}
