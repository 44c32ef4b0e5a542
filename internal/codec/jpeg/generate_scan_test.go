package jpeg

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// scanEncoder codes a scan twice: at first it only notes which symbols occur.
type scanEncoder struct {
	*generator
	scan   *scanScript
	noting bool
	occurs [2][4][256]bool
	tables [2][4]*generatedTable
	w      bitWriter
	means  [4]int32

	eobs    int    // blocks that end, not coded yet
	refined []byte // the bits that follow their code
}

// appendScan appends a scan with its tables.
func (g *generator) appendScan(out []byte, s *scanScript) []byte {
	if g.IntN(3) == 0 {
		s.restart = 1 + g.IntN(10)
	}
	tables := 4
	if g.sof == markerSOF0 {
		tables = 2
	}
	head := []byte{byte(len(s.components))}
	for _, i := range s.components {
		s.dc, s.ac = append(s.dc, g.IntN(tables)), append(s.ac, g.IntN(tables))
		head = append(head, byte(g.components[i].id), byte(s.dc[len(s.dc)-1]<<4|s.ac[len(s.ac)-1]))
	}
	e := &scanEncoder{generator: g, scan: s, noting: true}
	seed, old := [2]uint64{g.Uint64(), g.Uint64()}, g.Rand
	g.Rand = rand.New(rand.NewPCG(seed[0], seed[1]))
	e.encode()
	g.Rand = old
	var body []byte
	for class := range 2 {
		for id := range 4 {
			wanted := class == 0 && slices.Contains(s.dc, id) && s.ss == 0 && s.ah == 0 || class == 1 && slices.Contains(s.ac, id) && s.se > 0
			if wanted || e.occurs[class][id] != [256]bool{} {
				e.tables[class][id] = g.makeTable(class, id, &e.occurs[class][id])
				body = append(body, e.tables[class][id].body...)
			}
		}
	}
	if len(body) > 0 {
		out = append(out, segmentOf(markerDHT, body...)...)
	}
	out = append(out, segmentOf(markerDRI, byte(s.restart>>8), byte(s.restart))...)
	out = append(out, segmentOf(markerSOS, append(head, byte(s.ss), byte(s.se), byte(s.ah<<4|s.al))...)...)
	e.noting, e.means = false, [4]int32{}
	old = g.Rand
	g.Rand = rand.New(rand.NewPCG(seed[0], seed[1])) // the same choices again
	e.encode()
	g.Rand = old
	return append(out, e.w.out...)
}

func (e *scanEncoder) bits(v uint32, n uint) {
	if !e.noting {
		for ; n > 16; n -= 16 {
			e.w.put(uint64(v>>(n-16))&0xFFFF, 16)
		}
		e.w.put(uint64(v)&(1<<n-1), n)
	}
}

func (e *scanEncoder) symbol(class, id int, s byte) {
	if e.noting {
		e.occurs[class][id][s] = true
		return
	}
	t := e.tables[class][id]
	e.bits(t.code[s], t.size[s])
}

// value codes a symbol with a run and the amplitude of v.
func (e *scanEncoder) value(class, id, run int, v int32) {
	size := uint(bits.Len32(uint32(max(v, -v))))
	e.symbol(class, id, byte(run<<4)|byte(size))
	if v < 0 {
		v += 1<<size - 1
	}
	e.bits(uint32(v), size)
}

// encode codes all MCUs with their restart markers.
func (e *scanEncoder) encode() {
	s := e.scan
	first := e.components[s.components[0]]
	across, down := first.wide, first.high
	if len(s.components) > 1 {
		across, down = ceilDiv(e.generator.w, 8*e.hmax), ceilDiv(e.h, 8*e.vmax)
	}
	for unit := range across * down {
		if s.restart > 0 && unit > 0 && unit%s.restart == 0 {
			e.endOfBlocks()
			if e.means = [4]int32{}; !e.noting {
				e.w.end()
				e.w.out = append(e.w.out, 0xFF, byte(markerRST0+(unit/s.restart-1)%8))
			}
		}
		row, column := unit/across, unit%across
		for i, component := range s.components {
			c := e.components[component]
			h, v := c.h, c.v
			if len(s.components) == 1 {
				h, v = 1, 1
			}
			for y := range v {
				for x := range h {
					e.block(i, &c.blocks[(row*v+y)*c.stride+column*h+x])
				}
			}
		}
	}
	e.endOfBlocks()
	if !e.noting {
		e.w.end()
	}
}

