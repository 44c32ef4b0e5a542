package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/augment/internal/operation"
)

// Limits on the input, which bound the time and the stack that a text takes, next to MaxOperations.
const (
	maxSpec  = 1 << 20 // bytes
	maxDepth = 16
)

// call is an operation as written. Its name may be unknown.
type call struct {
	name       word
	arguments  []argument
	operations []call // of a group
	group      bool   // there were parentheses, or a list of operations
}

// argument is a value with or without a name in front.
type argument struct {
	name  word // text is "" for one identified by its position
	value word
	list  []word // the elements of a YAML list, in the place of value.text
}

// textReader reads the short form of policies.
type textReader struct {
	text         string
	at           int // bytes
	line, column int // of at
	count        int
}

// readText reads text that begins at a line and column of a larger one.
func readText(text string, line, column int) ([]call, error) {
	r := &textReader{text: text, line: line, column: column}
	if len(text) > maxSpec {
		return nil, r.found().wrong("the text is longer than %d bytes", maxSpec)
	}
	calls, err := r.calls(0)
	if err != nil {
		return nil, err
	}
	if r.at < len(text) {
		return nil, r.found().wrong("no open ( that this could close")
	}
	return calls, nil
}

// calls reads operations with | between them, up to the end or a ).
func (r *textReader) calls(depth int) ([]call, error) {
	if depth > maxDepth {
		return nil, r.found().wrong("groups are nested more than %d deep", maxDepth)
	}
	var calls []call
	for {
		c, err := r.call(depth)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
		if r.peek() != "|" {
			return calls, nil
		}
		r.skip()
	}
}

// call reads NAME, NAME:ARGUMENT,... and either with (OPERATIONS) after.
func (r *textReader) call(depth int) (call, error) {
	c := call{name: r.word()}
	if c.name.text == "" {
		return c, r.found().wrong("want the name of an operation here")
	}
	if r.count++; r.count > operation.MaxOperations {
		return c, c.name.wrong("more than %d operations", operation.MaxOperations)
	}
	if r.peek() == ":" {
		for next := true; next; next = r.peek() == "," {
			r.skip()
			a := argument{value: r.word()}
			if r.peek() == "=" {
				r.skip()
				a.name, a.value = a.value, r.word()
				if a.name.text == "" {
					return c, a.name.wrong("want a parameter's name before =")
				}
			}
			if a.value.text == "" {
				return c, r.found().wrong("want a value here")
			}
			c.arguments = append(c.arguments, a)
		}
	}
	if r.peek() == "(" {
		r.skip()
		var err error
		if c.operations, err = r.calls(depth + 1); err != nil {
			return c, err
		}
		if r.peek() != ")" {
			return c, r.found().wrong("want | and another operation, or ) to close %s", c.name.text)
		}
		r.skip()
		c.group = true
	}
	switch r.peek() {
	case "", "|", ")":
		return c, nil
	case ",", "=", ":", "(":
		return c, r.found().wrong("unexpected here; operations are written name:value,name=value with | between them")
	default:
		return c, r.found().wrong("unexpected after an operation; want | and another one")
	}
}

const delimiters = "|:,=()"

// word reads up to a delimiter or space, and the space around it.
func (r *textReader) word() word {
	r.space()
	w := r.here(r.rest())
	r.forward(len(w.text))
	r.space()
	return w
}

// rest returns the rest of the current word.
func (r *textReader) rest() string {
	s := r.text[r.at:]
	if end := strings.IndexFunc(s, func(c rune) bool { return strings.ContainsRune(delimiters, c) || unicode.IsSpace(c) }); end >= 0 {
		s = s[:end]
	}
	return s
}

// peek returns the character that comes next, as text; "" at the end.
func (r *textReader) peek() string {
	r.space()
	_, n := utf8.DecodeRuneInString(r.text[r.at:])
	return r.text[r.at : r.at+n]
}

func (r *textReader) skip() { r.forward(1) }

func (r *textReader) space() {
	s := r.text[r.at:]
	r.forward(len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)))
}

func (r *textReader) forward(n int) {
	for _, c := range r.text[r.at : r.at+n] {
		r.column++
		if c == '\n' {
			r.line, r.column = r.line+1, 1
		}
	}
	r.at += n
}

// here returns a word at the current position.
func (r *textReader) here(text string) word { return word{text, r.line, r.column} }

// found returns the next word or delimiter, for an error.
func (r *textReader) found() word {
	next := r.peek()
	if w := r.here(r.rest()); w.text != "" {
		return w
	}
	return r.here(next)
}
