// Package optname names options and functions in the words of the program.
//
// Texts of the libraries name an option that the reader may set, or a function that helps. A Go
// program knows the option as a field, and the user of the command as a flag, so a text is made with a
// [Name], which renders as either:
//
//	fmt.Errorf("%s holds a set made with other options: give %s", dir, optname.OptionsOverwrite)
//
// ends in Options.Overwrite in a program and in --overwrite in the command. Rendered texts are never
// rewritten, so what they quote of the user's stays as it is.
//
// The command calls [ForCommand] before a text is made. Texts of package-level variables, which are
// made before, are a [Text] or an error of [Errorf].
package optname

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Name is an option or a function.
type Name struct {
	// Go is a struct and its field, a package and its function, or these and an argument, such as
	// "Options.Overwrite", "convert.Images" and "reshape.DropFeatures.keys".
	Go string
	// Word is what the user of the command writes, such as "--overwrite" and "tfrec convert images".
	Word string
}

// String returns the name in the words of the program.
func (n Name) String() string {
	if command() {
		return n.Word
	}
	return n.Go
}

// Key is how manifests name an option: by its flag, with _ for each -.
func (n Name) Key() string {
	return strings.ReplaceAll(strings.TrimPrefix(n.Word, "--"), "-", "_")
}

// With returns the name of a call of a function with an option, or of an option with another one:
// "convert.Images with ImageOptions.Resize", "tfrec convert images --resize".
func (n Name) With(option Name) Name {
	return Name{n.Go + " with " + option.Go, n.Word + " " + option.Word}
}

// Text is a text with names that is rendered where it is used.
type Text struct {
	format string
	names  []any
}

// Textf returns a text of a format in which each %s is a name.
func Textf(format string, names ...Name) Text {
	t := Text{format: format}
	for _, n := range names {
		t.names = append(t.names, n)
	}
	return t
}

// String returns the text in the words of the program.
func (t Text) String() string { return fmt.Sprintf(t.format, t.names...) }

// Errorf returns an error with a text as of Textf.
func Errorf(format string, names ...Name) error { return &textError{Textf(format, names...)} }

type textError struct{ text Text }

func (e *textError) Error() string { return e.text.String() }

// state says whose words the process uses.
var state atomic.Int32

const (
	undecided int32 = iota
	programs
	commands
)

// command reports whether names are those of the command. From then on, that stays so.
func command() bool {
	if s := state.Load(); s != undecided {
		return s == commands
	}
	state.CompareAndSwap(undecided, programs)
	return state.Load() == commands
}

// ForCommand makes names flags and verbs in all texts that the process makes. It panics if a text with
// a name was made before, which would have the words of Go programs.
func ForCommand() {
	if !state.CompareAndSwap(undecided, commands) && state.Load() != commands {
		panic("optname: a text with a name was made before ForCommand")
	}
}

// All returns all names.
func All() []Name { return slices.Clone(all) }

var all []Name

func option(field, flag string) Name { return function(field, "--"+flag) }

func function(name, word string) Name {
	n := Name{name, word}
	all = append(all, n)
	return n
}
