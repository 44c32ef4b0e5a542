package contents

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/tfrec/tfrec/shard/stats"
)

// Classes are the classes of objects, numbered from the most frequent.
type Classes struct {
	Names []string         // by number
	At    map[string]int   // numbers by name
	Ids   map[int64]string // names by id
}

func NewClasses(o *stats.Objects) Classes {
	c := Classes{At: map[string]int{}, Ids: map[int64]string{}}
	if o == nil {
		return c
	}
	list := slices.Clone(o.Classes)
	slices.SortStableFunc(list, func(a, b stats.ObjectClass) int { return cmp.Compare(b.Objects, a.Objects) })
	for _, class := range list {
		name := ClassName(class)
		if class.ID != nil {
			c.Ids[*class.ID] = name
		}
		if _, known := c.At[name]; !known {
			c.At[name] = len(c.Names)
			c.Names = append(c.Names, name)
		}
	}
	return c
}

func ClassName(c stats.ObjectClass) string {
	if c.Name == "" && c.ID != nil {
		return strconv.FormatInt(*c.ID, 10)
	}
	return c.Name
}
