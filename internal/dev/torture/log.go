package torture

import (
	"bytes"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
)

// call is a system call of a log, in the order in which calls returned.
type call struct {
	thread string
	name   string
	args   []string // as strace prints them
	ok     bool     // it did not fail
	fd     string   // path of the file that it opened, if any
}

// parse yields the calls of the log of strace -f -y that returned.
func parse(log []byte) iter.Seq[call] {
	return func(yield func(call) bool) {
		begun := map[string]string{} // by thread
		for line := range bytes.Lines(log) {
			thread, text, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
			if !ok {
				continue
			}
			text = strings.TrimSpace(text)
			if start, unfinished := strings.CutSuffix(text, " <unfinished ...>"); unfinished {
				begun[thread] = start
				continue
			}
			if strings.HasPrefix(text, "<... ") {
				_, rest, _ := strings.Cut(text, " resumed>")
				text = begun[thread] + rest
				delete(begun, thread)
			}
			if c, ok := parseCall(text); ok {
				c.thread = thread
				if !yield(c) {
					return
				}
			}
		}
	}
}

func parseCall(text string) (c call, ok bool) {
	name, rest, ok := strings.Cut(text, "(")
	if !ok || name == "" || strings.ContainsAny(name, " +-<") {
		return c, false
	}
	c.name = name
	end := 0
	c.args, end = arguments(rest)
	_, result, ok := strings.Cut(rest[end:], "= ")
	if !ok {
		return c, false
	}
	c.ok = result != "" && result[0] >= '0' && result[0] <= '9'
	if _, path, found := strings.Cut(result, "<"); c.ok && found {
		c.fd = unquote(strings.TrimSuffix(path, ">"))
	}
	return c, true
}

// arguments cuts what follows the opening parenthesis at commas, up to the closing
// one, whose place it returns.
func arguments(s string) (args []string, end int) {
	depth, quoted, from := 0, false, 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{", b) >= 0:
			depth++
		case b == '<' && (i == 0 || s[i-1] != '<'): // of a path, not of a shift
			depth++
		case b == '>' && depth > 0:
			depth--
		case b == ')' && depth == 0:
			if arg := strings.TrimSpace(s[from:i]); arg != "" {
				args = append(args, arg)
			}
			return args, i + 1
		case strings.IndexByte(")]}", b) >= 0:
			depth--
		case b == ',' && depth == 0:
			args = append(args, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return args, len(s)
}

// path returns what argument i names: a file descriptor's path, or a name relative
// to the directory in argument i-1 where that is one.
func (c *call) path(i int) string {
	if i >= len(c.args) {
		return ""
	}
	arg := c.args[i]
	if !strings.HasPrefix(arg, `"`) {
		return descriptor(arg)
	}
	name := unquote(strings.Trim(strings.TrimSuffix(arg, "..."), `"`))
	if !filepath.IsAbs(name) && i > 0 {
		name = filepath.Join(descriptor(c.args[i-1]), name)
	}
	return filepath.Clean(name)
}

// descriptor returns the path in 7</path> or AT_FDCWD</path>.
func descriptor(arg string) string {
	_, path, _ := strings.Cut(arg, "<")
	return unquote(strings.TrimSuffix(strings.TrimSuffix(path, ">"), ">(deleted)"))
}

// unquote undoes strace's escapes, which are C's.
func unquote(s string) string {
	if u, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`); err == nil {
		return u
	}
	return s
}
