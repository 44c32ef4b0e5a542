package cli

import (
	"io"
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
		line := r.line(columns)
		if len(line) > columns {
			t.Fatalf("%d columns: %q has %d", columns, line, len(line))
		}
		if r.planned > 0 && columns >= 23 && !strings.Contains(line, "%") {
			t.Fatalf("%d columns: %q says no share", columns, line)
		}
	}
}

// TestProgressSaysMoreWhereThereIsRoom wants each of the parts on a wide terminal.
func TestProgressSaysMoreWhereThereIsRoom(t *testing.T) {
	r := reading{progress{"write", 200, 50, 1 << 20, 3}, "sample", 12, 3.5, 90 * time.Second, true}
	for columns, want := range map[int]string{
		120: "write 25% [======                  ], 1m30s left, 3 errors, 50 of 200 samples, 12 samples/s, 3.5 MiB/s",
		60:  "write 25% [====            ], 1m30s left, 3 errors, 50 of 200 samples",
		23:  "write 25%, 1m30s left",
		10:  "write 25%",
	} {
		if got := r.line(columns); columns >= 120 && got != want || !strings.HasPrefix(got, want[:9]) || len(got) > columns {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
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

// TestProgressIsDrawnOver wants nothing of a longer line, or of the last one, to stay.
func TestProgressIsDrawnOver(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	now := progress{planned: 1 << 40, done: 1 << 39}
	show, finish := redrawn(w, &meter{gauge: gauge{"sample", func() progress { return now }}})
	show()
	now = progress{planned: 10, done: 1}
	show()
	finish()
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
	if left := strings.Trim(string(screen), " \x00"); left != "" || !strings.Contains(string(data), "10%") {
		t.Errorf("%q is left of %q", left, data)
	}
}