// endOfBlocks codes the run of blocks that end.
func (e *scanEncoder) endOfBlocks() {
	if e.eobs == 0 {
		return
	}
	n := uint(bits.Len(uint(e.eobs))) - 1
	e.symbol(1, e.scan.ac[0], byte(n<<4))
	e.bits(uint32(e.eobs)&(1<<n-1), n)
	for _, b := range e.refined {
		e.bits(uint32(b), 1)
	}
	e.eobs, e.refined = 0, nil
}

// block codes what the scan has of a block.
func (e *scanEncoder) block(i int, b *[64]int32) {
	s := e.scan
	switch {
	case !e.progressive:
		e.mean(i, b[0])
		e.coefficients(i, b, func(run int) {
			if run > 0 {
				e.symbol(1, s.ac[i], 0)
			}
		}, func() {})
	case s.ss == 0 && s.ah == 0:
		e.mean(i, b[0]>>s.al)
	case s.ss == 0:
		e.bits(uint32(b[0]>>s.al)&1, 1)
	case s.ah == 0:
		e.coefficients(0, b, func(run int) {
			if run == 0 {
				return
			}
			if e.eobs++; e.eobs == 0x7FFF || e.IntN(6) == 0 {
				e.endOfBlocks()
			}
		}, e.endOfBlocks)
	default:
		e.refine(b)
	}
}

// mean codes a DC coefficient.
func (e *scanEncoder) mean(i int, v int32) {
	e.value(0, e.scan.dc[i], 0, v-e.means[i])
	e.means[i] = v
}

// shifted is a coefficient at the precision of the scan.
func (e *scanEncoder) shifted(v int32) int32 {
	if v < 0 {
		return -(-v >> e.scan.al)
	}
	return v >> e.scan.al
}

// coefficients codes AC coefficients for the first time; before is called before each, end with the
// zeros at the end.
func (e *scanEncoder) coefficients(i int, b *[64]int32, end func(run int), before func()) {
	run := 0
	for k := max(1, e.scan.ss); k <= e.scan.se; k++ {
		v := e.shifted(b[k])
		if v == 0 {
			run++
			continue
		}
		before()
		for ; run > 15; run -= 16 {
			e.symbol(1, e.scan.ac[i], 0xF0)
		}
		e.value(1, e.scan.ac[i], run, v)
		run = 0
	}
	end(run)
}

// refine codes a bit more of AC coefficients (ITU-T T.81, G.1.2.3).
func (e *scanEncoder) refine(b *[64]int32) {
	s := e.scan
	last := 0 // the last coefficient that is new
	for k := s.ss; k <= s.se; k++ {
		if v := e.shifted(b[k]); v == 1 || v == -1 {
			last = k
		}
	}
	run := 0
	var refined []byte
	code := func(symbol byte) {
		e.endOfBlocks()
		e.symbol(1, s.ac[0], symbol)
	}
	flush := func() {
		for _, b := range refined {
			e.bits(uint32(b), 1)
		}
		refined, run = nil, 0
	}
	for k := s.ss; k <= s.se; k++ {
		v := e.shifted(b[k])
		if v == 0 {
			run++
			continue
		}
		for run > 15 && k <= last {
			left := run - 16
			code(0xF0)
			flush()
			run = left
		}
		if v > 1 || v < -1 {
			refined = append(refined, byte(max(v, -v)&1))
			continue
		}
		code(byte(run<<4) | 1)
		e.bits(uint32(v+1)/2, 1)
		flush()
	}
	if run > 0 || len(refined) > 0 {
		e.eobs++
		e.refined = append(e.refined, refined...)
		if e.eobs == 0x7FFF || len(e.refined) > 900 {
			e.endOfBlocks()
		}
	}
}
