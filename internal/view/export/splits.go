package export

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/set/shares"
)

// hasDirectories reports whether images are in a directory for each split. A single split has one
// if its name is a known one other than that for training.
func hasDirectories(splits []string) bool {
	return len(splits) > 1 || splits[0] != "train" && imagetree.Split(splits[0]) != ""
}

// found returns the splits in which convert images finds the splits of an export, "" for splits
// that it does not find.
func found(format Format, splits []string) []string {
	back := slices.Clone(splits)
	switch format {
	case Directories, COCO:
		back = imagetree.SplitsOf(splits)
	case WebDataset:
		for i, split := range splits {
			back[i] = shares.SplitOf(tarName(split, 0))
		}
		known := slices.ContainsFunc(back, func(split string) bool { return split != "" })
		for i, split := range splits {
			if back[i] = cmp.Or(imagetree.Split(back[i]), back[i]); back[i] == "" && known {
				back[i] = split
			}
		}
	case VOC, YOLO:
		for i, split := range splits {
			back[i] = cmp.Or(imagetree.Split(split), split)
		}
	}
	return back
}

// noteSplits notes which splits convert images does not find as they are.
func noteSplits(o *Options, splits []string) {
	var lost []string
	back := found(o.Format, splits)
	for i, split := range splits {
		switch back[i] {
		case split:
		case "":
			lost = append(lost, split)
		default:
			if same := slices.Index(back, back[i]); same != i {
				o.note("convert images takes both %s and %s for the split %s", splits[same], split, back[i])
			} else {
				o.note("convert images takes %s for the split %s", split, back[i])
			}
		}
	}
	if len(lost) == 0 || len(splits) == 1 && splits[0] == "train" {
		return
	}
	names := strings.Join(lost, ", ")
	switch {
	case o.Format == COCO:
		o.note("convert images finds only train, val and test by directories: give --annotations %s=PATH, and so on, for the splits %s", lost[0], names)
	case len(splits) == 1:
		o.note("convert images puts the images into train: --splits %s=1 puts them into %s", names, names)
	case o.Format == Directories && len(lost) < len(splits):
		o.note("convert images does not take the directories of the splits %s together with the others, as it knows only train, val and test: convert each by itself, with --splits %s=1 and so on, and merge the sets", names, lost[0])
	case o.Format == Directories:
		o.note("convert images takes the directories of the splits %s as classes, as it knows only train, val and test: convert each by itself, with --splits %s=1 and so on, and merge the sets", names, lost[0])
	default:
		o.note("convert images puts the images of the splits %s into train, as it knows only train, val and test: convert each by itself, with --splits %s=1 and so on, and merge the sets", names, lost[0])
	}
}
