package deflate

import (
	"math/bits"
	"slices"
)

// code is a symbol's: its bits, the first of them lowest, and from bit 24 on how many.
type code uint32

func (c code) bits() uint32 { return uint32(c) & (1<<24 - 1) }
func (c code) length() uint { return uint(c >> 24) }

// builder is the memory for making codes.
type builder struct {
	order []uint64 // symbols in use: how often, and from bit 0 to 15 which
	nodes []int
}

// build computes the codes of the symbols, which occur as often as given, with at most limit bits
// each. Symbols that do not occur get none, except that at least two have codes, since some
// decoders reject fewer.
func (b *builder) build(codes []code, often []uint32, limit int) {
	b.order = b.order[:0]
	for s, n := range often {
		codes[s] = 0
		if n > 0 {
			b.order = append(b.order, uint64(n)<<16|uint64(s))
		}
	}
	for s := 0; len(b.order) < 2; s++ {
		if often[s] == 0 {
			b.order = append(b.order, 1<<16|uint64(s))
		}
	}
	slices.Sort(b.order)
	var lengths [16]int // how many codes have each
	b.measure(&lengths, limit)
	at := len(b.order)
	for n := 1; n <= limit; n++ {
		for range lengths[n] {
			at--
			codes[b.order[at]&0xFFFF] = code(n) << 24
		}
	}
	var next [16]uint32
	for n := 1; n < limit; n++ {
		next[n+1] = (next[n] + uint32(lengths[n])) << 1
	}
	for s, c := range codes {
		if n := c.length(); n > 0 {
			codes[s] = c | code(bits.Reverse32(next[n])>>(32-n))
			next[n]++
		}
	}
}

// measure counts the lengths of the codes, by the method of Moffat and Katajainen (In-place
// calculation of minimum-redundancy codes, 1995). Where some are above the limit, others get longer.
func (b *builder) measure(lengths *[16]int, limit int) {
	n := len(b.order)
	b.nodes = slices.Grow(b.nodes[:0], n)[:n]
	a := b.nodes
	for i, o := range b.order {
		a[i] = int(o >> 16)
	}
	// Each inner node is the sum of the two rarest, and becomes the number of its parent.
	root, leaf := 0, 0
	take := func(next int) (sum int) {
		if leaf >= n || root < next && a[root] < a[leaf] {
			sum = a[root]
			a[root] = next
			root++
			return sum
		}
		leaf++
		return a[leaf-1]
	}
	for next := range n - 1 {
		sum := take(next)
		a[next] = sum + take(next)
	}
	a[n-2] = 0
	for i := n - 3; i >= 0; i-- {
		a[i] = a[a[i]] + 1
	}
	// At each depth, places that are not inner nodes are symbols.
	for places, depth, at := 1, 0, n-2; places > 0; depth++ {
		inner := 0
		for ; at >= 0 && a[at] == depth; at-- {
			inner++
		}
		lengths[min(depth, limit)] += places - inner
		places = 2 * inner
	}
	total := 0
	for i := 1; i <= limit; i++ {
		total += lengths[i] << (limit - i)
	}
	for ; total > 1<<limit; total-- {
		i := limit - 1
		for lengths[i] == 0 {
			i--
		}
		lengths[limit]--
		lengths[i]--
		lengths[i+1] += 2
	}
}
