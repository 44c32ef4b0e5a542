package preview

import (
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
)

// maxLooked bounds how much of a text is looked at, in bytes.
const maxLooked = 16 << 10

// maxMarks bounds the combining marks of a letter. More would cover the lines around it.
const maxMarks = 4

// shown makes text of the data fit to be shown in at most limit bytes of HTML: stray bytes become
// \xNN; characters that are invisible or change the look of the text around them become their code
// points; and longer text is cut.
func shown(s string, limit int) string {
	cut := len(s) > maxLooked
	if cut {
		s = strings.ToValidUTF8(s[:maxLooked], "")
	}
	s = jsontext.Readable(s)
	var b strings.Builder
	size, marks := 0, 0
	for _, r := range s {
		piece := string(r)
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		if hides(r) || marks > maxMarks {
			piece = codePoint(r)
		}
		size += len(html.EscapeString(piece))
		if size > limit-len(ellipsis) {
			cut = true
			break
		}
		b.WriteString(piece)
	}
	if cut {
		return b.String() + ellipsis
	}
	return b.String()
}

const ellipsis = "…"

// hides reports whether a character has no look of its own: controls, line
// separators, marks that turn the direction of text, private and unassigned ones.
// Those that join letters, or keep them apart, belong to how some languages are
// written.
func hides(r rune) bool {
	if r == '\u200c' || r == '\u200d' {
		return false
	}
	return r == utf8.RuneError || r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zs, r) && r != ' ' && r != '\u00a0'
}

func codePoint(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	case utf8.RuneError: // it was there already: stray bytes are readable by now
		return "\ufffd"
	}
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// count is a number with its noun: "1 record", "1,204 records".
func count(n int64, noun string) string {
	return grouped(n) + " " + plural.Noun(n, noun)
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// percent formats a share.
func percent(n, total int64) string {
	if total == 0 {
		return "0 %"
	}
	share := 100 * float64(n) / float64(total)
	switch {
	case share > 0 && share < 0.1:
		return "< 0.1 %"
	case share < 9.95:
		return fmt.Sprintf("%.1f %%", share)
	}
	return fmt.Sprintf("%.0f %%", share)
}
