package export

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tfrec/tfrec/internal/imagetree"
	"github.com/tfrec/tfrec/internal/set/shares"
	"github.com/tfrec/tfrec/internal/view/export/images"
	"github.com/tfrec/tfrec/internal/view/export/spec"
)

// found returns the splits in which convert images finds the splits of an export, "" for splits
// that it does not find.
func found(format spec.Format, splits []string) []string {
	back := slices.Clone(splits)
	switch format {
	case spec.Directories, spec.COCO:
		back = imagetree.SplitsOf(splits)
	case spec.WebDataset:
		for i, split := range splits {
			back[i] = shares.SplitOf(images.TarName(split, 0))
		}
		known := slices.ContainsFunc(back, func(split string) bool { return split != "" })
		for i, split := range splits {
			if back[i] = cmp.Or(imagetree.Split(back[i]), back[i]); back[i] == "" && known {
				back[i] = split
			}
		}
	case spec.VOC, spec.YOLO:
		for i, split := range splits {
			back[i] = cmp.Or(imagetree.Split(split), split)
		}
	}
	return back
}

// noteSplits notes which splits convert images does not find as they are.
func noteSplits(o *spec.Options, splits []string) {
	var lost []string
	back := found(o.Format, splits)
	for i, split := range splits {
		switch back[i] {
		case split:
		case "":
			lost = append(lost, split)
		default:
			if same := slices.Index(back, back[i]); same != i {
				o.Notef("convert images takes both %s and %s for the split %s", splits[same], split, back[i])
			} else {
				o.Notef("convert images takes %s for the split %s", split, back[i])
			}
		}
	}
	if len(lost) == 0 || len(splits) == 1 && splits[0] == "train" {
		return
	}
	names := strings.Join(lost, ", ")
	switch {
	case o.Format == spec.COCO:
		o.Notef("convert images finds only train, val and test by directories: give --annotations %s=PATH, and so on, for the splits %s", lost[0], names)
	case len(splits) == 1:
		o.Notef("convert images puts the images into train: --splits %s=1 puts them into %s", names, names)
	case o.Format == spec.Directories && len(lost) < len(splits):
		o.Notef("convert images does not take the directories of the splits %s together with the others, as it knows only train, val and test: convert each by itself, with --splits %s=1 and so on, and merge the sets", names, lost[0])
	case o.Format == spec.Directories:
		o.Notef("convert images takes the directories of the splits %s as classes, as it knows only train, val and test: convert each by itself, with --splits %s=1 and so on, and merge the sets", names, lost[0])
	default:
		o.Notef("convert images puts the images of the splits %s into train, as it knows only train, val and test: convert each by itself, with --splits %s=1 and so on, and merge the sets", names, lost[0])
	}
}
