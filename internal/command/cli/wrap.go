package cli

import (
	"strings"
	"unicode/utf8"
)

// Reflow wraps text to width columns. Lines of a paragraph are joined. Indented lines are rows of a table
// or commands, and "- " begins an item of a list: each is wrapped for itself, and continues below its
// text. A line "# Title" is a heading.
func Reflow(text string, width int) string {
	f := &flow{width: width}
	for line := range strings.Lines(text) {
		f.line(strings.TrimRight(line, " \n"))
	}
	f.flush()
	return strings.TrimRight(f.b.String(), "\n") + "\n"
}

// flow is a text that is being wrapped.
type flow struct {
	b     strings.Builder
	width int

	block        []string // the words of the paragraph, or of the row
	head, indent string   // of the first line of the block, and of the others
}

// line adds a line of the text.
func (f *flow) line(line string) {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	title, isTitle := strings.CutPrefix(line, "# ")
	switch {
	case line == "":
		f.flush()
		f.b.WriteByte('\n')
	case isTitle:
		f.flush()
		f.b.WriteString(strings.ToUpper(title) + "\n")
	case indent == "" && strings.HasPrefix(text, "- "):
		f.flush()
		f.head, f.indent, f.block = "- ", "  ", strings.Fields(text[2:])
	case indent != f.indent || indent != "" && f.block == nil: // of a paragraph or row, the next line has its indent
		f.flush()
		f.begin(indent, text)
	default:
		f.block = append(f.block, strings.Fields(text)...)
	}
}

// begin begins a paragraph, or a row, whose text follows the first words and two spaces or more.
func (f *flow) begin(indent, text string) {
	term, rest, isRow := strings.Cut(text, "  ")
	rest = strings.TrimLeft(rest, " ")
	switch column := len(indent) + len(text) - len(rest); {
	case indent == "":
		f.head, f.indent, f.block = "", "", strings.Fields(text)
	case !isRow: // one line of its own, as a command
		f.b.WriteString(wrapLine(indent, text, f.width))
	case column > f.width/2:
		f.b.WriteString(wrapLine(indent, term, f.width))
		f.head, f.indent = indent+"    ", strings.Repeat(" ", column)
		f.block = strings.Fields(rest)
	default:
		f.head, f.indent = (indent + text)[:column], strings.Repeat(" ", column)
		f.block = strings.Fields(rest)
	}
}

// flush writes the block.
func (f *flow) flush() {
	indent := f.indent
	if len(indent) > f.width/2 {
		indent = f.head
	}
	writeWrapped(&f.b, f.head, indent, f.block, f.width)
	f.block, f.head, f.indent = nil, "", ""
}

// wrapLine wraps an indented line without columns.
func wrapLine(indent, text string, width int) string {
	if len(indent)+utf8.RuneCountInString(text) <= width {
		return indent + text + "\n"
	}
	var b strings.Builder
	writeWrapped(&b, indent, indent+"  ", strings.Fields(text), width)
	return b.String()
}

// writeWrapped writes words in lines of up to width columns: the first begins with head, the others
// with indent. It writes nothing for no words.
func writeWrapped(b *strings.Builder, head, indent string, words []string, width int) {
	writeBroken(b, head, indent, "", words, width)
}

// writeBroken is writeWrapped with a mark at the end of each line but the last.
func writeBroken(b *strings.Builder, head, indent, mark string, words []string, width int) {
	if len(words) == 0 {
		return
	}
	b.WriteString(head)
	column, first := utf8.RuneCountInString(head), true
	for i, word := range words {
		n, room := utf8.RuneCountInString(word), width
		if i < len(words)-1 {
			room -= len(mark)
		}
		switch {
		case first:
		case column+1+n > room:
			b.WriteString(mark + "\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column, first = column+n, false
	}
	b.WriteByte('\n')
}

// wrapCommand wraps a line of a shell to width columns, with a backslash at the end of each line but
// the last. Quoted words stay whole.
func wrapCommand(line string, width int) string {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	var b strings.Builder
	writeBroken(&b, indent, indent+"    ", ` \`, shellWords(text), width)
	return b.String()
}

// shellWords splits a command at spaces outside of quotes. An option stays with its value.
func shellWords(line string) (words []string) {
	var quote rune
	begin := 0
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			words = append(words, line[begin:i])
			begin = i + 1
		}
	}
	words = append(words, line[begin:])
	for i := 0; i+1 < len(words); i++ {
		if strings.HasPrefix(words[i], "--") && !strings.HasPrefix(words[i+1], "-") {
			words[i] += " " + words[i+1]
			words = append(words[:i+1], words[i+2:]...)
		}
	}
	return words
}
