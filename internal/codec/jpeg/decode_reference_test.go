package jpeg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// corrupted are sequential images, each sound and with bytes of its data changed at random.
func corruptedImages(tb testing.TB) [][]byte {
	var list [][]byte
	r := rand.New(rand.NewPCG(1, 2))
	for _, file := range imageFiles(tb) {
		data := read(tb, file)
		if h, err := ParseHeader(data); err != nil || !h.Huffman() || h.Progressive() || len(data) > 100<<10 || len(data) < 300 {
			continue
		}
		list = append(list, data)
		for range 4 {
			other := slices.Clone(data)
			for range 1 + r.IntN(3) {
				other[len(other)/2+r.IntN(len(other)/2)] ^= 1 << r.IntN(8)
			}
			list = append(list, other)
		}
	}
	return list
}

// TestDecodeReference decodes the last segment of sound and damaged images by the assembly and by
// its reference in Go: the same fault at the same position or, if none, the same coefficients.
func TestDecodeReference(t *testing.T) {
	if !assembled() {
		t.Skip("no assembly here")
	}
	segments, faults := 0, 0
	for i, data := range corruptedImages(t) {
		h, err := ParseHeader(data)
		if err != nil {
			continue
		}
		c := takeChecker()
		c.reset(data, &h)
		err = c.run() // leaves the scan and the segment where it stopped
		s := &c.scan
		if len(s.planes) == 0 || len(c.segment) < padding || s.planes[0].dcTable == nil || s.planes[0].acTable == nil {
			continue
		}
		n := min(s.units, 5000)
		var readers [2]bitReader
		var results [2]fault
		var coefs [2][]block
		var means [2][4]int32
		for k := range 2 {
			readers[k] = bitReader{buf: c.segment, end: 8 * (len(c.segment) - padding)}
			coefs[k] = make([]block, n*s.blocks)
			decode := (*bitReader).decodeBlocks
			if k == 1 {
				decode = (*bitReader).decodeBlocksPlain
			}
			results[k] = decode(&readers[k], coefs[k], s.codes(nil, n), &means[k], n)
		}
		segments++
		if results[0] != 0 {
			faults++
		}
		if results[0] != results[1] || readers[0].consumed() != readers[1].consumed() || results[0] == 0 &&
			(!slices.Equal(coefs[0], coefs[1]) || means[0] != means[1]) {
			t.Errorf("picture %d (%v): fault %d, the twin's %d", i, err, results[0], results[1])
		}
	}
	t.Logf("%d segments, %d with faults", segments, faults)
	if segments < 100 || faults < 20 {
		t.Errorf("%d segments, %d with faults: too few to prove anything", segments, faults)
	}
}

// BenchmarkDecodeBlocks decodes the coefficients of the photographs, by the assembly if it runs and
// by its reference implementation.
func BenchmarkDecodeBlocks(b *testing.B) {
	list, headers, n := photographs(b)
	for _, bench := range []struct {
		name   string
		decode func(r *bitReader, coefs []block, codes []blockCode, means *[4]int32, n int) fault
	}{{"fast", (*bitReader).decodeBlocks}, {"plain", (*bitReader).decodeBlocksPlain}} {
		b.Run(bench.name, func(b *testing.B) {
			type segment struct {
				c     *checker
				codes []blockCode
			}
			var segments []segment
			coefs := make([]block, 1)
			for i, data := range list {
				c := takeChecker()
				c.reset(data, headers[i])
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
				if headers[i].Restart > 0 || headers[i].Progressive() || c.scan.blocks == 1 {
					continue // not all in one segment
				}
				codes := c.scan.codes(nil, 1)
				for j := range codes {
					codes[j].at, codes[j].step = 0, 0
				}
				segments = append(segments, segment{c, codes})
			}
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range segments {
					var means [4]int32
					r := bitReader{buf: s.c.segment, end: 8 * (len(s.c.segment) - padding)}
					if f := bench.decode(&r, coefs, s.codes, &means, s.c.scan.units); f != 0 {
						b.Fatal("fault", f)
					}
				}
			}
		})
	}
}

