package jpeg

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// This file and generate_scan_test.go make sound JPEGs of any kind that the format has: any
// coefficients, Huffman tables with codes of up to 16 bits, any sampling, quantisation of 8 and 16
// bits, scans in any order, restart intervals.

// generatedComponent is one component with all of its coefficients, in zigzag order.
type generatedComponent struct {
	id, h, v, tq int
	wide, high   int // blocks in a scan of this component alone
	stride, rows int // blocks when interleaved
	blocks       [][64]int32
}

// generator makes one image.
type generator struct {
	*rand.Rand
	w, h        int
	hmax, vmax  int
	components  []*generatedComponent
	sof         byte
	progressive bool
}

// pick is one of some numbers.
func (g *generator) pick(numbers ...int) int { return numbers[g.IntN(len(numbers))] }

// generate makes a sound image.
func generate(r *rand.Rand) []byte {
	g := &generator{Rand: r, sof: byte(markerSOF0 + r.IntN(3))}
	g.progressive = g.sof == markerSOF2
	side := g.pick(40, 40, 40, 40, 40, 40, 150)
	g.w, g.h = 1+r.IntN(side), 1+r.IntN(side)
	if r.IntN(4) == 0 {
		g.w = 1 + r.IntN(9)
	}
	if r.IntN(4) == 0 {
		g.h = 1 + r.IntN(9)
	}
	g.sample(g.pick(1, 3, 3, 3, 3, 4))
	g.fill()

	out := []byte{0xFF, markerSOI}
	switch r.IntN(4) {
	case 0:
		out = append(out, segmentOf(markerAPP0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")...)...)
	case 1:
		out = append(out, segmentOf(markerAPPE, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, byte(r.IntN(3)))...)
	}
	out = append(out, segmentOf(markerDQT, g.quantisation()...)...)
	frame := []byte{8, byte(g.h >> 8), byte(g.h), byte(g.w >> 8), byte(g.w), byte(len(g.components))}
	for _, c := range g.components {
		frame = append(frame, byte(c.id), byte(c.h<<4|c.v), byte(c.tq))
	}
	out = append(out, segmentOf(g.sof, frame...)...)
	if len(g.components) == 1 { // factors of a single component mean nothing
		g.components[0].h, g.components[0].v = 1, 1
	}
	for _, s := range g.script() {
		out = g.appendScan(out, s)
	}
	if r.IntN(6) == 0 {
		out = append(out, 0xFF, 0xFF)
	}
	return append(out, 0xFF, markerEOI)
}

// sample makes n components of some sampling.
func (g *generator) sample(n int) {
	ids := [4]int{1, 2, 3, 4}
	switch g.IntN(6) {
	case 0:
		ids = [4]int{'R', 'G', 'B', 'A'}
	case 1:
		ids = [4]int{0, 17, 34, 51}
	}
	hmax, vmax := g.pick(1, 2, 2, 2, 3, 4, 4), g.pick(1, 2, 2, 2, 3, 4, 4)
	kind := g.IntN(5)
	for i := range n {
		c := &generatedComponent{id: ids[i], h: 1, v: 1, tq: g.IntN(4)}
		switch {
		case kind == 0: // any that divide the largest
			for {
				if c.h, c.v = 1+g.IntN(hmax), 1+g.IntN(vmax); hmax%c.h == 0 && vmax%c.v == 0 {
					break
				}
			}
			if i == n-1 || g.IntN(2) == 0 {
				c.h, c.v = hmax, vmax
			}
		case i == 0:
			c.h, c.v = g.pick(1, 2, 2, 1, 4), g.pick(1, 2, 1, 2, 1)
		case i == 3:
			c.h, c.v = g.components[0].h, g.components[0].v
		}
		g.components = append(g.components, c)
		g.hmax, g.vmax = max(g.hmax, c.h), max(g.vmax, c.v)
	}
	if n == 1 {
		g.components[0].h, g.components[0].v = 1+g.IntN(4), 1+g.IntN(4)
		g.hmax, g.vmax = 1, 1
	}
}

// fill makes up the coefficients.
func (g *generator) fill() {
	density := g.pick(1, 3, 10, 64, 200, 1000) // in a thousand
	acBits, dcBits := g.pick(1, 2, 4, 7, 9, 10, 11, 14, 15), g.pick(1, 6, 9, 10, 11, 13, 14)
	if g.IntN(3) > 0 {
		acBits, dcBits = min(acBits, 7), min(dcBits, 9)
	}
	for _, c := range g.components {
		h, v := c.h, c.v
		if len(g.components) == 1 {
			h, v = 1, 1
		}
		c.wide, c.high = ceilDiv(ceilDiv(g.w*h, g.hmax), 8), ceilDiv(ceilDiv(g.h*v, g.vmax), 8)
		c.stride, c.rows = ceilDiv(g.w, 8*g.hmax)*h, ceilDiv(g.h, 8*g.vmax)*v
		c.blocks = make([][64]int32, c.stride*c.rows)
		mean := int32(0)
		for i := range c.blocks {
			b := &c.blocks[i]
			if g.IntN(3) > 0 {
				mean = int32(g.IntN(2<<dcBits)) - 1<<dcBits
			}
			if b[0] = mean; g.IntN(4) == 0 {
				continue
			}
			for k := 1; k < 1+g.IntN(64); k++ {
				if g.IntN(1000) < density {
					b[k] = int32(g.IntN(1<<(1+g.IntN(acBits)))) * int32(1-2*g.IntN(2))
				}
			}
		}
	}
}

// quantisation is the body of a DQT segment with all four tables.
func (g *generator) quantisation() (body []byte) {
	wide := g.IntN(4) == 0
	for id := range 4 {
		words := wide && id%2 == 0
		if words {
			body = append(body, byte(0x10|id))
		} else {
			body = append(body, byte(id))
		}
		top := g.pick(2, 20, 256)
		for range 64 {
			q := g.IntN(top)
			if g.IntN(20) > 0 {
				q = max(q, 1)
			}
			if words {
				if g.IntN(10) == 0 {
					q = g.IntN(1 << 16)
				}
				body = append(body, byte(q>>8))
			}
			body = append(body, byte(q))
		}
	}
	return body
}

// scanScript is what one scan is of.
type scanScript struct {
	components     []int
	ss, se, ah, al int
	dc, ac         []int // tables of each
	restart        int
}

// script decides on scans.
func (g *generator) script() (scans []*scanScript) {
	var groups [][]int
	rest := make([]int, len(g.components))
	for i := range rest {
		rest[i] = i
	}
	for len(rest) > 0 {
		n := len(rest)
		if g.IntN(3) == 0 {
			n = 1 + g.IntN(n)
		}
		groups, rest = append(groups, rest[:n]), rest[n:]
	}
	g.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	if !g.progressive {
		for _, group := range groups {
			scans = append(scans, &scanScript{components: group, se: 63})
		}
		return scans
	}
	// Each track is a band: its scans come in order, tracks in any.
	var tracks [][]*scanScript
	track := func(components []int, ss, se, top int) []*scanScript {
		al := g.IntN(top + 1)
		list := []*scanScript{{components: components, ss: ss, se: se, al: al}}
		for ; al > 0; al-- {
			list = append(list, &scanScript{components: components, ss: ss, se: se, ah: al, al: al - 1})
		}
		return list
	}
	top := g.pick(0, 1, 2, 3, 5, 13)
	for _, group := range groups {
		list := track(group, 0, 0, top)
		scans, tracks = append(scans, list[0]), append(tracks, list[1:])
	}
	for i := range g.components {
		for k := 1; k < 64; {
			end := 63
			if g.IntN(2) == 0 {
				end = min(63, k+g.IntN(64))
			}
			tracks = append(tracks, track([]int{i}, k, end, top))
			k = end + 1
		}
	}
	for len(tracks) > 0 {
		i := g.IntN(len(tracks))
		if len(tracks[i]) == 0 {
			tracks = slices.Delete(tracks, i, i+1)
			continue
		}
		scans, tracks[i] = append(scans, tracks[i][0]), tracks[i][1:]
	}
	return scans
}

// generatedTable is a Huffman table for encoding.
type generatedTable struct {
	code [256]uint32
	size [256]uint
	body []byte // of a DHT segment
}

// makeTable makes a table of random shape for the symbols that occur, and some others.
func (g *generator) makeTable(class, id int, occurs *[256]bool) *generatedTable {
	var symbols []byte
	for s, used := range occurs {
		if used {
			symbols = append(symbols, byte(s))
		}
	}
	limit := 256
	if class == 0 {
		limit = 16
	}
	for range 1 + g.IntN(8) {
		if s := byte(g.IntN(limit)); !slices.Contains(symbols, s) {
			symbols = append(symbols, s)
		}
	}
	g.Shuffle(len(symbols), func(i, j int) { symbols[i], symbols[j] = symbols[j], symbols[i] })
	lengths := g.lengths(len(symbols))
	t := &generatedTable{body: append([]byte{byte(class<<4 | id)}, make([]byte, 16)...)}
	code, last := uint32(0), 0
	for i, s := range symbols {
		code <<= lengths[i] - last
		last = lengths[i]
		t.code[s], t.size[s] = code, uint(last)
		code++
		t.body[last]++
	}
	t.body = append(t.body, symbols...)
	return t
}

// lengths gives n codes lengths, ascending, in one of several styles. A code of all ones remains.
func (g *generator) lengths(n int) []int {
	for style := g.IntN(4); ; style = 1 {
		lengths, counts, left, fits := make([]int, n), [17]int{}, 1<<16-1, true
		for i := range lengths {
			least := 1
			for least < 16 && 1<<(16-least) > left-(n-i-1) {
				least++
			}
			l := least
			switch style {
			case 0:
				l = min(16, least+g.IntN(3))
			case 1:
				l = least + g.IntN(17-least)
			case 2:
				l = max(least, 15+g.IntN(2))
			case 3:
				l = max(least, min(16, bits.Len(uint(n))+g.IntN(3)))
			}
			lengths[i] = l
			left -= 1 << (16 - l)
			counts[l]++
			fits = fits && counts[l] <= 255
		}
		if fits {
			slices.Sort(lengths)
			return lengths
		}
	}
}
