package boxes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/annotation"
	"github.com/tfrec/tfrec/internal/annotation/objects"
)

// maxClasses bounds the classes of a set, and so the memory for them.
const maxClasses = 1 << 20

// errNoClass means that objects have a box and nothing else.
var errNoClass = fmt.Errorf("its objects have no class: want %s or %s", objects.KeyLabel, objects.KeyText)

// classes are the classes of objects. They are learned from a label map and from records, and used
// once they are numbered.
type classes struct {
	names  map[int64]string // by id; "" if not known yet
	unused map[string]bool  // names of objects without an id

	// After number:
	list   []annotation.Class
	byID   map[int64]int // indexes of list
	byName map[string]int
}

func newClasses() *classes {
	return &classes{names: map[int64]string{}, unused: map[string]bool{}}
}

// learn takes notice of a class.
func (c *classes) learn(id int64, name string) error {
	known, ok := c.names[id]
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of class %d is not UTF-8: %q", id, name)
	case ok && known != "" && name != "" && known != name:
		return fmt.Errorf("class %d is %q here and %q before: the same id must be the same class in all records and label maps", id, name, known)
	case !ok && len(c.names) == maxClasses:
		return errTooManyClasses
	}
	c.names[id] = cmp.Or(known, name)
	return nil
}

// learnName takes notice of a class without an id.
func (c *classes) learnName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of a class is not UTF-8: %q", name)
	case !c.unused[name] && len(c.unused) == maxClasses:
		return errTooManyClasses
	}
	c.unused[name] = true
	return nil
}

var errTooManyClasses = errors.New("there are more than " + strconv.Itoa(maxClasses) + " classes")

// learnFrom takes notice of the classes of a record's objects.
func (c *classes) learnFrom(o *objects.Objects) (err error) {
	for i := range o.Len() {
		switch {
		case len(o.Labels) > 0 && len(o.Texts) > 0:
			err = c.learn(o.Labels[i], string(o.Texts[i]))
		case len(o.Labels) > 0:
			err = c.learn(o.Labels[i], "")
		case len(o.Texts) > 0 && len(o.Texts[i]) > 0:
			err = c.learnName(string(o.Texts[i]))
		default:
			err = errNoClass
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// number settles the list: classes without a name are named after their id, and those without an id
// get the lowest free ones from 1 on, in the order of their names.
func (c *classes) number() {
	c.byID, c.byName = map[int64]int{}, map[string]int{}
	add := func(id int64, name string) {
		c.byID[id] = len(c.list)
		if _, ok := c.byName[name]; !ok {
			c.byName[name] = len(c.list)
		}
		c.list = append(c.list, annotation.Class{ID: id, Name: name})
	}
	for _, id := range slices.Sorted(maps.Keys(c.names)) {
		add(id, cmp.Or(c.names[id], strconv.FormatInt(id, 10)))
	}
	free := int64(1)
	for _, name := range slices.Sorted(maps.Keys(c.unused)) {
		if _, known := c.byName[name]; known {
			continue
		}
		for _, taken := c.byID[free]; taken; _, taken = c.byID[free] {
			free++
		}
		add(free, name)
	}
}

// of returns the index in list of the class of object i; false if it was not learned.
func (c *classes) of(o *objects.Objects, i int) (int, bool) {
	if len(o.Labels) > 0 {
		k, ok := c.byID[o.Labels[i]]
		return k, ok
	}
	if len(o.Texts) > 0 {
		k, ok := c.byName[string(o.Texts[i])]
		return k, ok
	}
	return 0, false
}
