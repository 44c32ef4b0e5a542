package repair

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/set/tfds"
	"github.com/tfrec/tfrec/manifest"
	"github.com/tfrec/tfrec/shard"
)

// splitFiles has the files of a split, in order.
type splitFiles struct {
	split string
	files []string
}

// intoLots groups the files by split. missing are the files that should exist according to the
// numbers in the others' names.
func intoLots(files []string, before *manifest.Manifest, tfds *tfds.FoundTFDS) (lots []splitFiles, missing []string) {
	known := tfds.Files()
	if before != nil {
		for _, split := range before.Splits {
			for _, info := range split.Shards {
				known[info.File] = split.Name
			}
		}
	}
	bySplit := map[string][]string{}
	stated := shares.SplitsOf(files)
	for i, file := range files {
		split := cmp.Or(known[file], stated[i], "train")
		bySplit[split] = append(bySplit[split], file)
		delete(known, file)
	}
	if e := shard.IncompleteByNames("", files); e != nil {
		missing = e.Missing
	}
	missing = append(missing, slices.Sorted(maps.Keys(known))...)
	slices.Sort(missing)
	for _, split := range splitOrder(slices.Sorted(maps.Keys(bySplit)), before, tfds) {
		lots = append(lots, splitFiles{split, bySplit[split]})
	}
	return lots, slices.Compact(missing)
}

// splitOrder sorts splits in their previous order; new ones follow by name.
func splitOrder(names []string, before *manifest.Manifest, tfds *tfds.FoundTFDS) []string {
	var order []string
	if before != nil {
		for _, s := range before.Splits {
			order = append(order, s.Name)
		}
	}
	order = append(order, tfds.SplitNames()...)
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}
