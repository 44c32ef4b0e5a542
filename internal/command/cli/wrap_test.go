package cli

import (
	"bytes"
	"testing"
)

func TestReflow(t *testing.T) {
	const text = `A paragraph of
two lines, and more.

# A title
- an item of a list
- another
  of two lines

  word   what it is called
  words  what they are
         called
  a term of several words  with its text
  tfrec a command

The end.
`
	for width, want := range map[int]string{
		100: `A paragraph of two lines, and more.

A TITLE
- an item of a list
- another of two lines

  word   what it is called
  words  what they are called
  a term of several words  with its text
  tfrec a command

The end.
`,
		20: `A paragraph of two
lines, and more.

A TITLE
- an item of a list
- another of two
  lines

  word   what it is
         called
  words  what they
         are called
  a term of several
    words
      with its text
  tfrec a command

The end.
`,
	} {
		if got := Reflow(text, width); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

func TestWrapCommand(t *testing.T) {
	const line = "  tfrec convert 'a b c' out --fit pad --where \"x > 1\""
	for width, want := range map[int]string{
		100: line + "\n",
		30:  "  tfrec convert 'a b c' out \\\n      --fit pad \\\n      --where \"x > 1\"\n",
	} {
		if got := wrapCommand(line, width); got != want {
			t.Errorf("at %d:\n%s\nwant\n%s", width, got, want)
		}
	}
}

func TestWidthWithoutTerminal(t *testing.T) {
	if got := Width(NewResultWriter(new(bytes.Buffer))); got != DefaultWidth {
		t.Errorf("%d columns", got)
	}
}
