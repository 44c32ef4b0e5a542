package preview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfrec/tfrec/internal/view/preview/contents"
	"github.com/tfrec/tfrec/internal/view/preview/plaintext"
	"github.com/tfrec/tfrec/internal/view/preview/sample"
)

// maxClassChoices bounds the classes of objects to choose from.
const maxClassChoices = 200

// classChoices are the classes of the filter, by name.
type classChoices struct {
	list []choice // how many of the records shown have each
	more string   // how many classes are not in list
	at   map[int]int
	none int // images without objects
}

// newClassChoices returns the classes of the objects of the records shown, the most frequent ones of
// the set if there are many.
func newClassChoices(c *contents.Classes, chosen []shownFamily) classChoices {
	counts := map[int]int{}
	v := classChoices{at: map[int]int{}}
	for _, f := range chosen {
		for _, x := range f.samples {
			switch {
			case x.Image == nil:
			case x.Drawing.Empty():
				v.none++
			default:
				for _, class := range x.Drawing.Classes {
					counts[class]++
				}
			}
		}
	}
	var numbers []int
	for class := range counts {
		numbers = append(numbers, class)
	}
	slices.Sort(numbers) // the most frequent first
	if n := len(numbers) - maxClassChoices; n > 0 {
		numbers, v.more = numbers[:maxClassChoices], "and "+plaintext.Count(int64(n), "more class")
	}
	slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(c.Names[a], c.Names[b]) })
	for i, class := range numbers {
		v.at[class] = i
		v.list = append(v.list, choice{plaintext.Shown(cmp.Or(c.Names[class], "without a class"), plaintext.MaxKeyText), counts[class]})
	}
	return v
}

// of returns the places of a record's classes, separated by spaces; "" of one without objects, and
// "-" of one whose objects have none of the classes, or
// cannot be counted.
func (v *classChoices) of(w *sample.Drawing) string {
	if w.Empty() {
		return ""
	}
	var places []int
	for _, class := range w.Classes {
		if at, ok := v.at[class]; ok {
			places = append(places, at)
		}
	}
	if len(places) == 0 {
		return "-"
	}
	slices.Sort(places)
	var b strings.Builder
	for i, at := range places {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(at))
	}
	return b.String()
}
