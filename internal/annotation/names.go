package annotation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// MaxName is the maximum length of the name of a class in bytes.
const MaxName = 1024

// Names number classes that are known by their names alone. The zero value has none. Its methods
// may be called concurrently.
type Names struct {
	mu sync.RWMutex
	of map[string]int32
	// Unused are the members of annotations that are not kept.
	Unused FieldsOfFiles
}

// Index returns the number of a class, which is provisional until [Names.Assign]. It is an error if
// the name is empty or has more than [MaxName] bytes.
func (n *Names) Index(name []byte) (int32, error) {
	n.mu.RLock()
	i, known := n.of[string(name)]
	n.mu.RUnlock()
	if known {
		return i, nil
	}
	switch {
	case len(name) == 0:
		return 0, errors.New("the class has no name")
	case len(name) > MaxName:
		return 0, fmt.Errorf("the name of the class has %d bytes: the limit is %d", len(name), MaxName)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, known = n.of[string(name)]; known {
		return i, nil
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	i = int32(len(n.of))
	n.of[string(name)] = i
	return i, nil
}

// Read is [Format.Read] of a format whose classes are the names that its files use: Parse numbers them
// with Index.
func (n *Names) Read(ctx context.Context, f Format, dir string, o Options) (*Set, error) {
	s, err := f.Read(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	n.Assign(s)
	s.Unused = n.Unused.All()
	return s, nil
}

// Assign gives a set, whose objects have the numbers of Index, its Classes: those that objects have,
// sorted by name as bytes, with ids from 1.
func (n *Names) Assign(s *Set) {
	used := make([]bool, len(n.of))
	for i := range s.Images {
		for _, o := range s.Images[i].Objects {
			used[o.Class] = true
		}
	}
	names := make([]string, 0, len(n.of))
	for name, i := range n.of {
		if used[i] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	index := make([]int32, len(n.of))
	for i, name := range names {
		index[n.of[name]] = int32(i)
	}
	s.setClasses(ClassesOf(names), index)
}

// setClasses gives the set these classes, and each object, whose class is i, class index[i].
func (s *Set) setClasses(classes []Class, index []int32) {
	s.Classes = classes
	for i := range s.Images {
		objects := s.Images[i].Objects
		for j := range objects {
			objects[j].Class = index[objects[j].Class]
		}
	}
}

// ClassesOf returns classes of these names, with ids from 1.
func ClassesOf(names []string) []Class {
	classes := make([]Class, len(names))
	for i, name := range names {
		classes[i] = Class{ID: int64(i) + 1, Name: name}
	}
	return classes
}
