package shard

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// lot is the files of a split, in their order.
type lot struct {
	split string
	files []string
}

// intoLots tells which split each file is of. missing are files that should be
// there, as the numbers in the others' names say.
func intoLots(files []string, before *Manifest, tfds *tfdsFound) (lots []lot, missing []string) {
	known := tfds.files()
	if before != nil {
		for _, split := range before.Splits {
			for _, info := range split.Shards {
				known[info.File] = split.Name
			}
		}
	}
	bySplit := map[string][]string{}
	for _, file := range files {
		split := known[file]
		if split == "" {
			split = splitOf(file)
		}
		bySplit[split] = append(bySplit[split], file)
		delete(known, file)
	}
	missing = append(gaps(files), slices.Sorted(maps.Keys(known))...)
	slices.Sort(missing)
	for _, split := range splitOrder(slices.Sorted(maps.Keys(bySplit)), before, tfds) {
		lots = append(lots, lot{split, bySplit[split]})
	}
	return lots, slices.Compact(missing)
}

// splitOrder puts splits into the order that they had before; new ones come
// behind, by name.
func splitOrder(names []string, before *Manifest, tfds *tfdsFound) []string {
	var order []string
	if before != nil {
		for _, s := range before.Splits {
			order = append(order, s.Name)
		}
	}
	order = append(order, tfds.splitNames()...)
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}

// splitWords are names of splits, as people write them.
var splitWords = map[string]bool{
	"train": true, "training": true, "test": true, "testing": true, "val": true, "valid": true,
	"validation": true, "dev": true, "eval": true, "evaluation": true,
}

// splitOf tells the split by a file's name.
func splitOf(file string) string {
	if n, ok := ParseName(file); ok {
		return n.Split
	}
	split := "train"
	for _, word := range strings.FieldsFunc(file, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word = strings.ToLower(word); splitWords[word] {
			split = word
		}
	}
	return split
}

// numbered matches the names of shards that say which of how many they are.
var numbered = regexp.MustCompile(`^(.*?)(\d{5,})-of-(\d{5,})(.*)$`)

// maxGaps bounds how many missing files are named.
const maxGaps = 100

// gaps returns the files that are missing between others by their numbers.
func gaps(files []string) (missing []string) {
	type family struct{ head, tail, count string }
	there := map[family]map[int]bool{}
	for _, file := range files {
		m := numbered.FindStringSubmatch(file)
		if m == nil {
			continue
		}
		f := family{m[1], m[4], m[3]}
		if there[f] == nil {
			there[f] = map[int]bool{}
		}
		if i, err := strconv.Atoi(m[2]); err == nil {
			there[f][i] = true
		}
	}
	for f, have := range there {
		count, err := strconv.Atoi(f.count)
		if err != nil {
			continue
		}
		for i := 0; i < count && len(missing) < maxGaps && len(have) < count; i++ {
			if !have[i] {
				missing = append(missing, fmt.Sprintf("%s%05d-of-%s%s", f.head, i, f.count, f.tail))
			}
		}
	}
	return missing
}
