package spelling

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("x", Longest+1)
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"same", "same", 0}, {"qualty", "quality", 1}, {"kitten", "sitting", 3},
		{"ab", "ba", 2}, {"flaw", "lawn", 2}, {long[1:], long[2:], 1}, {long, long, Longest}, {"", long, Longest},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("from %.10q to %.10q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a); got != c.want {
			t.Errorf("from %.10q to %.10q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
