// Package cliname turns texts of the libraries into the words of the command line.
//
// Libraries name options and functions as Go does, in errors, notes and advice: EncodeSpec.Format
// for an option, convert.Finalize for a function, and "convert.Images with ImageOptions.Resize" for
// a call with an option. The command prints
//
//	cliname.Text(err.Error())
//
// where these are --encode, tfrec finalize, and tfrec convert images --resize. A test in
// internal/command holds the tables to the flags and verbs, another one the libraries' texts to the
// tables.
package cliname

import (
	"regexp"
	"strings"
)

// names matches Go names where a word may begin. Those in paths and in quotes are left alone.
var names = regexp.MustCompile(`(^|[\s(])([A-Za-z]\w*(?:\.\w+)+(?: with [A-Za-z]\w*(?:\.\w+)+)*)`)

// Text returns a library's text in the words of the command line.
func Text(text string) string {
	return names.ReplaceAllStringFunc(text, func(found string) string {
		start := strings.IndexFunc(found, func(r rune) bool { return !strings.ContainsRune(" \t\r\n\f(", r) })
		words, after := found[:start], false
		for i, name := range strings.Split(found[start:], " with ") {
			word, known := Of(name)
			switch {
			case i == 0:
			case after && known:
				words += " "
			default:
				words += " with "
			}
			words, after = words+word, known
		}
		return words
	})
}

// Of returns what a Go name is on the command line, and reports whether it is known.
func Of(name string) (word string, known bool) {
	if word, ok := Functions[name]; ok {
		return word, true
	}
	of, field, _ := strings.Cut(name, ".")
	if flag, ok := Fields[of][field]; ok {
		return "--" + flag, true
	}
	return name, false
}

// Members of JSON objects that hold texts, or lists of texts, and the texts in them.
var (
	members = regexp.MustCompile(`"(?:message|advice|reason|notes?|bottleneck|errors?)":(?:"(?:[^"\\]|\\.)*"|\[(?:"(?:[^"\\]|\\.)*",?)*\])`)
	strs    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// JSON returns encoded JSON with Text of its messages, reasons and the like. Other members, which
// may hold the user's data, stay as they are.
func JSON(data []byte) []byte {
	return members.ReplaceAllFunc(data, func(member []byte) []byte {
		return strs.ReplaceAllFunc(member, func(s []byte) []byte {
			return []byte(`"` + Text(string(s[1:len(s)-1])) + `"`)
		})
	})
}
