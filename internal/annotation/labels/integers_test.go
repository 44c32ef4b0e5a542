package labels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestInteger(t *testing.T) {
	for label, want := range map[string]string{
		"0": "0 0", "7": "7 7", "007": "007 7", "-3": "-3 -3", "+3": "3 3", "-0": "0 0", "10.0": "10 10", "10.": "10 10", "-1.000": "-1 -1", "0.0": "0 0",
		"9223372036854775807": "9223372036854775807 9223372036854775807",
		"":                    "", "-": "", "+": "", ".0": "", "+-3": "", "--3": "", "0.5": "", "1e3": "", "x": "", " 3": "", "3 ": "", "1_000": "", "0x10": "", "٣": "", "9223372036854775808": "", "1.0.0": "",
	} {
		got := ""
		if digits, n, ok := Integer(label); ok {
			got = fmt.Sprint(digits, " ", n)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

func TestIDs(t *testing.T) {
	for labels, want := range map[string]string{
		"0 5 3": "[0 5 3] [0 5 3]", "3 3.0 +3": "[3 3 3] [3 3 3]", "007 12": "[7 12] [007 12]", "-1 1": "[-1 1] [-1 1]",
		"7 007": "", "1 x": "", "0.5 1": "", "": "",
	} {
		got := ""
		if ids, digits, ok := IDs(strings.Fields(labels)); ok {
			got = fmt.Sprint(ids, " ", digits)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", labels, got, want)
		}
	}
	if !HaveNames([]int64{0, MaxID}) || HaveNames([]int64{MaxID + 1}) || HaveNames([]int64{3, -1}) {
		t.Error("HaveNames")
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		named map[int64]string
		want  string
	}{
		{nil, ""},
		{map[int64]string{0: "0", 3: "3"}, "0 1 2 3"},
		{map[int64]string{1: "001", 3: "003"}, "000 001 002 003"},
		{map[int64]string{1: "001", 3: "0003"}, "0 001 2 0003"},
		{map[int64]string{10: "10"}, "0 1 2 3 4 5 6 7 8 9 10"},
		{map[int64]string{1: "cat", 3: "0", 4: "#2", 5: "2"}, "#0 cat ##2 0 #2 2"},
		{map[int64]string{2: "0x"}, "0 1 0x"},
	} {
		if got := strings.Join(Fill(c.named), " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.named, got, c.want)
		}
	}
}

// TestFillKeepsNamesApart whatever the names are.
func TestFillKeepsNamesApart(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	for range 500 {
		named := map[int64]string{}
		for range 1 + rnd.IntN(6) {
			name := strings.Repeat("#", rnd.IntN(3)) + fmt.Sprintf("%0*d", rnd.IntN(3), rnd.IntN(12))
			if !slices.Contains(slices.Collect(func(yield func(string) bool) {
				for _, n := range named {
					if !yield(n) {
						return
					}
				}
			}), name) {
				named[rnd.Int64N(12)] = name
			}
		}
		names := Fill(named)
		for id, name := range named {
			if names[id] != name {
				t.Fatalf("%v: %q", named, names)
			}
		}
		if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) {
			t.Fatalf("%v: %q", named, names)
		}
	}
}
