package labels

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/optname"
)

func TestSort(t *testing.T) {
	for _, c := range []struct{ names, want, note string }{
		{"", "", ""},
		{"cat ant bee ant", "ant bee cat", ""},
		{"0 1 10 11 2 3 4 5 6 7 8 9", "0 1 2 3 4 5 6 7 8 9 10 11", ""},
		{"100 9 10", "9 10 100", `ranks: "9" is 0, "10" is 1, "100" is 2`},
		{"1 3 0", "0 1 3", `"3" is 2`},
		{"2 1 3", "1 2 3", `"1" is 0, "2" is 1, "3" is 2 (LabelSpec.Offset 1 makes them their own ids)`},
		{"10 9 x", "10 9 x", `not all labels are integers, such as "x", so they are names in text order: "10" is 0, "9" is 1, "x" is 2`},
		{"1 2 x", "1 2 x", `such as "x", so they are names in text order: "1" is 0`},
		{"0 1 x", "0 1 x", ""},
		{"10 9 8 007 7", "007 10 7 8 9", `"007" and "7" are the same one, so they are in text order`},
		{"007 010 9", "007 9 010", `"9" is 1`},
		{"-1 -10 0 -0", "-0 -1 -10 0", `"-0" and "0" are the same one`},
		{"1 0 -1 -10 5", "-10 -1 0 1 5", `"-10" is 0`},
		{"99999999999999999999 100000000000000000000 3", "3 99999999999999999999 100000000000000000000", `"3" is 0`},
		{"1.0 10.0 2.0", "1.0 10.0 2.0", `labels are integers, but not all of them are only digits, so they are names in text order: "1.0" is 0, "10.0" is 1`},
		{"0.0 1.0 2", "0.0 1.0 2", ""},
		{"0.0 11.0 5.0 ?", "0.0 11.0 5.0 ?", `not all labels are integers, such as "?", so they are names in text order: "0.0" is 0, "11.0" is 1, "5.0" is 2`},
		{"5 ? unknown a b", "5 ? a b unknown", `such as "?", "a", "b" and 1 more, so`},
		{"0.0 1 ?", "0.0 1 ?", ""},
		{"0.5 1.5 x", "0.5 1.5 x", ""},
		{"+1 10 9", "+1 10 9", "labels are integers, but not all of them are only digits"},
		{"- 10 9", "- 10 9", "not all labels are integers"},
		{"0", "0", ""},
		{"٣ 10 9", "10 9 ٣", "not all labels are integers"},
	} {
		got := Sort(strings.Fields(c.names))
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.names, got, c.want)
		}
		if note := Note(got, 0, optname.LabelSpecOffset); !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
			t.Errorf("%s: note %q, want %q", c.names, note, c.note)
		}
	}
	if note := Note([]string{"1", "2"}, 1, optname.LabelSpecOffset); note != "" {
		t.Errorf("1 and 2 from 1: %s", note)
	}
	if note := Note([]string{"0", "1"}, 1, optname.LabelSpecOffset); !strings.Contains(note, `"0" is 1`) {
		t.Errorf("0 and 1 from 1: %s", note)
	}
}

// TestNoteNamesTheWords: where an integer, however it is written, has another id because of words among
// the labels, the note names a word.
func TestNoteNamesTheWords(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	words := []string{"?", "unknown", "n/a", "1e3", "0.5", "cat"}
	for range 2000 {
		var names []string
		for range 1 + rnd.IntN(5) {
			names = append(names, fmt.Sprintf([]string{"%d", "%d.0", "%d.", "+%d", "-%d", "00%d"}[rnd.IntN(6)], rnd.IntN(20)))
		}
		for range 1 + rnd.IntN(2) {
			names = append(names, words[rnd.IntN(len(words))])
		}
		names = Sort(names)
		moved := false
		for id, name := range names {
			_, n, ok := Integer(name)
			moved = moved || ok && n != int64(id)
		}
		note := Note(names, 0, optname.LabelSpecOffset)
		named := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(note, fmt.Sprintf("such as %q", word)) })
		if named != moved || (note != "") != moved {
			t.Fatalf("%q: %s", names, note)
		}
	}
}

// TestDenseIntegersAreTheirOwnIDs in any order and number.
func TestDenseIntegersAreTheirOwnIDs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + rnd.IntN(2000)
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint(i))
		}
		rnd.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
		names = Sort(append(names, names[:rnd.IntN(n)]...))
		for id, name := range names {
			if name != fmt.Sprint(id) {
				t.Fatalf("%d labels: %q has id %d", n, name, id)
			}
		}
		if note := Note(names, 0, optname.LabelSpecOffset); len(names) != n || note != "" {
			t.Errorf("%d labels of %d, note %q", len(names), n, note)
		}
	}
}

// TestSortIsOneOrder: the order of the names given makes no difference.
func TestSortIsOneOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pool := strings.Fields("0 00 7 007 -7 -07 10 9 x 1x a B 123456789012345678901 -123456789012345678901 ")
	for range 2000 {
		var names []string
		for range 1 + rnd.IntN(6) {
			names = append(names, pool[rnd.IntN(len(pool))])
		}
		want := Sort(slices.Clone(names))
		rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if got := Sort(slices.Clone(names)); !slices.Equal(got, want) {
			t.Fatalf("%q: %q and %q", names, got, want)
		}
		Note(want, 0, optname.LabelSpecOffset)
	}
}

func TestNotesAreShort(t *testing.T) {
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprint(2*i))
	}
	note := Note(Sort(names), 0, optname.LabelSpecOffset)
	if len(note) > 500 || !strings.Contains(note, `"4" is 2`) || !strings.HasSuffix(note, `"9998" is 4999`) {
		t.Error(note)
	}
}
