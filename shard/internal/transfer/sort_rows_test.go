package transfer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tfrec/tfrec/internal/dev/torture"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/shard/internal/assign"
)

// TestSortRows sorts buckets of random keys and compares with slices.SortFunc.
func TestSortRows(t *testing.T) {
	t.Parallel()
	rng := torture.Rand(t)
	text := func(longest int) []byte {
		b := make([]byte, rng.IntN(longest+1))
		for i := range b {
			b[i] = byte(rng.IntN(3)) // zero bytes too: they differ from no bytes
		}
		return b
	}
	number := func(most uint64) []byte { return binary.BigEndian.AppendUint64([]byte{0}, rng.Uint64N(most)) }
	for name, value := range map[string]func() []byte{
		"no value":       func() []byte { return []byte{1} },
		"one value":      func() []byte { return number(1) },
		"few numbers":    func() []byte { return number(10) },
		"many numbers":   func() []byte { return number(1 << 63) },
		"outliers":       func() []byte { return number(1 << (rng.UintN(2) * 63)) },
		"short text":     func() []byte { return append([]byte{0}, text(9)...) },
		"long text":      func() []byte { return append([]byte{0}, text(30)...) },
		"common text":    func() []byte { return append([]byte("\x00image-of-a-bird-"), text(9)...) },
		"some no values": func() []byte { return [][]byte{{1}, number(100)}[rng.IntN(2)] },
	} {
		for _, targets := range []int{1, 3} {
			n := []int{0, 1, 2, 30, 3000}[rng.IntN(5)]
			type row struct {
				key    []byte
				number int64
			}
			var want []row
			s := spill.New(1, 1, 1<<20, nil)
			for i := range n {
				want = append(want, row{append(assign.AppendTarget(nil, rng.IntN(targets)), value()...), int64(i)})
			}
			rng.Shuffle(n, func(i, j int) { want[i], want[j] = want[j], want[i] })
			for _, r := range want {
				head := append(binary.AppendUvarint(nil, uint64(len(r.key))), r.key...)
				if err := s.AddRow(0, spill.Row{Number: r.number}, head, []byte("frame")); err != nil {
					t.Fatal(err)
				}
			}
			data, err := s.Take(0, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := placed{data: data, rows: make([]int, n), sorted: true}
			p.sort()
			slices.SortFunc(want, func(a, b row) int {
				return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.number, b.number))
			})
			for i, at := range p.rows {
				r, _ := spill.Parse(p.data, at)
				if key := p.keyAt(at); r.Number != want[i].number || !bytes.Equal(key, want[i].key) {
					t.Fatalf("%s, %d rows of %d targets: row %d is number %d with key %x, want %d with %x", name, n, targets, i, r.Number, key, want[i].number, want[i].key)
				}
			}
		}
	}
}
