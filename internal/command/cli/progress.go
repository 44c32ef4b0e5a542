package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/tfrec/tfrec/convert"
	"github.com/tfrec/tfrec/internal/plural"
	"github.com/tfrec/tfrec/internal/size"
	"github.com/tfrec/tfrec/shard"
	"github.com/tfrec/tfrec/shard/reshape"
)

// Times between two looks at the progress: on a terminal often, for programs each second, elsewhere
// only now and then, so that logs stay short.
const (
	terminalEvery = 100 * time.Millisecond
	jsonEvery     = time.Second
	logEvery      = 30 * time.Second
)

// ProgressFlag is the flag that chooses the form of the progress, and these are its values.
const (
	ProgressFlag = "progress"
	progressAuto = "auto"
	progressJSON = "json"
)

// AddProgressFlag adds the flag to a command and those below it.
func AddProgressFlag(root *cobra.Command) {
	TextVar(root.PersistentFlags(), ProgressFlag, progressAuto, "auto|json",
		"form of the progress on stderr: auto (a bar on a terminal, a line each 30 s elsewhere) or json (an object a second, for programs)",
		func(s string) error {
			if s != progressAuto && s != progressJSON {
				return fmt.Errorf("want %s or %s", progressAuto, progressJSON)
			}
			return nil
		}, progressAuto, progressJSON)
}

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

// ShowProgress shows the progress of a command on stderr until the function that it returns is called:
// a bar on a terminal, a new line now and then elsewhere, objects for programs on request, and nothing
// with --quiet.
func ShowProgress(cmd *cobra.Command, g gauge) (stop func()) {
	if QuietFlag(cmd) {
		return func() {}
	}
	m := &meter{gauge: g}
	m.look(time.Now())
	d := displayOf(cmd, m)
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(d.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				d.show()
			case <-done:
				d.finish()
				return
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
	}
}

// display is a form of the progress.
type display struct {
	every        time.Duration
	show, finish func()
}

// displayOf returns the form for the command's flags and its stderr.
func displayOf(cmd *cobra.Command, m *meter) display {
	stderr := cmd.ErrOrStderr()
	if form := cmd.Flag(ProgressFlag); form != nil && form.Value.String() == progressJSON {
		show := func() { stderr.Write(m.look(time.Now()).json()) }
		return display{jsonEvery, show, show}
	}
	log := display{logEvery, func() { fmt.Fprintln(stderr, m.look(time.Now()).log()) }, func() {}}
	f := terminalOf(stderr) // itself: a bar moves the cursor, and has no text from data
	if f == nil {
		return log
	}
	// The last column stays empty: a character there makes some terminals begin the next line.
	b := &bar{meter: m, to: f, columns: func() int { return columnsOf(f, DefaultWidth) - 1 }}
	return display{terminalEvery, b.show, b.finish}
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

// progressLine is the JSON form of the progress.
type progressLine struct {
	// Phase of a run that has several: "shuffle", "write"; "list" while the input is listed.
	Phase string `json:"phase,omitempty"`
	// Unit of Done and Planned: "sample", "record" or "byte".
	Unit    string  `json:"unit"`
	Done    int64   `json:"done"`
	Planned int64   `json:"planned"` // 0 until it is known
	Bytes   int64   `json:"bytes"`   // read or written in this phase
	Errors  int64   `json:"errors"`
	Rate    float64 `json:"per_second"` // in Unit
	// Left is the estimated time to the end of the phase, in seconds; absent until it is known.
	Left *float64 `json:"seconds_left,omitempty"`
}

// json returns a line with an object whose only key is "progress".
func (r reading) json() []byte {
	line := progressLine{r.phase, r.noun, r.done, r.planned, r.bytes, r.errors, r.rate, nil}
	if line.Unit == "" {
		line.Unit = "byte"
	}
	if r.planned == 0 {
		line.Phase = "list"
	}
	if r.hasLeft {
		seconds := r.left.Seconds()
		line.Left = &seconds
	}
	data, err := json.Marshal(map[string]progressLine{"progress": line})
	if err != nil {
		return nil // a number that JSON does not have
	}
	return append(data, '\n')
}
