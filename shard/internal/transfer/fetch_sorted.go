package transfer

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"github.com/tfrec/tfrec/internal/set/digest"
	"github.com/tfrec/tfrec/internal/set/spill"
	"github.com/tfrec/tfrec/shard/internal/assign"
	"github.com/tfrec/tfrec/shard/internal/source"
)

// fetchSorted writes the shards of a sorted order as fetch does, after it has read all records for
// their keys.
func (a *arrangement) fetchSorted(ctx context.Context, order *assign.Sorted) error {
	numbers, err := a.sortNumbers(ctx, order)
	if err != nil {
		return err
	}
	return a.fetch(ctx, func(target int, place int64) int64 { return numbers[target][place] })
}

// sortNumbers returns the numbers in their target of its records, in their order.
func (a *arrangement) sortNumbers(ctx context.Context, order *assign.Sorted) ([][]int64, error) {
	keys := spill.NewSorter(a.In.Memory/2, func() (spill.File, error) { return a.Dir.ScratchFile(ctx, "order") })
	defer keys.Close()
	look := func(r *source.Record) (digest.Hash, error) {
		key, err := order.AppendKey(nil, r)
		if err != nil {
			return digest.Hash{}, err
		}
		row := appendTerminated(assign.AppendTarget(nil, r.Split), key)
		row = binary.BigEndian.AppendUint64(row, uint64(r.InSplit()))
		return digest.Hash{}, keys.Add(spill.AppendRow(nil, row))
	}
	if err := a.In.EachBlock(ctx, a.In.Workers, look, nil, nil); err != nil {
		return nil, err
	}
	if err := order.Filled(); err != nil {
		return nil, err
	}
	if err := keys.Sort(ctx); err != nil {
		return nil, err
	}
	numbers := make([][]int64, len(a.Targets))
	for t := range a.Targets {
		numbers[t] = make([]int64, 0, a.Targets[t].Records)
	}
	for {
		row, err := keys.Next()
		if err == io.EOF {
			return numbers, nil
		}
		if err != nil {
			return nil, err
		}
		t := binary.BigEndian.Uint16(row)
		numbers[t] = append(numbers[t], int64(binary.BigEndian.Uint64(row[len(row)-8:])))
	}
}

// appendTerminated appends a key so that keys with anything after them sort as the keys do, also if
// one begins with another: two bytes that no key contains follow it, which are less than the
// encoding of a zero byte.
func appendTerminated(dst, key []byte) []byte {
	for {
		zero := bytes.IndexByte(key, 0)
		if zero < 0 {
			return append(append(dst, key...), 0, 1)
		}
		dst = append(append(dst, key[:zero]...), 0, 0xFF)
		key = key[zero+1:]
	}
}