// randomTable makes a Huffman table of random shape, with codes of up to 16 bits. The symbols come
// in random order, so that any of them may have a long code.
func randomTable(r *rand.Rand, symbols []byte) *huffTable {
	leaves := []int{0}
	for len(leaves) <= len(symbols) {
		i := r.IntN(len(leaves))
		if r.IntN(3) == 0 {
			i = len(leaves) - 1 // deep ones, too
		}
		if leaves[i] == 16 {
			continue
		}
		leaves[i]++
		leaves = append(leaves, leaves[i])
	}
	slices.Sort(leaves)
	counts := make([]byte, 16)
	for _, length := range leaves[:len(symbols)] { // without the code of all ones
		counts[length-1]++
	}
	symbols = slices.Clone(symbols)
	r.Shuffle(len(symbols), func(i, j int) { symbols[i], symbols[j] = symbols[j], symbols[i] })
	t := new(huffTable)
	t.set(counts, symbols)
	return t
}

// mustAgree decodes bits by random tables, with the assembly and with its reference implementation,
// and returns the number of blocks and the fault.
func mustAgree(t *testing.T, r *rand.Rand, bits []byte) (blocks int, f fault) {
	t.Helper()
	dc := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}[:1+r.IntN(16)]
	ac := []byte{0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x12, 0x21, 0x05, 0x31, 0x41, 0x0A, 0x0F, 0xF0, 0x1F, 0x10, 0xE1, 0x06, 0x07, 0x08, 0x09}[:1+r.IntN(21)]
	n := 1 + r.IntN(60)
	var codes []blockCode
	for i := range 1 + r.IntN(3) {
		code := blockCode{dc: randomTable(r, dc), ac: randomTable(r, ac), component: i, at: i * n, step: 1}
		if code.dc.derive(false) != nil || code.ac.derive(true) != nil {
			t.Fatal("a table is refused")
		}
		code.ac.pair()
		codes = append(codes, code)
	}
	var readers [2]bitReader
	var results [2]fault
	var coefs [2][]block
	var means [2][4]int32
	for k := range 2 {
		readers[k] = bitReader{buf: slices.Concat(bits, zeros[:]), end: 8 * len(bits)}
		coefs[k] = make([]block, n*len(codes))
		decode := (*bitReader).decodeBlocks
		if k == 1 {
			decode = (*bitReader).decodeBlocksPlain
		}
		results[k] = decode(&readers[k], coefs[k], slices.Clone(codes), &means[k], n)
	}
	if results[0] != results[1] || !slices.Equal(coefs[0], coefs[1]) || means[0] != means[1] || readers[0].consumed() != readers[1].consumed() {
		t.Fatalf("fault %d, the twin's %d", results[0], results[1])
	}
	return n * len(codes), results[0]
}

// TestDecodeReferenceTables decodes random bits by random tables: codes and values of any length
// follow one another in any order.
func TestDecodeReferenceTables(t *testing.T) {
	if !assembled() {
		t.Skip("no assembly here")
	}
	r := rand.New(rand.NewPCG(5, 6))
	sound, faults := 0, [5]int{}
	for range 3000 {
		n, f := mustAgree(t, r, randomBytes(r, 1+r.IntN(1500)))
		if faults[f]++; f == 0 {
			sound += n
		}
	}
	t.Logf("%d blocks without faults; faults %v", sound, faults)
	if sound < 1000 || faults[short] == 0 || faults[badCode] == 0 || faults[overrun] == 0 {
		t.Error("too few to prove anything")
	}
}

// FuzzDecodeReference is TestDecodeReferenceTables of any bits.
func FuzzDecodeReference(f *testing.F) {
	f.Add(uint64(1), []byte{0})
	f.Add(uint64(2), []byte("some bits, of which there are more than one block can use"))
	f.Fuzz(func(t *testing.T, seed uint64, bits []byte) {
		if len(bits) < 1<<14 {
			mustAgree(t, rand.New(rand.NewPCG(seed, 7)), bits)
		}
	})
}
