package command

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/printable"
	"github.com/tfrec/tfrec/shard"
)

// Times between two looks at the progress: on a terminal often, elsewhere only
// now and then, so that logs stay short.
const (
	terminalEvery = 100 * time.Millisecond
	logEvery      = 10 * time.Second
)

// progress is how far a run is.
type progress struct {
	planned, done int64 // planned is 0 until it is known
	bytes, errors int64
}

// gauge tells the progress of a run while it goes on.
type gauge struct {
	noun string // of what is counted
	read func() progress
}

func convertGauge(p *convert.Progress) gauge {
	return gauge{"sample", func() progress {
		return progress{p.Planned.Load(), p.Done.Load(), p.BytesIn.Load(), p.Errors.Load()}
	}}
}

func reshapeGauge(p *shard.ReshapeProgress) gauge {
	return gauge{"record", func() progress {
		return progress{planned: p.Planned.Load(), done: p.Done.Load(), bytes: p.Bytes.Load()}
	}}
}

func readGauge(p *shard.ReadProgress) gauge {
	return gauge{"kilobyte", func() progress {
		done := p.Done.Load()
		return progress{planned: p.Planned.Load() / 1000, done: min(done, p.Planned.Load()) / 1000, bytes: done}
	}}
}

// showProgress shows a run's progress on stderr until the function that it
// returns is called: a bar on a terminal, a plain line now and then elsewhere,
// nothing when quiet.
func showProgress(stderr io.Writer, g gauge, quiet bool) (stop func()) {
	if quiet {
		return func() {}
	}
	began := time.Now()
	show, finish, every := logLine(stderr, g, began), func() {}, logEvery
	if w, ok := stderr.(*printable.Writer); ok {
		stderr = w.Unwrap() // a bar moves the cursor, and says nothing of the data
	}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		show, finish = bar(f, g, began)
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

// describe is what both forms say.
func (g gauge) describe(p progress, began time.Time) string {
	s := time.Since(began).Seconds()
	line := fmt.Sprintf("%.0f %ss/s, %.1f MB/s", float64(p.done)/s, g.noun, float64(p.bytes)/1e6/s)
	if p.errors > 0 {
		line += fmt.Sprintf(", %s", count(p.errors, "error"))
	}
	return line
}

func logLine(w io.Writer, g gauge, began time.Time) func() {
	return func() {
		p := g.read()
		if p.planned == 0 {
			fmt.Fprintln(w, "listing the input")
			return
		}
		eta := ""
		if p.done > 0 {
			left := time.Duration(float64(time.Since(began)) / float64(p.done) * float64(p.planned-p.done))
			eta = ", " + left.Round(time.Second).String() + " left"
		}
		fmt.Fprintf(w, "%d of %s, %s%s\n", p.done, count(p.planned, g.noun), g.describe(p, began), eta)
	}
}

func bar(f *os.File, g gauge, began time.Time) (show, finish func()) {
	b := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(f), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(terminalEvery), progressbar.OptionEnableColorCodes(false))
	var planned int64
	show = func() {
		p := g.read()
		if p.planned > planned { // it grows with each pass over the input
			planned = p.planned
			b.ChangeMax64(planned)
		}
		if planned == 0 {
			return
		}
		b.Describe(g.describe(p, began))
		_ = b.Set64(p.done) // a bar that cannot be drawn is no reason to stop
	}
	return show, func() { _ = b.Clear() }
}
