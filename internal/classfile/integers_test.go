package classfile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/labels"
)

func TestNumberIDs(t *testing.T) {
	for _, c := range []struct{ lines, labels, ids, names, err string }{
		{"zero|one|two", "2 0", "[2 0]", "zero|one|two", ""},
		{"zero|one|two", "-1 1", "[-1 1]", "zero|one|two", ""},
		{"zero|one", "1 2", "", "", "names 2 classes, with ids from 0, and a label is 2: a list for ids from 1 begins with a name for 0"},
		{"zero|one", "-2", "", "", "a label is -2"},
		{"0|1|2|x|y", "1 4", "[1 4]", "0|1|2|x|y", ""},
		{"10|20|30", "30 10", "[2 0]", "10|20|30", ""},
		{"-1|1", "1 -1", "[1 0]", "-1|1", ""},
		{"10|20|30", "10 2", "", "", `has no line for "2": as it has one for "10", numbers are names and not the ids of lines`},
		{"0 zero|1 one|2 two", "1", "[1]", "zero|one|two", ""},
		{"2 two|1 one|0 zero", "1 2", "[1 2]", "zero|one|two", ""},
		{"1 one|2 two", "2", "[2]", "0|one|two", ""},
		{"1 one|2 two", "0", "[0]", "1 one|2 two", ""},
		{"5 five|0 zero|9 nine", "9", "[9]", "zero|1|2|3|4|five|6|7|8|nine", ""},
		{"5 five|0 zero|9 nine", "0", "", "", `all lines begin with an integer, such as "5 five", which may be the id or part of the name`},
		{"5 dollars|10 dollars|20 dollars", "0 2", "[0 2]", "5 dollars|10 dollars|20 dollars", ""},
		{"0 crane|1 crane|2 owl", "0 2", "[0 2]", "crane 0|crane 1|owl", ""},
		{"item { id: 2 name: 'b' } item { id: 1 name: 'a' }", "1 2 -1", "[1 2 -1]", "0|a|b", ""},
		{"item { id: 2 name: 'b' }", "1", "", "", "has no class with the id 1"},
		{"item { id: 2 name: 'x' } item { id: 1 name: 'x' }", "1", "[1]", "0|x 1|x 2", ""},
	} {
		l := Of(strings.Split(c.lines, "|"), "FILE")
		if strings.HasPrefix(c.lines, "item") {
			var err error
			if l, err = readLabelMap("FILE", []byte(c.lines)); err != nil {
				t.Fatal(err)
			}
		}
		ids, digits, ok := labels.IDs(strings.Fields(c.labels))
		if !ok {
			t.Fatal(c.labels)
		}
		got, err := l.NumberIDs(ids, digits)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "FILE") {
				t.Errorf("%s of %s: %v, want %s", c.labels, c.lines, err, c.err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got.IDs) != c.ids || strings.Join(got.Names, "|") != c.names || got.Synsets != nil {
			t.Errorf("%s of %s: %+v, %v", c.labels, c.lines, got, err)
		}
	}
}

// TestIDsStay: whatever names a list has that are no numbers, integers are the ids of its lines.
func TestIDsStay(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	for range 200 {
		var lines []string
		for i := range 1 + rnd.IntN(30) {
			lines = append(lines, fmt.Sprintf("%s %d", []string{"a", "3 b", "x1", "ü"}[rnd.IntN(4)], i))
		}
		lines = append(lines, "last")
		var ids []int64
		var digits []string
		for range 1 + rnd.IntN(30) {
			id := rnd.Int64N(int64(len(lines)))
			ids, digits = append(ids, id), append(digits, fmt.Sprint(id))
		}
		c, err := Of(lines, "FILE").NumberIDs(ids, digits)
		if err != nil || fmt.Sprint(c.IDs) != fmt.Sprint(ids) || strings.Join(c.Names, "|") != strings.Join(lines, "|") {
			t.Fatalf("%v of %q: %+v, %v", ids, lines, c, err)
		}
	}
}
