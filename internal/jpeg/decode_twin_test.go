package jpeg

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// spoilt are sequential pictures, each sound and with bytes of its data changed at random.
func spoilt(tb testing.TB) [][]byte {
	var list [][]byte
	r := rand.New(rand.NewPCG(1, 2))
	for _, file := range pictureFiles(tb) {
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

// TestDecodeTwin decodes the last segment of sound and damaged pictures by the assembly and by
// its twin in Go: the same fault or, if none, the same coefficients and place in the data.
func TestDecodeTwin(t *testing.T) {
	if !assembled() {
		t.Skip("no assembly here")
	}
	segments, faults := 0, 0
	for i, data := range spoilt(t) {
		h, err := ParseHeader(data)
		if err != nil {
			continue
		}
		c := newChecker(data, &h)
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
		if results[0] != results[1] || results[0] == 0 &&
			(!slices.Equal(coefs[0], coefs[1]) || means[0] != means[1] || readers[0].consumed() != readers[1].consumed()) {
			t.Errorf("picture %d (%v): fault %d, the twin's %d", i, err, results[0], results[1])
		}
	}
	t.Logf("%d segments, %d with faults", segments, faults)
	if segments < 100 || faults < 20 {
		t.Errorf("%d segments, %d with faults: too few to prove anything", segments, faults)
	}
}

// BenchmarkDecodeBlocks decodes the coefficients of the photographs, by the assembly where it
// runs and by its twin.
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
				c := newChecker(data, headers[i])
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
