package arrows

import (
	"slices"
	"strings"
	"testing"
)

// floors are the directories below internal, from the ground up: a package imports packages of its
// own floor and of floors below. Packages that are in no floor are on the ground; each is small, and
// needs nothing but others like it.
var floors = []string{
	"",           // account, par, random, size and other leaves
	"codec",      // formats of images and of compression, and work on pixels
	"store",      // files, archives and objects, local and remote
	"table",      // formats of tables, and their parts
	"annotation", // objects, masks, classes and splits as files state them
	"set",        // the directory of a set, and what is known of its records
	"view",       // ways to look at sets and to take them elsewhere
	"command",    // verbs and flags
	"dev",        // what only tests, benchmarks and releases need
}

// floorOf returns the floor of a package of ours; -1 for one that is not below internal.
func floorOf(name string) int {
	rest, ok := strings.CutPrefix(name, "internal/")
	if !ok {
		return -1
	}
	first, _, _ := strings.Cut(rest, "/")
	return max(slices.Index(floors, first), 0)
}

func TestFloors(t *testing.T) {
	packages := list(t, nil)
	on := make([]int, len(floors))
	for _, p := range packages {
		at := floorOf(p.name())
		if at < 0 {
			continue
		}
		on[at]++
		for _, i := range p.Imports {
			if q := packages[i]; q != nil && floorOf(q.name()) > at {
				t.Errorf("%s imports %s, which is on a floor above", p.ImportPath, i)
			}
		}
	}
	for i, n := range on {
		if n == 0 {
			t.Errorf("no package is on the floor %q", floors[i])
		}
	}
	if a, b := floorOf("internal/codec/jpeg"), floorOf("internal/view/preview"); a <= 0 || b <= a {
		t.Errorf("floors %d and %d: want the second above the first, above the ground", a, b)
	}
}
