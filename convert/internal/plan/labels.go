package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/annotation/classfile"
	"github.com/tfrec/tfrec/internal/annotation/labels"
	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/optname"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/table/csvscan"
)

// Numbering configures how labels get their ids.
type Numbering struct {
	// Directories is set if the labels are names of directories: integers among them are not ids.
	Directories bool
	List        *classfile.List // of the classes in their order; nil without
	Offset      int             // background names before the labels
	// The options that list and offset are from.
	ListOption, OffsetOption optname.Name
}

// LabelIDs are labels with their ids.
type LabelIDs struct {
	// Names are the vocabulary by id, without the background names; nil if there is none, as ids are
	// negative or too large. IDs has the id of each label, in their order and without the offset.
	classfile.Classes
	Integers bool     // the labels are integers, which are the ids
	Digits   []string // of integers, in the order of the labels
}

// NumberLabels gives ids to the labels of an input, each of which occurs once. Integers are ids as
// they are, and other labels are names. Among names, an integer is the id of its line in the list, and
// a name without one.
func (o *Options) NumberLabels(of []string, by Numbering) (*LabelIDs, error) {
	n := new(LabelIDs)
	var ids []int64
	if !by.Directories {
		ids, n.Digits, n.Integers = labels.IDs(of)
	}
	switch {
	case by.List != nil:
		var c *classfile.Classes
		var err error
		if n.Integers {
			c, err = by.List.NumberIDs(ids, n.Digits)
		} else {
			c, err = by.List.Number(of, !by.Directories)
		}
		if err != nil {
			return nil, err
		}
		n.Classes = *c
		if slices.Contains(n.IDs, labels.Unlabelled) {
			o.Notef("the label %d means none: it is stored as it is, without a name", labels.Unlabelled)
		}
	case n.Integers && labels.HaveNames(ids):
		n.IDs = ids
		n.Names = o.nameIDs(ids, n.Digits, by.ListOption)
	case n.Integers && by.Offset > 0:
		return nil, OptionErrorf(by.OffsetOption, "labels are integers from %d to %d, which are stored as they are: there is no list to put background names before", slices.Min(ids), slices.Max(ids))
	case n.Integers:
		n.IDs = ids
		o.Notef("labels are integers from %d to %d, and only those from 0 to %d have names: they are stored as they are, without names; %s gives them others", slices.Min(ids), slices.Max(ids), labels.MaxID, by.ListOption)
	default:
		n.Names = o.orderLabels(slices.Clone(of), by.Offset, by.OffsetOption)
		index := make(map[string]int64, len(n.Names))
		for id, name := range n.Names {
			index[name] = int64(id)
		}
		n.IDs = make([]int64, len(of))
		for i, label := range of {
			n.IDs[i] = index[label]
		}
	}
	return n, nil
}

// nameIDs returns the names of labels that are integers, and notes which ids no label has.
func (o *Options) nameIDs(ids []int64, digits []string, option optname.Name) []string {
	named := make(map[int64]string, len(ids))
	for i, id := range ids {
		named[id] = digits[i]
	}
	names := labels.Fill(named)
	if gaps := len(names) - len(named); gaps > 0 {
		o.Notef("labels are integers, which are ids as they are: %s up to %d; %s without a label named by the number (%s gives names)",
			plural.Of(len(named), "label"), len(names)-1, plural.Of(gaps, "id"), option)
	}
	return names
}

// WithoutMissing drops the spellings of a missing value in a CSV, NaN among them, from labels if all
// others are integers, or if there are none. Among names they are names; a note then reports that,
// with the remedy.
func (o *Options) WithoutMissing(of []string, remedy string) []string {
	at := slices.IndexFunc(of, csvscan.IsMissing)
	if at < 0 {
		return of
	}
	present := slices.DeleteFunc(slices.Clone(of), csvscan.IsMissing)
	if _, _, integers := labels.IDs(present); integers || len(present) == 0 {
		return present
	}
	o.Notef("%q is a label like others, and not a missing value%s", of[at], remedy)
	return of
}

// orderLabels returns the unique label names in id order, and notes where ids differ from the
// numbers in the names. Ids begin at offset, which the given option sets.
func (o *Options) orderLabels(names []string, offset int, option optname.Name) []string {
	names = labels.Sort(names)
	if note := labels.Note(names, offset, option); note != "" {
		o.Notef("%s", note)
	}
	return names
}

// NoteNewIDs notes which labels of the existing set get another id. Shards with such labels have
// another fingerprint, and are made again.
func (o *Options) NoteNewIDs(before *Previous, names []string) {
	if before == nil || before.manifest == nil {
		return
	}
	ids := make(map[string]int, len(names))
	for id, name := range names {
		ids[jsontext.Readable(name)] = id
	}
	var changed []string
	for was, name := range before.manifest.Labels {
		if id, ok := ids[name]; ok && id != was && name != "" {
			changed = append(changed, fmt.Sprintf("%q was %d and is %d", name, was, id))
		}
	}
	if len(changed) == 0 {
		return
	}
	const shown = 5
	if more := len(changed) - shown; more > 0 {
		changed = append(changed[:shown:shown], fmt.Sprintf("%d more", more))
	}
	o.Notef("label ids change: %s; shards with such labels are written again", strings.Join(changed, ", "))
}

// WithBackground puts background names before the labels.
func WithBackground(names []string, offset int) []string {
	if len(names) == 0 {
		return nil
	}
	all := make([]string, 0, offset+len(names))
	for i := range offset {
		all = append(all, BackgroundName(i))
	}
	return append(all, names...)
}

// CountsByName names the labels that were counted by id; labels.Unlabelled is its own name.
func CountsByName(byID map[int32]int64, names []string) map[string]int64 {
	counts := make(map[string]int64, len(byID))
	for id, n := range byID {
		if id == labels.Unlabelled {
			counts[strconv.Itoa(labels.Unlabelled)] += n
		} else {
			counts[jsontext.Readable(names[id])] += n
		}
	}
	return counts
}

// BackgroundName is the name of a background label.
func BackgroundName(i int) string { return "background_" + strconv.Itoa(i) }
