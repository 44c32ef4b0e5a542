package command

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfrec/tfrec/internal/command/cli"
)

func TestOtherNamesAreOfVerbs(t *testing.T) {
	root := newRootCommand(nil)
	for word, verb := range cli.OtherNames {
		cmd, rest, err := root.Find(strings.Fields(verb))
		if err != nil || len(rest) > 0 || cmd == root {
			t.Errorf("%s stands for %q, which is no verb", word, verb)
		}
		if cli.ChildNamed(root, word) != nil {
			t.Errorf("%s is a verb", word)
		}
	}
}

// TestVerbsAreSuggested misspells verbs: with one slip each is suggested, unless another
// verb is as near.
func TestVerbsAreSuggested(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	root := newRootCommand(nil)
	names := cli.Verbs(root)
	for range 1000 {
		name := names[rng.IntN(len(names))]
		i, c := rng.IntN(len(name)), string(rune('a'+rng.IntN(26)))
		slip := []string{name[:i] + c + name[i+1:], name[:i] + name[i+1:], name[:i] + c + name[i:]}[rng.IntN(3)]
		if cli.ChildNamed(root, slip) != nil || cli.OtherNames[slip] != "" || len(name) < 5 {
			continue
		}
		if got := cli.Suggest(root, slip); got != name && !strings.HasPrefix(got, slip) {
			t.Errorf("%s: %q, want %s", slip, got, name)
		}
	}
	for _, word := range []string{"x", "", "qqqqqq", strings.Repeat("inspect", 50)} {
		if got := cli.Suggest(root, word); got != "" {
			t.Errorf("%q: %s", word, got)
		}
	}
	for args, want := range map[string]string{
		"info x": "did you mean inspect?", "HEAD x": "did you mean take?", "images a b": "did you mean convert images?", "features slct": "did you mean select?", "convert photos a b": "did you mean images?",
		"features keep": "there are: drop, rename, select",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), strings.Fields(args), &stdout, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s", args, code, stderr.String())
		}
	}
}
