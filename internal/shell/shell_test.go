package shell

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/printable"
)

var hostile = []string{
	"", "plain", "-x", "--", ";", "; touch x", "a\nb", "$(touch x)", "`touch x`", "'", "'; touch x; '", `"`, `\`, `$'\x41'`,
	"\x1b[31m", "\u2028\u202e", "!x", "~", "#x", "=ls", "a=b", "*", "é ü", "\u00a0", "\xff\xfe", "a&b|c>d<e", "{a,b}",
}

// Bash takes every command line apart into the words that it was made of, and nothing
// in one is for a terminal to obey.
func TestJoinIsTakenApartByAShell(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	words := slices.Clone(hostile)
	for range 300 {
		var word string
		for range 1 + rng.IntN(5) {
			word += hostile[rng.IntN(len(hostile))]
		}
		words = append(words, word)
	}
	line := Join("tfrec", words)
	if i := strings.IndexFunc(line, printable.IsControl); i >= 0 {
		t.Errorf("a control character in %q", line[max(0, i-20):i+5])
	}
	out, err := exec.Command("bash", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if want := append([]string{"tfrec"}, words...); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
