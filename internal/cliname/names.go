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
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// names matches Go names where a word may begin.
var names = regexp.MustCompile(`(^|[\s(])([A-Za-z]\w*(?:\.\w+)+(?: with [A-Za-z]\w*(?:\.\w+)+)*)`)

// kept are texts of the user that look like Go names, the longest first.
var kept atomic.Pointer[[]string]

// Keep makes Text leave the arguments of the command alone, and the directories in them: a path in a
// message stays the path, whatever it is called.
func Keep(args []string) {
	var all []string
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		for _, path := range []string{arg, filepath.Clean(arg)} {
			for path != "" {
				if reword(path) != path && !slices.Contains(all, path) {
					all = append(all, path)
				}
				path = strings.TrimRight(path[:strings.LastIndexAny(path, `/\`)+1], `/\`)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	kept.Store(&all)
}

// Text returns a library's text in the words of the command line. What is in double quotes or in a
// path stays as it is, and so do the arguments given to Keep.
func Text(text string) string {
	all := kept.Load()
	if all == nil {
		return reword(text)
	}
	for _, own := range *all {
		if before, after, found := strings.Cut(text, own); found {
			return Text(before) + own + Text(after)
		}
	}
	return reword(text)
}

func reword(text string) string {
	var b strings.Builder
	done, quoted := 0, false
	for _, at := range names.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[4], at[5]
		if quotes(text[done:from]) {
			quoted = !quoted
		}
		b.WriteString(text[done:from])
		done = to
		if inPath := to < len(text) && strings.IndexByte(`/\`, text[to]) >= 0; quoted || inPath {
			b.WriteString(text[from:to])
			continue
		}
		after := false
		for i, name := range strings.Split(text[from:to], " with ") {
			word, known := Of(name)
			switch {
			case i == 0:
			case after && known:
				b.WriteByte(' ')
			default:
				b.WriteString(" with ")
			}
			b.WriteString(word)
			after = known
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// quotes reports whether a part of a text begins or ends a quotation, more often than the other.
func quotes(text string) bool {
	odd := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			odd = !odd
		}
	}
	return odd
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
			var text string
			if json.Unmarshal(s, &text) != nil {
				return s
			}
			reworded := Text(text)
			if reworded == text {
				return s
			}
			return encode(reworded)
		})
	})
}

// encode returns a text as a JSON string, without escapes for HTML.
func encode(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // strings always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
