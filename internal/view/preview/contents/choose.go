package contents

import (
	"slices"

	"github.com/tfrec/tfrec/internal/random"
)

// Location is the location of a record.
type Location struct {
	File   int   // number of the file
	Record int64 // number in the file, from 0
	offset int64 // of its frame in the uncompressed stream; -1 when it is not known
}

// Family is a record with its variants, or a record alone: the places of those
// that are shown, and how many more there are.
type Family struct {
	Locations []Location
	More      int
}

// Choose returns n places, or all that there are: a random sample, spread evenly
// over each split. A small split has a share of its own, so that none is left
// out while n allows.
func Choose(files []File, n int, seed uint64) []Family {
	var splits []string
	records := map[string]int64{}
	for _, f := range files {
		if _, known := records[f.Split]; !known {
			splits = append(splits, f.Split)
		}
		records[f.Split] += f.Records
	}
	slices.Sort(splits)
	var chosen []Family
	for i, quota := range quotas(splits, records, n) {
		for _, at := range spread(records[splits[i]], quota, random.Key(seed, uint64(i))) {
			chosen = append(chosen, Family{Locations: []Location{locate(files, splits[i], at)}})
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
func locate(files []File, split string, at int64) Location {
	for i, f := range files {
		if f.Split != split {
			continue
		}
		if at < f.Records {
			return Location{i, at, -1}
		}
		at -= f.Records
	}
	panic("preview: a record past the last one was chosen")
}
