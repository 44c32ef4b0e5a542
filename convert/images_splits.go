package convert

import (
	"regexp"
	"slices"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/shard"
)

// splitFile matches the name of one of the files of a split: train-000000.tar, as export writes
// WebDatasets, or train-00000-of-00004.parquet, which may have a hash after it.
var splitFile = regexp.MustCompile(`^(.+?)-\d{5,}(?:-of-\d{5,}(?:-[0-9a-f]+)?)?\.`)

// splitsOfFiles returns the split that each file's name begins with, if all names have one and at
// least one of the splits is train, val or test in any spelling; nil otherwise.
func splitsOfFiles(names []string) []string {
	known := false
	splits := make([]string, len(names))
	for i, name := range names {
		m := splitFile.FindStringSubmatch(name)
		if m == nil || shard.CheckSplit(m[1]) != nil {
			return nil
		}
		splits[i] = m[1]
		if split := imagetree.Split(m[1]); split != "" {
			splits[i], known = split, true
		}
	}
	if !known {
		return nil
	}
	return splits
}

// keepSplits keeps the splits of a source whose files all have one, unless others are asked for.
func (l *listing) keepSplits(o *ImageOptions, splits []string, fileOf func(p *imageFile) int) {
	if len(o.Splits) > 0 || len(splits) == 0 || slices.Contains(splits, "") {
		return
	}
	l.splits = slices.Compact(slices.Sorted(slices.Values(splits)))
	for i := range l.images {
		p := &l.images[i]
		if bad := p.bad(); bad != nil && bad.Line > 0 {
			p.split = &l.splits[0] // a row of a table without an image
			continue
		}
		p.split = &splits[fileOf(p)]
	}
}
