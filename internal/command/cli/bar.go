package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tfrec/tfrec/internal/plural"
)

// The bar has a quarter of the terminal's columns, within these limits. The percentage and
// blanks around it take besidesBar columns; below leastColumns nothing is drawn.
const (
	widestBar    = 24
	narrowestBar = 8
	besidesBar   = len(" 100% []   ")
	leastColumns = besidesBar + 2
)

// bar draws a meter on a terminal. The library draws; which of the facts are shown follows from the
// width that the terminal has at that moment.
type bar struct {
	*meter
	to      *os.File
	columns func() int

	drawn *progressbar.ProgressBar // nil until the first call of show; it draws to out
	form  form                     // of drawn
	out   bytes.Buffer
}

// form holds the properties that a bar of the library cannot change.
type form struct {
	columns int
	phase   string
	planned int64 // 0 for a spinner
}

// steps returns the length of the library's bar: a thousand steps for a sample, so that one step
// less than all does not show.
func (f form) steps() int64 {
	if f.planned > math.MaxInt64/1000 {
		return f.planned
	}
	return 1000 * f.planned
}

// at returns the step of the bar at done samples. It is never the last one, after which the library
// draws no more.
func (f form) at(done int64) int64 {
	return min(f.steps()/f.planned*min(done, f.planned), f.steps()-1)
}

// show draws the progress over the line that was drawn before.
func (b *bar) show() {
	r := b.look(time.Now())
	f := form{b.columns(), r.phase, r.planned}
	if f.columns < leastColumns {
		return
	}
	if b.drawn == nil || f != b.form {
		b.clear(f.columns)
		b.drawn, b.form = newBar(&b.out, f), f
	}
	if r.planned > 0 {
		b.drawn.Set64(f.at(r.done))
		b.out.Reset() // it draws again below, with the new description
	}
	b.drawn.Describe(r.describe(f.columns))
	b.out.WriteTo(b.to)
}

// finish draws the progress for the last time, for a short run the only one, and clears the line.
func (b *bar) finish() {
	b.show()
	b.clear(b.columns())
}

// clear clears the line, if there is one.
func (b *bar) clear(columns int) {
	if b.drawn != nil {
		fmt.Fprintf(b.to, "\r%s\r", strings.Repeat(" ", columns))
	}
}

// newBar returns a bar of the library, or a spinner, that draws only on request.
func newBar(to io.Writer, f form) *progressbar.ProgressBar {
	most := f.steps()
	if f.planned == 0 {
		most = -1
	}
	return progressbar.NewOptions64(most,
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetWidth(barWidth(f.columns)),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetSpinnerChangeInterval(0),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "=", SaucerPadding: " ", BarStart: "[", BarEnd: "]"}),
	)
}

// barWidth returns the width of the bar between its brackets.
func barWidth(columns int) int {
	return min(max(columns/4, narrowestBar), widestBar, columns-besidesBar)
}

// describe returns the facts for a terminal: what matters most comes first, and what does not fit is
// left out.
func (r reading) describe(columns int) string {
	if r.planned == 0 {
		const text = "listing the input"
		return text[:max(0, min(columns-len("|  "), len(text)))]
	}
	var parts []string
	if r.phase != "" {
		parts = append(parts, r.phase)
	}
	if r.hasLeft {
		parts = append(parts, fmt.Sprintf("%v left", r.left))
	}
	if r.errors > 0 {
		parts = append(parts, plural.Of(r.errors, "error"))
	}
	text := ""
	for _, part := range append(append(parts, r.amount()), r.rates()...) {
		if text != "" {
			part = ", " + part
		}
		if len(text)+len(part) > columns-besidesBar-barWidth(columns) {
			break
		}
		text += part
	}
	return text
}
