package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
)

// Times between two looks at the progress: on a terminal often, elsewhere only
// now and then, so that logs stay short.
const (
	terminalEvery = 100 * time.Millisecond
	logEvery      = 10 * time.Second
)

// progress is the progress of a run, or of a phase of it.
type progress struct {
	phase         string // of a run that has several; each counts from 0
	planned, done int64  // planned is 0 until it is known
	bytes, errors int64
}

// gauge reads the progress of a run while it lasts.
type gauge struct {
	noun string // the counted unit; "" for bytes
	read func() progress
}

// ConvertGauge shows a conversion.
func ConvertGauge(p *convert.Progress) gauge {
	return gauge{"sample", func() progress {
		if of, n := p.ToScan.Load(), p.Scanned.Load(); n < of {
			return progress{phase: "shuffle", planned: of, done: n, bytes: p.BytesIn.Load()}
		}
		now := progress{"", p.Planned.Load(), p.Done.Load(), p.BytesIn.Load(), p.Errors.Load()}
		if p.ToScan.Load() > 0 { // all input was read before the first sample was done
			now.phase, now.bytes = "write", p.BytesOut.Load()
		}
		return now
	}}
}

// ReshapeGauge shows a verb that makes a set of records.
func ReshapeGauge(p *reshape.Progress) gauge {
	return gauge{"record", func() progress {
		return progress{planned: p.Planned.Load(), done: p.Done.Load(), bytes: p.Bytes.Load()}
	}}
}

// ReadGauge shows a verb that reads sets.
func ReadGauge(p *shard.ReadProgress) gauge {
	return gauge{"", func() progress {
		done := p.Done.Load()
		return progress{planned: p.Planned.Load(), done: min(done, p.Planned.Load()), bytes: done}
	}}
}

// ShowProgress shows a run's progress on stderr until the function that it
// returns is called: a line that is drawn again and again on a terminal, a new
// line now and then elsewhere, nothing when quiet.
func ShowProgress(stderr io.Writer, g gauge, quiet bool) (stop func()) {
	if quiet {
		return func() {}
	}
	m := &meter{gauge: g}
	m.look(time.Now())
	log := stderr
	show, finish, every := func() { fmt.Fprintln(log, m.look(time.Now()).log()) }, func() {}, logEvery
	if w, ok := stderr.(*printable.Writer); ok {
		stderr = w.Unwrap() // a bar moves the cursor, and has no text from data
	}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		show, finish = redrawn(f, m)
		every = terminalEvery
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				show()
			case <-done:
				finish()
				return
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
	}
}

// meter measures how fast a gauge moves. Each phase is measured from its own
// beginning: the input is listed, or read ahead, at another rate.
type meter struct {
	gauge
	began time.Time
	from  progress
}

// reading is the state that a meter shows at a moment.
type reading struct {
	progress
	noun    string
	rate    float64 // per second, in the counted unit
	MiB     float64 // per second, read or written
	left    time.Duration
	hasLeft bool
}

func (m *meter) look(now time.Time) reading {
	p := m.read()
	if m.began.IsZero() || p.phase != m.from.phase || m.from.planned == 0 && p.planned > 0 {
		m.began, m.from = now, p
	}
	r := reading{progress: p, noun: m.noun}
	seconds := now.Sub(m.began).Seconds()
	if seconds <= 0 {
		return r
	}
	done := p.done - m.from.done
	r.rate, r.MiB = float64(done)/seconds, float64(p.bytes-m.from.bytes)/(1<<20)/seconds
	if done > 0 {
		r.hasLeft = true
		r.left = time.Duration(seconds / float64(done) * float64(max(0, p.planned-p.done)) * float64(time.Second)).Round(time.Second)
	}
	return r
}

// log is the line for a file or a pipe.
func (r reading) log() string {
	if r.planned == 0 {
		return "listing the input"
	}
	line := strings.Join(append([]string{r.amount()}, r.rates()...), ", ")
	if r.phase != "" {
		line = r.phase + ": " + line
	}
	if r.errors > 0 {
		line += ", " + plural.Of(r.errors, "error")
	}
	if r.hasLeft {
		line += fmt.Sprintf(", %v left", r.left)
	}
	return line
}

func (r reading) amount() string {
	if r.noun == "" {
		return fmt.Sprintf("%s of %s", size.Format(r.done), size.Format(r.planned))
	}
	return fmt.Sprintf("%d of %s", r.done, plural.Of(r.planned, r.noun))
}

func (r reading) rates() []string {
	if r.rate == 0 && r.MiB == 0 {
		return nil // nothing is known yet
	}
	bytes := fmt.Sprintf("%.1f MiB/s", r.MiB)
	if r.noun == "" {
		return []string{bytes}
	}
	return []string{fmt.Sprintf("%.0f %ss/s", r.rate, r.noun), bytes}
}

// The bar has barWidth columns between its brackets, or fewer, but not below
// leastBar, where it has to make room.
const (
	barWidth = 24
	leastBar = 8
)

// line is the line for a terminal. It takes at most the given number of columns:
// what matters most comes first, and what does not fit is left out.
func (r reading) line(columns int) string {
	if r.planned == 0 {
		return "listing the input"[:max(0, min(columns, len("listing the input")))]
	}
	line := fmt.Sprintf("%3d%%", min(100, 100*r.done/r.planned))
	if r.phase != "" {
		line = r.phase + " " + strings.TrimLeft(line, " ")
	}
	parts := []string{r.amount()}
	if r.errors > 0 {
		parts = append([]string{plural.Of(r.errors, "error")}, parts...)
	}
	if r.hasLeft {
		parts = append([]string{fmt.Sprintf("%v left", r.left)}, parts...)
	}
	said := ""
	for _, part := range append(parts, r.rates()...) {
		if len(line)+len(said)+len(", ")+len(part) > columns {
			break
		}
		said += ", " + part
	}
	if bar := min(barWidth, columns-len(line)-len(said)-len(" []")); bar >= leastBar {
		full := int(int64(bar) * min(r.done, r.planned) / r.planned)
		line += " [" + strings.Repeat("=", full) + strings.Repeat(" ", bar-full) + "]"
	}
	return (line + said)[:min(len(line+said), max(0, columns))]
}

// redrawn draws a meter's line over the one before, in the columns that the
// terminal has at that moment. The last column stays empty: a character there
// makes some terminals begin the next line.
func redrawn(f *os.File, m *meter) (show, finish func()) {
	drawn := 0
	draw := func(line string, columns int) {
		blank := max(0, min(drawn, columns)-len(line))
		fmt.Fprintf(f, "\r%s%s\r%s", line, strings.Repeat(" ", blank), line)
		drawn = len(line)
	}
	columns := func() int {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n - 1
		}
		return 79
	}
	show = func() {
		n := columns()
		draw(m.look(time.Now()).line(n), n)
	}
	return show, func() {
		show() // of a short run, the only time
		draw("", columns())
	}
}
