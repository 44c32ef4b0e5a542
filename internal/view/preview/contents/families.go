package contents

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/tfrec/tfrec/internal/imagekey"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/tfrecord"
)

// maxVariants bounds the variants of one record to show.
const maxVariants = 16

// pendingFamily is a family under construction. Its hash decides whether it is shown.
type pendingFamily struct {
	hash    xxh3.Uint128
	members []member
	more    int
}

type member struct {
	copy int64
	Location
}

// compareMembers puts the original first and its variants in their order.
func compareMembers(a, b member) int {
	return cmp.Or(cmp.Compare(a.copy, b.copy), cmp.Compare(a.File, b.File), cmp.Compare(a.Record, b.Record))
}

// familySet holds the families with the smallest hashes, at most room of them.
type familySet struct {
	room   int
	byHash map[xxh3.Uint128]*pendingFamily
	most   xxh3.Uint128 // the largest hash, when the set is full
}

func newFamilySet(room int) *familySet {
	return &familySet{room: room, byHash: make(map[xxh3.Uint128]*pendingFamily)}
}

func compareHash(a, b xxh3.Uint128) int {
	return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
}

func (k *familySet) add(hash xxh3.Uint128, more int, members ...member) {
	f := k.byHash[hash]
	if f == nil {
		if len(k.byHash) >= k.room {
			if compareHash(hash, k.most) > 0 {
				return
			}
			delete(k.byHash, k.most)
		}
		f = &pendingFamily{hash: hash}
		k.byHash[hash] = f
		if len(k.byHash) >= k.room {
			k.most = hash
			for h := range k.byHash {
				if compareHash(h, k.most) > 0 {
					k.most = h
				}
			}
		}
	}
	f.more += more
	f.members = append(f.members, members...)
	if over := len(f.members) - maxVariants - 1; over > 0 {
		slices.SortFunc(f.members, compareMembers)
		f.members = f.members[:maxVariants+1]
		f.more += over
	}
}

// ChooseFamilies returns families with n records in total, or all of them: those with the smallest
// hashes of their keys and the seed. Variants may be anywhere in a set, so all records are read.
func (c *Set) ChooseFamilies(ctx context.Context, n int, seed uint64, workers int) ([]Family, error) {
	var mu sync.Mutex
	all := newFamilySet(n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range c.Files {
		g.Go(func() error {
			found, err := c.familiesOf(ctx, i, n, seed)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for hash, f := range found.byHash {
				all.add(hash, f.more, f.members...)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	list := make([]*pendingFamily, 0, len(all.byHash))
	for _, f := range all.byHash {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *pendingFamily) int { return compareHash(a.hash, b.hash) })
	var families []Family
	for _, f := range list {
		if n <= 0 {
			break
		}
		slices.SortFunc(f.members, compareMembers)
		out := Family{More: f.more}
		for _, m := range f.members {
			out.Locations = append(out.Locations, m.Location)
		}
		n -= len(out.Locations)
		families = append(families, out)
	}
	return families, nil
}

// familiesOf reads a file for the families that its records belong to. What cannot
// be read is left out: measuring found it, too.
func (c *Set) familiesOf(ctx context.Context, number, n int, seed uint64) (k *familySet, err error) {
	f := c.Files[number]
	r, err := shard.Open(ctx, f.Path, tfrecord.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close() // of a file that was only read
	k = newFamilySet(n)
	var e tfrecord.Example
	var name []byte
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		record, err := r.Next()
		switch {
		case err == nil:
		case recoverable(err):
			continue
		case err == io.EOF || isDamage(err):
			return k, nil
		default:
			return nil, err
		}
		var id []byte
		var nth int64
		if e.Parse(record) == nil {
			key, _ := e.Get(c.Key)
			id, _ = key.Bytes()
			copies, _ := e.Get(imagekey.Copy)
			nth, _ = copies.Int64()
		}
		name = append(append(append(name[:0], f.Split...), 0), id...)
		if len(id) == 0 { // it is alone
			name = fmt.Appendf(name, "%c%d:%d", 0, number, r.Record())
		}
		at := Location{number, r.Record(), -1}
		if r.Compression() == tfrecord.CompressionNone {
			at.offset = r.Offset()
		}
		k.add(xxh3.Hash128Seed(name, seed), 0, member{nth, at})
	}
}
