package csvscan

import (
	"bytes"
	"strconv"
	"strings"
)

// isPickle reports whether a text is a pickle of protocol 0: instructions for a stack, most of
// which end with an argument and a newline. All must be valid up to the one that ends a pickle,
// after which only another pickle follows. If whole is not set, the text continues after its end:
// all complete instructions must then be valid, and one must keep an object for later use, as lists
// and dictionaries do.
func isPickle(text []byte, whole bool) bool {
	var stack pickleStack
	kept, ended := false, false
	for len(text) > 0 {
		op := text[0]
		text = text[1:]
		lines, known := pickleLines[op]
		if !known || !stack.run(op) {
			return false
		}
		for range lines {
			line, rest, found := bytes.Cut(text, []byte("\n"))
			if !found {
				return kept && !whole
			}
			if !isArgument(op, strings.TrimSuffix(string(line), "\r")) {
				return false
			}
			text = rest
		}
		kept = kept || op == 'p'
		if ended = op == '.'; ended {
			text = bytes.TrimLeft(text, "\r\n")
		}
	}
	return ended || kept && !whole
}

// pickleLines are the instructions, and how many lines of arguments they have.
var pickleLines = map[byte]int{
	'(': 0, 'l': 0, 'd': 0, 't': 0, 'a': 0, 's': 0, 'b': 0, 'R': 0, 'o': 0, 'N': 0, '0': 0, '1': 0, '2': 0, '.': 0,
	'I': 1, 'L': 1, 'F': 1, 'S': 1, 'V': 1, 'p': 1, 'g': 1, 'P': 1, 'c': 2, 'i': 2,
}

// pickleStack is the number of objects on the stack of a pickle, and at each mark.
type pickleStack struct {
	objects int
	marks   []int
}

// run runs an instruction, and reports whether the stack has the objects and the mark that it needs.
func (s *pickleStack) run(op byte) bool {
	switch op {
	case '(':
		s.marks = append(s.marks, s.objects)
	case 'l', 'd', 't', 'i', 'o', '1': // of the objects since the mark
		if len(s.marks) == 0 {
			return false
		}
		last := len(s.marks) - 1
		s.objects, s.marks = s.marks[last], s.marks[:last]
		if op != '1' {
			s.objects++
		}
	case 'a', 'b', 'R':
		s.objects--
		return s.objects > 0
	case 's':
		s.objects -= 2
		return s.objects > 0
	case 'p':
		return s.objects > 0
	case '0':
		s.objects--
		return s.objects >= 0
	case '.':
		one := s.objects == 1
		s.objects = 0
		return one
	default:
		s.objects++
	}
	return true
}

// isArgument reports whether a line can be an argument of an instruction.
func isArgument(op byte, line string) bool {
	switch op {
	case 'I', 'L':
		line = strings.TrimPrefix(strings.TrimSuffix(line, "L"), "-")
		fallthrough
	case 'p', 'g':
		return line != "" && strings.Trim(line, "0123456789") == ""
	case 'F':
		_, err := strconv.ParseFloat(line, 64)
		return err == nil
	case 'S':
		return len(line) >= 2 && strings.IndexByte(`"'`, line[0]) >= 0 && line[len(line)-1] == line[0]
	case 'c', 'i':
		return line != "" && !strings.ContainsAny(line, " \t,;|\"'")
	}
	return true
}
