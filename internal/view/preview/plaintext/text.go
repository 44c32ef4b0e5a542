package plaintext

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfrec/tfrec/internal/jsontext"
	"github.com/tfrec/tfrec/internal/plural"
)

// MaxLooked bounds how much of a text is looked at, in bytes.
const MaxLooked = 16 << 10

// maxMarks bounds the combining marks of a letter. More would cover the lines around it.
const maxMarks = 4

// Shown makes text of the data fit to be shown in at most limit bytes of HTML: stray bytes become
// \xNN; characters that are invisible or change the look of the text around them become their code
// points; and longer text is cut.
func Shown(s string, limit int) string {
	cut := len(s) > MaxLooked
	if cut {
		s = strings.ToValidUTF8(s[:MaxLooked], "")
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
		if size > limit-len(Ellipsis) {
			cut = true
			break
		}
		b.WriteString(piece)
	}
	if cut {
		return b.String() + Ellipsis
	}
	return b.String()
}

const Ellipsis = "…"

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

// Count is a number with its noun: "1 record", "1,204 records".
func Count(n int64, noun string) string {
	return Grouped(n) + " " + plural.Noun(n, noun)
}

// Grouped writes a number with commas between thousands.
func Grouped(n int64) string {
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

// Percent formats a share.
func Percent(n, total int64) string {
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

// Limits on texts.
const (
	MaxKeyText   = 120 // bytes of HTML of a key or a name
	MaxLineText  = 400 // bytes of HTML of a line
	MaxValueText = 400 // bytes of one feature's text, more than is ever shown
	MaxCounts    = 8   // names counted in one fact
)

// AndMore joins the texts of the first of n items.
func AndMore(says []string, total int) string {
	text := strings.Join(says, ", ")
	if more := total - len(says); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Decimal is figure of a number that is written already, which stays exact when
// it is whole and not too long.
func Decimal(s string) string {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && len(s) < 16 {
		if n > -1e4 && n < 1e4 {
			return s
		}
		return Grouped(n)
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return Figure(x)
}

// Figure formats a number: whole from 10,000 on, otherwise with up to four significant digits.
func Figure(x float64) string {
	switch size := math.Abs(x); {
	case math.IsNaN(x):
		return ""
	case size >= 1e4 && size < 1e15:
		return Grouped(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
