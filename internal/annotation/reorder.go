package annotation

import (
	"fmt"
	"slices"

	"github.com/tfrec/tfrec/internal/plural"
)

// Reorder gives the classes of the set the ids of a list, which is sorted by them; listed classes
// without objects are added to the set. The ids of COCO stay, because its files define them: its
// classes must have the names of the list, in any order and, if stated reports that the list has
// ids, the same ids. It is an error, and changes nothing, if a class is not in the list, or a name
// occurs twice.
func (s *Set) Reorder(list []Class, stated bool) error {
	at := make(map[string]int32, len(list))
	for i, c := range list {
		if _, twice := at[c.Name]; twice {
			return fmt.Errorf("the class %q is in the list twice", c.Name)
		}
		at[c.Name] = int32(i)
	}
	index := make([]int32, len(s.Classes))
	have := make(map[string]bool, len(s.Classes))
	var unknown []string
	for i, c := range s.Classes {
		to, known := at[c.Name]
		if !known && !slices.Contains(unknown, c.Name) {
			unknown = append(unknown, c.Name)
		}
		index[i], have[c.Name] = to, true
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the list of classes has no line for %s of the annotations", plural.Quoted(unknown, 5))
	}
	if s.Format != "coco" {
		s.setClasses(list, index)
		return nil
	}
	for _, c := range list {
		if !have[c.Name] {
			unknown = append(unknown, c.Name)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the list of classes has %s, which the COCO file lacks: its ids are its own, so that the names must be the same", plural.Quoted(unknown, 5))
	}
	for i, c := range s.Classes {
		if is := list[index[i]]; stated && is.ID != c.ID {
			return fmt.Errorf("the class %q has the id %d in the list of classes, and %d in the COCO file: leave the list out, or make them equal", c.Name, is.ID, c.ID)
		}
	}
	return nil
}
