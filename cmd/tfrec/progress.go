package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/tfrec/tfrec/convert"
)

// Times between two looks at the progress: on a terminal often, elsewhere only
// now and then, so that logs stay short.
const (
	terminalEvery = 100 * time.Millisecond
	logEvery      = 10 * time.Second
)

// showProgress shows a run's progress on stderr until the function that it
// returns is called: a bar on a terminal, a plain line now and then elsewhere,
// nothing when quiet.
func showProgress(stderr io.Writer, p *convert.Progress, quiet bool) (stop func()) {
	if quiet {
		return func() {}
	}
	began := time.Now()
	show, finish, every := logLine(stderr, p, began), func() {}, logEvery
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		show, finish = bar(f, p, began)
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
func describe(p *convert.Progress, began time.Time) string {
	s := time.Since(began).Seconds()
	done := p.Done.Load()
	line := fmt.Sprintf("%.0f samples/s, %.1f MB/s", float64(done)/s, float64(p.BytesIn.Load())/1e6/s)
	if n := p.Errors.Load(); n > 0 {
		line += fmt.Sprintf(", %s", count(n, "error"))
	}
	return line
}

func logLine(w io.Writer, p *convert.Progress, began time.Time) func() {
	return func() {
		planned, done := p.Planned.Load(), p.Done.Load()
		if planned == 0 {
			fmt.Fprintln(w, "listing the input")
			return
		}
		eta := ""
		if done > 0 {
			left := time.Duration(float64(time.Since(began)) / float64(done) * float64(planned-done))
			eta = ", " + left.Round(time.Second).String() + " left"
		}
		fmt.Fprintf(w, "%d of %d samples, %s%s\n", done, planned, describe(p, began), eta)
	}
}

func bar(f *os.File, p *convert.Progress, began time.Time) (show, finish func()) {
	b := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(f), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(terminalEvery), progressbar.OptionEnableColorCodes(false))
	known := false
	show = func() {
		if planned := p.Planned.Load(); planned > 0 && !known {
			known = true
			b.ChangeMax64(planned)
		}
		if !known {
			return
		}
		b.Describe(describe(p, began))
		_ = b.Set64(p.Done.Load()) // a bar that cannot be drawn is no reason to stop
	}
	return show, func() { _ = b.Clear() }
}
