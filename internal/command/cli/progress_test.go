package cli

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/convert"
)

// TestProgressFits draws random progress on terminals of all widths.
func TestProgressFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	upTo := func(bits int) int64 { return rng.Int64N(1 << rng.IntN(bits)) }
	for range 20_000 {
		r := reading{
			progress: progress{planned: upTo(50), bytes: upTo(50), errors: upTo(40), phase: []string{"", "shuffle", "write"}[rng.IntN(3)]},
			noun:     []string{"", "sample", "record"}[rng.IntN(3)],
			rate:     rng.ExpFloat64() * 1e6, MiB: rng.ExpFloat64() * 1e4,
			left: time.Duration(upTo(52)), hasLeft: rng.IntN(2) > 0,
		}
		r.done = min(upTo(50), r.planned)
		columns := 1 + rng.IntN(200)
		line := drawn(t, r, columns)
		if len(line) > columns {
			t.Fatalf("%d columns: %q has %d", columns, line, len(line))
		}
		if r.planned > 0 && columns >= 23 && !strings.Contains(line, "%") {
			t.Fatalf("%d columns: %q says no share", columns, line)
		}
	}
}

// drawn returns the line that a bar draws, without blanks at its end.
func drawn(t *testing.T, r reading, columns int) string {
	t.Helper()
	if columns < leastColumns {
		return ""
	}
	var out bytes.Buffer
	f := form{columns, r.phase, r.planned}
	b := newBar(&out, f)
	if r.planned > 0 {
		if err := b.Set64(f.at(r.done)); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
	}
	out.Reset() // what Set64 drew
	b.Describe(r.describe(columns))
	lines := strings.Split(strings.TrimRight(out.String(), " "), "\r")
	return lines[len(lines)-1]
}

// TestProgressSaysMoreWhereThereIsRoom wants each of the parts on a wide terminal.
func TestProgressSaysMoreWhereThereIsRoom(t *testing.T) {
	r := reading{progress{"write", 200, 50, 1 << 20, 3}, "sample", 12, 3.5, 90 * time.Second, true}
	for columns, want := range map[int]string{
		120: "  25% [======                  ]  write, 1m30s left, 3 errors, 50 of 200 samples, 12 samples/s, 3.5 MiB/s",
		60:  "  25% [===            ]  write, 1m30s left, 3 errors",
		30:  "  25% [==      ]  write",
		23:  "  25% [==      ]",
		13:  "  25% [  ]",
	} {
		if got := drawn(t, r, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	if got := drawn(t, reading{}, 40); got != "|  listing the input" {
		t.Errorf("before the input is listed: %q", got)
	}
}

// TestProgressForPrograms wants a JSON object a line.
func TestProgressForPrograms(t *testing.T) {
	for want, r := range map[string]reading{
		`{"progress":{"phase":"write","unit":"sample","done":50,"planned":200,"bytes":1048576,"errors":3,"per_second":12,"seconds_left":90}}`: {progress{"write", 200, 50, 1 << 20, 3}, "sample", 12, 3.5, 90 * time.Second, true},
		`{"progress":{"phase":"list","unit":"byte","done":0,"planned":0,"bytes":0,"errors":0,"per_second":0}}`:                                {},
	} {
		if got := string(r.json()); got != want+"\n" {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (reading{rate: math.Inf(1)}).json(); got != nil {
		t.Errorf("an infinite rate: %q", got)
	}
}

// TestProgressOfPhases reads a conversion that shuffles: time and rates are those of
// the phase alone, as is that of a run after its input was listed.
func TestProgressOfPhases(t *testing.T) {
	p := new(convert.Progress)
	m := &meter{gauge: ConvertGauge(p)}
	at := time.Unix(1e9, 0)
	see := func(after time.Duration, want string) {
		t.Helper()
		at = at.Add(after)
		if got := m.look(at).log(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	see(0, "listing the input")
	see(time.Hour, "listing the input")
	p.ToScan.Store(1000)
	p.Planned.Store(1000)
	see(time.Hour, "shuffle: 0 of 1000 samples")
	p.Scanned.Store(500)
	p.BytesIn.Store(50 << 20)
	see(10*time.Second, "shuffle: 500 of 1000 samples, 50 samples/s, 5.0 MiB/s, 10s left")
	p.Scanned.Store(1000)
	see(10*time.Second, "write: 0 of 1000 samples")
	p.Done.Store(900)
	p.Errors.Store(2)
	p.BytesOut.Store(90 << 20)
	see(9*time.Second, "write: 900 of 1000 samples, 100 samples/s, 10.0 MiB/s, 2 errors, 1s left")
}

// TestProgressIsDrawnOver wants nothing of a longer line, or of the last one, to stay, whatever the
// widths of the terminal and the phases are.
func TestProgressIsDrawnOver(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	now, columns := progress{}, 79
	b := &bar{meter: &meter{gauge: gauge{"sample", func() progress { return now }}}, to: w, columns: func() int { return columns }}
	b.show()
	now = progress{planned: 1 << 40, done: 1 << 39}
	b.show()
	now = progress{planned: 10, done: 2}
	b.show()
	columns = 40
	now.phase = "write"
	b.show()
	columns = 5 // too narrow
	b.show()
	columns = 79
	now.done = 10
	b.show()
	b.finish()
	w.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	screen := make([]byte, 79)
	at := 0
	for _, c := range data {
		if c == '\r' {
			at = 0
			continue
		}
		if at == len(screen) {
			t.Fatalf("%q is wider than the terminal", data)
		}
		screen[at] = c
		at++
	}
	if left := strings.Trim(string(screen), " \x00"); left != "" || !strings.Contains(string(data), " 20%") {
		t.Errorf("%q is left of %q", left, data)
	}
}
