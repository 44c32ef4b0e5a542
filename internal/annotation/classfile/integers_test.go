package classfile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/annotation/labels"
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

// TestNamesAndIntegers: a label is a name of the list, or else an integer that is an id.
func TestNamesAndIntegers(t *testing.T) {
	for _, c := range []struct{ lines, labels, ids, err string }{
		{"cat|dog|bird", "cat 2 dog", "[0 2 1]", ""},
		{"cat|dog|bird", "2.0 cat 02 -1", "[2 0 2 -1]", ""},
		{"cat|dog|bird", "cat 3", "", "names 3 classes, with ids from 0, and a label is 3"},
		{"cat|dog|bird", "cat 2 cow 9", "", `has no line for "cow"`},
		{"cat|1|2", "cat 2 1", "[0 2 1]", ""},
		{"cat|10|bird", "cat 10", "[0 1]", ""},
		{"cat|10|bird", "cat 2", "", `has no line for "2": as it has one for "10", numbers are names and not the ids of lines`},
		{"0 cat|1 dog", "cat 1", "[0 1]", ""},
		{"10 cat|20 dog", "cat 20", "[10 20]", ""},
		{"10 cat|20 dog", "cat 1", "", "has no class with the id 1"},
		{"n1 cat|n2 dog", "n2 0", "[1 0]", ""},
		{"n1 cat|n2 dog", "n2 -1", "", "has no class with the id -1"},
		{"item { id: 7 name: 'cat' } item { id: 9 name: '8' }", "cat 8 9 7 -1", "[7 9 9 7 -1]", ""},
		{"item { id: 7 name: 'cat' }", "cat 0", "", "has no class with the id 0"},
	} {
		l := Of(strings.Split(c.lines, "|"), "FILE")
		if strings.HasPrefix(c.lines, "item") {
			var err error
			if l, err = readLabelMap("FILE", []byte(c.lines)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := l.Number(strings.Fields(c.labels), true)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), "FILE "+c.err) {
				t.Errorf("%s of %s: %v, want %s", c.labels, c.lines, err, c.err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got.IDs) != c.ids {
			t.Errorf("%s of %s: %+v, %v", c.labels, c.lines, got, err)
		}
	}
}

// TestNamesAndIntegersAgree: a label has one id, whether all labels are integers, all are names, or some
// are either.
func TestNamesAndIntegersAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for range 500 {
		lines := []string{"last"}
		for i := range 1 + rnd.IntN(8) {
			lines = append(lines, []string{fmt.Sprintf("x%d", i), fmt.Sprint(i + 1), fmt.Sprint(10 * (i + 1))}[rnd.IntN(3)])
		}
		slices.Sort(lines)
		lines = slices.Compact(lines)
		l := Of(lines, "FILE")
		label := fmt.Sprint(rnd.IntN(len(lines) + 2))
		ids, digits, _ := labels.IDs([]string{label})
		alone, err := l.NumberIDs(ids, digits)
		among, err2 := l.Number([]string{"last", label}, true)
		if (err == nil) != (err2 == nil) || err == nil && alone.IDs[0] != among.IDs[1] {
			t.Fatalf("%s of %q: %+v, %v; among names %+v, %v", label, lines, alone, err, among, err2)
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
