package annotation

import (
	"fmt"

	"github.com/tfrec/tfrec/internal/plural"
)

// Reorder gives the classes the ids of a list: 1 to the first name, and so on; names that no object
// has become classes, too. The ids of COCO are its own and stay: its classes must have the names of
// the list, in any order. It is an error, and changes nothing, if a class is not in the list, or a
// name occurs twice.
func (s *Set) Reorder(names []string) error {
	at := make(map[string]int32, len(names))
	for i, name := range names {
		if _, twice := at[name]; twice {
			return fmt.Errorf("the class %q is in the list twice", name)
		}
		at[name] = int32(i)
	}
	index := make([]int32, len(s.Classes))
	have := make(map[string]bool, len(s.Classes))
	var unknown []string
	for i, c := range s.Classes {
		to, known := at[c.Name]
		if !known {
			unknown = append(unknown, c.Name)
		}
		index[i], have[c.Name] = to, true
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the list of classes has no line for %s of the annotations", plural.Quoted(unknown, 5))
	}
	if s.Format != "coco" {
		s.setClasses(names, index)
		return nil
	}
	for _, name := range names {
		if !have[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the list of classes has %s, which the COCO file lacks: its ids are its own, so that the names must be the same", plural.Quoted(unknown, 5))
	}
	return nil
}
