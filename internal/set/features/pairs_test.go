package features

import (
	"testing"
)

func TestPairs(t *testing.T) {
	for _, c := range [][3]string{
		{"", "", ""}, {"ab", "", "a-,b-,"}, {"", "ab", "-a,-b,"}, {"abd", "bcd", "a-,bb,-c,dd,"}, {"ac", "bd", "a-,-b,c-,-d,"},
	} {
		got := ""
		for a, b := range Pairs([]byte(c[0]), []byte(c[1]), func(b *byte) string { return string(*b) }) {
			for _, x := range []*byte{a, b} {
				if x == nil {
					got += "-"
				} else {
					got += string(*x)
				}
			}
			got += ","
		}
		if got != c[2] {
			t.Errorf("%q and %q: %s", c[0], c[1], got)
		}
	}
}
