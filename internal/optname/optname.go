// Package optname names options and functions in the words of the program.
//
// Texts of the libraries name an option that the reader may set, or a function that helps. A Go
// program knows the option as a field, and the user of the command as a flag, so a text contains a
// [Name], which renders as either:
//
//	fmt.Errorf("%s holds a set made with other options: give %s", dir, optname.OptionsOverwrite)
//
// ends in Options.Overwrite in a program and in --overwrite in the command. Rendered texts are never
// rewritten, so what they quote of the user's stays as it is.
//
// The command calls [ForCommand] before it renders a text. Texts of package-level variables, which are
// initialised before, are a [Text] or an error of [Errorf].
package optname

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// Name is an option or a function in the words of Go programs: a struct and its field, a package and
// its function, or these and an argument, such as "Options.Overwrite", "convert.Images" and
// "reshape.DropFeatures.keys".
type Name string

// String returns the name in the words of the program.
func (n Name) String() string {
	if command() {
		return n.Word()
	}
	return string(n)
}

// Word returns the name that the user of the command writes, such as "--overwrite" and "tfrec
// convert images". The words of the options of conversions are known after [ForCommand]. Other
// names are their own words.
func (n Name) Word() string {
	parts := strings.Split(string(n), with)
	for i, p := range parts {
		if word, ok := words[Name(p)]; ok {
			parts[i] = word
		}
	}
	return strings.Join(parts, " ")
}

// With returns the name of a call of a function with an option, or of an option with another one:
// "convert.Images with ImageOptions.Resize", "tfrec convert images --resize".
func (n Name) With(option Name) Name { return n + with + option }

// with joins names.
const with = " with "

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

// state is the form of names in this process.
var state atomic.Int32

const (
	undecided int32 = iota
	programs
	commands
)

// command reports whether names are in the form of the command. From then on, the form does not
// change.
func command() bool {
	if s := state.Load(); s != undecided {
		return s == commands
	}
	state.CompareAndSwap(undecided, programs)
	return state.Load() == commands
}

// ForCommand makes names flags and verbs in all texts that the process renders. The flags of fields
// are in addition to those that this package has. It panics if a text with a name was rendered before,
// in the words of Go programs.
func ForCommand(flags map[Name]string) {
	if state.Load() == commands {
		return
	}
	for name, flag := range flags {
		words[name] = "--" + flag
	}
	if !state.CompareAndSwap(undecided, commands) {
		panic("optname: a text with a name was made before ForCommand")
	}
}

// All returns all names of this package, sorted.
func All() []Name { return slices.Sorted(maps.Keys(all)) }

var (
	all   = map[Name]bool{}
	words = map[Name]string{}
)

// option returns the name of a field that a flag sets.
func option(field, flag string) Name { return function(field, "--"+flag) }

// function returns the name of a function that a verb or flag calls.
func function(name, word string) Name {
	words[Name(name)] = word
	return conversion(name)
}

// conversion returns the name of an option of conversions, whose flag is in the table of its struct.
func conversion(field string) Name { return program(field) }

// program returns the name of a field that only programs set.
func program(field string) Name {
	all[Name(field)] = true
	return Name(field)
}
