package preview

import (
	"slices"

	"github.com/tfrec/tfrec/internal/random"
)

// location is the location of a record.
type location struct {
	file   int   // number of the file
	record int64 // number in the file, from 0
	offset int64 // of its frame in the uncompressed stream; -1 when it is not known
}

// family is a record with its variants, or a record alone: the places of those
// that are shown, and how many more there are.
type family struct {
	locations []location
	more      int
}

// choose returns n places, or all that there are: a random sample, spread evenly
// over each split. A small split has a share of its own, so that none is left
// out while n allows.
func choose(files []file, n int, seed uint64) []family {
	var splits []string
	records := map[string]int64{}
	for _, f := range files {
		if _, known := records[f.split]; !known {
			splits = append(splits, f.split)
		}
		records[f.split] += f.records
	}
	slices.Sort(splits)
	var chosen []family
	for i, quota := range quotas(splits, records, n) {
		for _, at := range spread(records[splits[i]], quota, random.Key(seed, uint64(i))) {
			chosen = append(chosen, family{locations: []location{locate(files, splits[i], at)}})
		}
	}
	return chosen
}

// quotas divides n among the splits: a quarter of it equally, the rest in proportion to their
// sizes.
func quotas(splits []string, records map[string]int64, n int) []int64 {
	quota := make([]int64, len(splits))
	left, free := int64(n), int64(0)
	for i, s := range splits {
		quota[i] = min(records[s], int64(n/(4*len(splits))))
		left -= quota[i]
		free += records[s] - quota[i]
	}
	left = min(left, free)
	if free == 0 {
		return quota
	}
	rest := left
	for i, s := range splits {
		more := int64(float64(left) * (float64(records[s]-quota[i]) / float64(free)))
		quota[i] += more
		rest -= more
	}
	for rest > 0 {
		for i, s := range splits {
			if rest > 0 && quota[i] < records[s] {
				quota[i]++
				rest--
			}
		}
	}
	return quota
}

// spread returns n numbers below total in their order: a random one out of each
// of n equal stretches.
func spread(total, n int64, seed uint64) []int64 {
	n = min(n, total)
	list := make([]int64, 0, n)
	draws := random.Draws(seed)
	cut := func(i int64) int64 { // total * i / n, without overflow
		return total/n*i + total%n*i/n
	}
	for i := range n {
		from, to := cut(i), cut(i+1)
		list = append(list, from+int64(draws.Exactly(i, uint64(to-from))))
	}
	return list
}

// locate returns the location of record at of a split.
func locate(files []file, split string, at int64) location {
	for i, f := range files {
		if f.split != split {
			continue
		}
		if at < f.records {
			return location{i, at, -1}
		}
		at -= f.records
	}
	panic("preview: a record past the last one was chosen")
}
