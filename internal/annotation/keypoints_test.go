package annotation

import (
	"fmt"
	"strings"
	"testing"
)

func TestUnionOfKeypoints(t *testing.T) {
	named := func(names string) Keypoints {
		list := strings.Fields(names)
		return Keypoints{Count: len(list), Names: list}
	}
	flipped := func(k Keypoints, flip ...int) Keypoints {
		k.Flip = flip
		return k
	}
	many := ""
	for i := range 600 {
		many += fmt.Sprint("x", i, " ")
	}
	for what, c := range map[string]struct {
		a, b Keypoints
		want string
	}{
		"none":                 {Keypoints{}, Keypoints{}, "{0 [] []}"},
		"one":                  {Keypoints{}, named("a b"), "{2 [a b] []}"},
		"other":                {Keypoints{Count: 3}, Keypoints{}, "{3 [] []}"},
		"equal":                {named("a b"), named("a b"), "{2 [a b] []}"},
		"names":                {named("a b"), named("c b"), "{3 [a b c] []}"},
		"order":                {named("a b"), named("b a"), "{2 [a b] []}"},
		"without names":        {Keypoints{Count: 3}, Keypoints{Count: 3}, "{3 [] []}"},
		"numbers":              {Keypoints{Count: 3}, Keypoints{Count: 2}, "objects have 3 keypoints without names in one, and 2 in the other"},
		"only one has names":   {Keypoints{Count: 2}, named("a b"), "the keypoints of one have names, and those of the other have none"},
		"flips":                {flipped(named("a b"), 1, 0), named("a b"), "{2 [a b] [1 0]}"},
		"the other's flips":    {named("a b"), flipped(named("a b"), 1, 0), "{2 [a b] [1 0]}"},
		"flips that differ":    {flipped(named("a b"), 1, 0), flipped(named("a b"), 0, 1), "the names of their keypoints, or what these are in a mirror image, differ"},
		"flips of other names": {flipped(named("a b"), 1, 0), named("a c"), "the names of their keypoints, or what these are in a mirror image, differ"},
		"too many":             {named(many), named(strings.ReplaceAll(many, "x", "y")), "1200 keypoints are too many: want 1024 at most"},
	} {
		got, err := c.a.Union(c.b)
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", what, text, c.want)
		}
	}
}

// A set with the points of a union has each of its own under its name.
func TestSetKeypoints(t *testing.T) {
	set := func() *Set {
		return &Set{Keypoints: Keypoints{Count: 2, Names: []string{"a", "b"}}, Images: []Image{{Objects: []Object{{Keypoints: []Keypoint{{X: 1, Index: 0, Visibility: 2}, {X: 2, Index: 1, Visibility: 1}}}, {}}}}}
	}
	for names, want := range map[string]string{"a b": "[{1 0 0 2} {2 0 1 1}]", "b x a": "[{1 0 2 2} {2 0 0 1}]"} {
		s, list := set(), strings.Fields(names)
		s.SetKeypoints(Keypoints{Count: len(list), Names: list})
		if got := fmt.Sprint(s.Images[0].Objects[0].Keypoints); got != want || s.Keypoints.Count != len(list) || s.Images[0].Objects[1].Keypoints != nil {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}
