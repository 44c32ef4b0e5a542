package plan

import (
	"cmp"
	"strings"
)

// OptionAnnotations is the format of annotations: a set that has this option has objects.
const OptionAnnotations = "annotations"

// OptionDropEmpty is the option of sets without records that have no objects.
const OptionDropEmpty = "drop_empty"

// OptionMinVisibility is the option of sets whose objects are moved with the pixels of images.
const OptionMinVisibility = "min_visibility"

// movesObjects reports whether objects are moved with the pixels, and counted.
func (r *target) movesObjects() bool { return r.options[OptionMinVisibility] != nil }

// StageAnnotation is the stage of ledger entries for annotations.
const StageAnnotation = "annotation"

// compareFaultNames orders the reasons of ledger entries by the names of annotations in front of
// them, as reading finds some faults and decoding the image others: first those that are numbers, by
// number, then the others as text.
func compareFaultNames(a, b string) int {
	a, x := numberedName(a)
	b, y := numberedName(b)
	switch {
	case x == "" && y != "":
		return 1
	case x != "" && y == "":
		return -1
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y), strings.Compare(a, b))
}

// numberedName returns the name in front of a reason, as in "object 12: ...", and its number without
// zeros in front, which is "" if it has none.
func numberedName(reason string) (name, number string) {
	name, _, _ = strings.Cut(reason, ": ")
	_, number, _ = strings.Cut(name, " ")
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return name, ""
	}
	return name, cmp.Or(strings.TrimLeft(number, "0"), "0")
}
