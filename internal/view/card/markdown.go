package card

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/printable"
)

// Limits of what a card shows.
const (
	maxRows = 1000 // of a table
	maxText = 200  // characters of a name
)

// plain returns text from the data as Markdown that shows it literally, on one line.
func plain(s string) string {
	var b strings.Builder
	for _, r := range cut(printable.String(s)) {
		switch {
		case r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case strings.ContainsRune(`\|<>&`, r): // also in tables, whose parser unescapes once more
			fmt.Fprintf(&b, "&#%d;", r)
		case strings.ContainsRune("`*_[]#~$@:!(){}+=", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "www.", `www\.`) // would be a link
}

// cut returns text of at most maxText characters.
func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText-1]) + "…"
}

// fenced returns text as a block of code that nothing in it can end.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

// mdTable is a table whose first column is aligned to the left and the others as stated.
type mdTable struct {
	b    strings.Builder
	rows int
}

// newTable begins a table. A name of a column that ends in ":" is aligned to the right.
func newTable(columns ...string) *mdTable {
	t := new(mdTable)
	rules := make([]string, len(columns))
	for i, name := range columns {
		rules[i] = "---"
		if short, right := strings.CutSuffix(name, ":"); right {
			columns[i], rules[i] = short, "---:"
		}
	}
	t.line(columns)
	t.line(rules)
	return t
}

func (t *mdTable) line(cells []string) {
	fmt.Fprintf(&t.b, "| %s |\n", strings.Join(cells, " | "))
}

// add adds a row, which is only counted if the table is full. Cells are Markdown.
func (t *mdTable) add(cells ...string) {
	if t.rows++; t.rows <= maxRows {
		t.line(cells)
	}
}

// String returns the table, and a line with the number of rows that it has no room for.
func (t *mdTable) String() string {
	if t.rows > maxRows {
		return fmt.Sprintf("%s\nand %d more\n", t.b.String(), t.rows-maxRows)
	}
	return t.b.String()
}
