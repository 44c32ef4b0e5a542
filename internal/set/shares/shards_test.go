package shares

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseShards(t *testing.T) {
	for _, c := range []struct {
		text, wrong string
		each        int
		bySplit     map[string]int
	}{
		{text: "auto"},
		{text: "16", each: 16},
		{text: "99999", each: 99999},
		{text: "train=16", bySplit: map[string]int{"train": 16}},
		{text: "train=16, val=2", bySplit: map[string]int{"train": 16, "val": 2}},
		{text: "0", wrong: "want a number from 1"},
		{text: "100000", wrong: "want a number from 1"},
		{text: "many", wrong: "or auto"},
		{text: "", wrong: "want a number"},
		{text: "train=0", wrong: "split train"},
		{text: "train=1,val", wrong: "want SPLIT=N"},
		{text: "train=1,train=1", wrong: "named twice"},
		{text: "a/b=1", wrong: "a/b"},
		{text: "=1", wrong: "name"},
	} {
		each, bySplit, err := ParseShards(c.text)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%q: %v, want %q", c.text, err, c.wrong)
		case c.wrong == "" && (err != nil || each != c.each || !maps.Equal(bySplit, c.bySplit)):
			t.Errorf("%q: %d, %v, %v", c.text, each, bySplit, err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		want := map[string]int{}
		for range 1 + rng.IntN(5) {
			want[fmt.Sprintf("s%d", rng.IntN(9))] = 1 + rng.IntN(MaxShards)
		}
		if _, got, err := ParseShards(FormatShards(want)); err != nil || !maps.Equal(got, want) {
			t.Fatalf("%v comes back as %v, %v", want, got, err)
		}
	}
}
