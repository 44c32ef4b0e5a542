package policy

import (
	"fmt"
	"strings"

	"github.com/tfrec/tfrec/augment/internal/operation"
)

// SpecError is an error in a policy's text, with its position.
type SpecError struct {
	// File is the name of the YAML file; "" for text.
	File string
	// Line and Column count from 1; a column is a character.
	Line, Column int
	// Word is the word there; "" at the end.
	Word string
	// Reason describes the mistake and the allowed values.
	Reason string
}

// Error returns one line such as
//
//	augment: "hflp" at character 12: unknown operation; did you mean hflip?
func (e *SpecError) Error() string {
	word := "the end"
	if e.Word != "" {
		word = fmt.Sprintf("%.60q", e.Word)
	}
	switch {
	case e.File != "":
		return fmt.Sprintf("%s:%d:%d: %s: %s", e.File, e.Line, e.Column, word, e.Reason)
	case e.Line > 1:
		return fmt.Sprintf("augment: %s in line %d at character %d: %s", word, e.Line, e.Column, e.Reason)
	}
	return fmt.Sprintf("augment: %s at character %d: %s", word, e.Column, e.Reason)
}

// word is a piece of a policy's text and where it stands.
type word struct {
	text         string
	line, column int
}

// wrong makes an error that points at the word.
func (w word) wrong(format string, args ...any) error {
	return &SpecError{Line: w.line, Column: w.column, Word: w.text, Reason: fmt.Sprintf(format, args...)}
}

// unknown makes an error about a name that isn't one of the names.
func (w word) unknown(what string, names []string) error {
	if near := operation.Closest(w.text, names); near != "" {
		return w.wrong("unknown %s; did you mean %s?", what, near)
	}
	return w.wrong("unknown %s; there are: %s", what, strings.Join(names, ", "))
}
