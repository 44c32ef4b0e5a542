package where

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfrec/tfrec/internal/dev/race"
	"github.com/tfrec/tfrec/tfrecord"
)

// long has lists of n values and a text of n bytes.
func long(t testing.TB, n int) *tfrecord.Example {
	return exampleOf(t, func(b *tfrecord.Builder) {
		ints, floats, names := make([]int64, n), make([]float32, n), make([]string, n)
		for i := range n {
			ints[i], floats[i], names[i] = int64(i), float32(i), fmt.Sprint(i)
		}
		b.Int64("object/label", ints...)
		b.Float("object/score", floats...)
		b.String("object/name", names...)
		b.String("image/class/text", strings.Repeat("x", n))
	})
}

// Work that grows faster than the record is an error that names the condition, and takes neither
// memory nor time beyond a bound.
func TestBudget(t *testing.T) {
	e := long(t, 5000)
	for _, expression := range []string{
		`any(name, any(name, # == "no"))`,
		`all(f["object/label"], {# in list("object/label") && # + 1 > 0})`,
		`any(f["object/score"], {let x = #; count(f["object/score"], # > x) > 10000})`,
		`let l = f["object/label"]; any(l, sum(l) == #)`,
		`let l = map(name, #); any(name, # + "x" in l)`,
		`any(name, text contains # + "y")`,
		`any(name, text + # == "no")`,
		`any(name, len(lower(text)) == 0)`,
		`any(name, # matches "y" || text matches "y+")`,
		`len(filter(name, list("object/score") == map(list("object/score"), # + 1))) > 0`,
		`len(map(name, text + #)) == 0`,
		`let a = text + text; let b = a + a; let c = b + b; let d = c + c; let e = d + d; let g = e + e; let h = g + g; let i = h + h; let j = i + i; len(j + j) == 0`,
		`let a = [text, text]; let b = [a, a]; let c = [b, b]; let d = [c, c]; let e = [d, d]; let g = [e, e]; let h = [g, g]; let i = [h, h]; let j = [i, i]; string(j) == ""`,
	} {
		x, err := Compile(expression, known)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		x.steps = 100_000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := x.Match(context.Background(), &e.Features)
		runtime.ReadMemStats(&after)
		if got || err == nil || !strings.Contains(err.Error(), "the condition "+expression+" takes too much") {
			t.Errorf("%s: %v, %v", expression, got, err)
		}
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 20 && !race.Enabled { // its detector allocates, too
			t.Errorf("%s: %d MiB allocated", expression, allocated)
		}
	}
}

// Conditions whose work is in proportion to the record always get it, and those on pairs of a
// thousand values, too.
func TestBudgetOfLinearWork(t *testing.T) {
	race.Skip(t)
	const n = 300_000
	clause := `count(f["object/label"], # >= 0) == %d`
	x, err := Compile(strings.Repeat(fmt.Sprintf(clause, n)+" && ", 4)+`all(f["object/label"], # not in 1..9 || # < 10)`, known)
	if err != nil {
		t.Fatal(err)
	}
	x.steps = 0
	ints := make([]int64, n)
	e := exampleOf(t, func(b *tfrecord.Builder) { b.Int64("object/label", ints...) })
	if got, err := x.Match(context.Background(), &e.Features); err != nil || !got {
		t.Error(got, err)
	}
	e = long(t, 1000)
	for _, expression := range []string{
		`all(name, any(name, # == "1"))`,
		`none(f["object/label"], {let x = #; count(f["object/label"], # == x) != 1})`,
		`all(f["object/label"], # in list("object/label"))`,
	} {
		x, err := Compile(expression, known)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.Match(context.Background(), &e.Features); err != nil || !got {
			t.Errorf("%s: %v, %v", expression, got, err)
		}
	}
	e = long(t, 500_000)
	x, err = Compile(strings.Repeat(`!(text contains "y") && `, 20)+`len(text + text) == 1000000`, known)
	if err != nil {
		t.Fatal(err)
	}
	x.steps = 0
	if got, err := x.Match(context.Background(), &e.Features); err != nil || !got {
		t.Error(got, err)
	}
}

// An evaluation ends with its context.
func TestMatchEndsWithItsContext(t *testing.T) {
	e := long(t, 20_000)
	x, err := Compile(`any(name, any(name, # == "no"))`, known)
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	began := time.Now()
	if _, err := x.Match(ctx, &e.Features); err != stop {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	x.steps = 100_000
	if _, err := x.Match(t.Context(), &e.Features); !errors.Is(err, errSteps) {
		t.Errorf("the next one: %v", err)
	}
}

// The list of a feature is made once for a record.
func TestListsAreMadeOnce(t *testing.T) {
	e := long(t, 1000)
	x, err := Compile(`all(1..300, len(name) == 1000 && len(f["object/label"]) == 1000 && len(list("object/score")) == 1000 && len(text) == 1000)`, known)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := x.Match(context.Background(), &e.Features)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; !got || err != nil || allocated > 1<<20 {
		t.Errorf("%v, %v, %d bytes allocated", got, err, allocated)
	}
}
